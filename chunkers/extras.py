"""CQM's name on the package index, and the commands for adding an extra to this installation."""

import importlib.machinery
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

DISTRIBUTION = "cqm-mcp"
"""The name `cqm` on the package index belongs to somebody else: no command may use it."""

COMMAND = "cqm"

ADDS = {
    "languages": "grammars of Ada, F#, GDScript, GLSL, Less, MATLAB, Pascal and SystemVerilog",
    "late": "models run in CQM itself: late chunking, cross-encoders",
    "more-languages": "grammars of rare languages, 192 MB",
    "ollama": "models of an Ollama server",
    "openai": "models of OpenAI, and of services that speak its protocol",
    "otel": "traces for OpenTelemetry",
    "pdf": "the text of PDFs",
    "ray": "`cqm bulk` on a cluster of Ray",
    "redis": "a Redis as cache",
    "server": "chunks on a Qdrant server",
    "tokens": "exact numbers of tokens of OpenAI's models",
}
"""The additions of each extra, in words."""


class _Commands(NamedTuple):
    """The commands of one installer.

    `{package}` is the distribution with all extras in use, and its origin if it came from outside a package index.

    Attributes:
        add: adds an extra and keeps everything added before.
        repair: installs the same again.
    """

    add: str
    repair: str


class _Installer(Enum):
    UV_TOOL = _Commands("uv tool install {package}{others}", "uv tool upgrade --reinstall {environment}")
    UVX = _Commands("uvx --from {package} {command}", "uvx --reinstall --from {package} {command}")
    PIPX = _Commands("pipx inject {environment} {requirements}", "pipx reinstall {environment}")
    PIPX_RUN = _Commands("pipx run --spec {package} {command}", "pipx run --no-cache --spec {package} {command}")
    UV_PIP = _Commands(
        "uv pip install --python {python} {name}", "uv pip install --python {python} --reinstall {package}"
    )
    PIP = _Commands("{python} -m pip install {name}", "{python} -m pip install --force-reinstall {package}")


def how_to_add(extra: str) -> str:
    """Return the shell command for adding an extra to this installation.

    Show it at once and do not store it: it differs between machines and installations.
    """
    return _filled(_installer(Path(sys.prefix)).value.add, extra)


def how_to_repair() -> str:
    """Return the shell command for reinstalling this version of CQM and its dependencies."""
    return _filled(_installer(Path(sys.prefix)).value.repair, "")


def how_to_run() -> list[str]:
    """Return the command starting this installation from anywhere, by absolute paths; arguments of `cqm` follow it.

    An environment made for one run is made again by the command; of any other the installed program is named.
    """
    installer = _installer(Path(sys.prefix))
    if installer in {_Installer.UVX, _Installer.PIPX_RUN}:
        parts = shlex.split(_filled(installer.value.add, ""), posix=os.name != "nt")
        program, *arguments = [part.strip('"') for part in parts]
        return [shutil.which(program) or program, *arguments]
    return [str(Path(sysconfig.get_path("scripts")) / (f"{COMMAND}.exe" if os.name == "nt" else COMMAND))]


def extras_in_use() -> Iterator[str]:
    """List the installed extras: a command without one of them would remove it."""
    from importlib.metadata import distributions

    installed = {_normal(found.name) for found in distributions()}
    needed: dict[str, list[str]] = {}
    for extra, requirement in _requirements():
        needed.setdefault(extra, []).append(_normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]))
    return (extra for extra, names in needed.items() if extra != "dev" and installed.issuperset(names))


def _installer(prefix: Path) -> _Installer:
    """Detect the installer of an environment by the files it leaves there."""
    if (prefix / "uv-receipt.toml").is_file():
        return _Installer.UV_TOOL
    if (prefix / "pipx_metadata.json").is_file():
        return _Installer.PIPX_RUN if prefix.parent.name == ".cache" else _Installer.PIPX
    if _made_by_uv(prefix) and prefix.parent.name.startswith(("archive-v", "environments-v")):
        return _Installer.UVX
    if importlib.machinery.PathFinder.find_spec("pip") is None and _made_by_uv(prefix):
        return _Installer.UV_PIP
    return _Installer.PIP


def _made_by_uv(prefix: Path) -> bool:
    try:
        return re.search(r"^uv = ", (prefix / "pyvenv.cfg").read_text(encoding="utf-8"), re.MULTILINE) is not None
    except OSError:
        return False


def _filled(command: str, extra: str) -> str:
    extras = ",".join(sorted({*extras_in_use(), extra} - {""}))
    name = f"{DISTRIBUTION}[{extra}]"
    return command.format(
        package=_package(f"[{extras}]" if extras else ""),
        name=_quoted([name]),
        others="".join(f" --with {_quoted([other])}" for other in _other_requirements()),
        environment=_quoted([Path(sys.prefix).name]),
        requirements=_quoted([requirement for of, requirement in _requirements() if of == extra]),
        python=_quoted([sys.executable or "python"]),
        command=COMMAND,
    )


def _package(extras: str) -> str:
    """Return the distribution as an argument for an installer, with its origin (PEP 610)."""
    source = json.loads(_metadata("direct_url.json") or "{}")
    url = str(source.get("url", ""))
    if source.get("dir_info", {}).get("editable"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        return f"--editable {_quoted([url2pathname(urlsplit(url).path) + extras])}"
    if revision := source.get("vcs_info"):
        url = f"{revision['vcs']}+{url}@{revision.get('requested_revision') or revision['commit_id']}"
    if folder := source.get("subdirectory"):
        url += f"#subdirectory={folder}"
    return _quoted([f"{DISTRIBUTION}{extras} @ {url}" if url else f"{DISTRIBUTION}{extras}"])


def _requirements() -> list[tuple[str, str]]:
    """List pairs of an extra of the installed distribution and one of its requirements."""
    lines = re.findall(r"^Requires-Dist: *(.*?) *; *extra == ['\"]([\w-]+)['\"]$", _metadata("METADATA"), re.MULTILINE)
    return [(extra, requirement) for requirement, extra in lines]


def _other_requirements() -> Iterator[str]:
    """List packages added by `uv tool install --with`: the next `uv tool install` drops any it does not name."""
    import tomllib

    try:
        receipt = tomllib.loads((Path(sys.prefix) / "uv-receipt.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return
    rows: list[dict[str, Any]] = receipt.get("tool", {}).get("requirements", [])
    for row in rows:
        extras = f"[{','.join(row['extras'])}]" if row.get("extras") else ""
        if _normal(row["name"]) != DISTRIBUTION:
            yield f"{row['name']}{extras}{row.get('specifier', '')}"


def _metadata(file: str) -> str:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(DISTRIBUTION).read_text(file) or ""
    except PackageNotFoundError:
        # The sources are in use without an installation.
        return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _quoted(arguments: Sequence[str]) -> str:
    return subprocess.list2cmdline(arguments) if os.name == "nt" else shlex.join(arguments)
