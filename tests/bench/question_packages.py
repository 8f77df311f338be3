"""The packages that question_set.py asks about: pinned in question_packages.tsv, fetched by their registries' clients.

All are under open licences, and none is a repository of the development benchmark. Debian's are of its release 12, of
"debian-source" also of 13 (it wants "deb-src" among apt's sources); a package that was replaced there since is told of,
and its row is to be renewed.

The rule for those that were added to Java, JavaScript and TypeScript later: widely used libraries under permissive
licences whose archive holds documented source as it was written (nothing bundled or compiled), and whose projects are
not among training/packages.tsv, training/exclude.txt or the development repositories. They were listed before any of
them was counted or asked, and all that the registries had were taken, whichever split they fell in; Java has a second
list, since Debian's mirrors lacked half of the first, and TypeScript the first of a reserve, being below 500 held-out
questions. Of an archive with several folders of source one is taken, without code of other projects.
"""

import csv
import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple


class Taken(NamedTuple):
    """A release, and what of it is taken.

    Attributes:
        language: whose files count.
        registry: a row of `_COMMANDS`.
        folder: whose files count, inside the archive.
        sha256: of the archive.
    """

    language: str
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


def read(table: Path) -> tuple[Taken, ...]:
    """The rows of a table of packages."""
    with table.open(encoding="utf-8", newline="") as file:
        return tuple(Taken(**row) for row in csv.DictReader(file, delimiter="\t"))


SOURCES = read(Path(__file__).with_suffix(".tsv"))

_PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
_COMMANDS = {
    "pypi": ([*_PIP, "--only-binary", ":all:"], "=="),
    "pypi-source": ([*_PIP, "--no-binary", ":all:"], "=="),
    "npm": (["npm", "pack", "--silent", "--ignore-scripts"], "@"),
    "debian": (["apt-get", "--quiet", "download"], "="),
    "debian-source": (["apt-get", "--quiet", "source", "--download-only", "--only-source", "--tar-only"], "="),
}
"""By registry, the command that fetches an archive, and what stands between name and version."""


def unpacked(taken: Taken, place: Path) -> Path:
    """The folder of a package that is asked about; fetched and unpacked below a place unless it is there already.

    Raises:
        SystemExit: see `fetched`.
    """
    folder = place / taken.key
    if not folder.exists():
        archive = fetched(taken, place)
        _unpack(archive, archive.parent / "unpacked")
        (archive.parent / "unpacked").rename(folder)
    return folder / taken.folder


def fetched(taken: Taken, place: Path) -> Path:
    """The archive of a package; fetched into a folder of its own below a place unless it is there already.

    Raises:
        SystemExit: the registry gave none, or another archive than the pinned one.
    """
    download = place / f"{taken.key}.download"
    download.mkdir(parents=True, exist_ok=True)
    if not any(path.is_file() for path in download.iterdir()):
        _fetch(taken, download)
    (archive,) = (path for path in download.iterdir() if path.is_file())
    if hashlib.sha256(archive.read_bytes()).hexdigest() != taken.sha256:
        sys.exit(f"{archive} is not the pinned archive")
    return archive


def _fetch(taken: Taken, download: Path) -> None:
    command, sign = _COMMANDS[taken.registry]
    run = subprocess.run(
        [*command, f"{taken.name}{sign}{taken.version}"], cwd=download, capture_output=True, check=False
    )
    if run.returncode:
        sys.exit(f"{taken.name} {taken.version} was not fetched:\n{run.stderr.decode()}")


def _unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
    elif archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", archive, folder], check=True)
    else:
        with tarfile.open(archive) as package:
            package.extractall(folder, filter="data")
