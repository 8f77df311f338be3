"""`cqm doctor --bundle`: a file to send to those who help, without secrets, texts and names of files."""

import importlib.metadata
import json
import os
import platform
import re
import sqlite3
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import DISTRIBUTION
from cqm.index.disk.durable import is_replaceable
from cqm.index.disk.locations import LOG_FILE, index_folder, owner_folder
from cqm.index.disk.private import read_private
from cqm.index.model.secrets import SecretOptions
from cqm.index.remote.addresses import MAY_HOLD_A_SECRET
from cqm.index.secrets.redaction import redact
from cqm.index.status.status import read_status
from cqm.server.config.settings import Settings
from cqm.server.console import plain
from cqm.server.doctor.machine_checks import Checked

_LOG_LINES = 400
_MOST_LOG = 1 << 20
"""Bytes: twice the largest log."""
_SET = "(set)"
"""In place of a value."""
_COUNTED = (
    *("exists", "complete", "state", "files", "chunks", "languages", "skipped", "lacking", "size_bytes", "updated_at"),
    *("commits_behind", "redacted_secrets", "redacted_files", "last_update"),
)
"""Fields of a status with numbers and our own words only."""
_LOGGED = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ \d+ [A-Z]+ [\w.]+): ")
_FRAME = re.compile(r'(\s*)File "[^"]*(?:site-packages|src)/(cqm/[\w/]+\.py)", (line \d+,? in [\w<>]+)')
_RAISED = re.compile(r"(\s*)((?:\w+\.)*\w*(?:Error|Exception|Interrupt))\b")
_LOGIN = re.compile(r"(?<=://)[^\s/\"]*@")
_FATAL = re.compile(r"(Fatal Python error: [A-Za-z ]+)")


def write_bundle(file: Path, root: Path, settings: Settings | None, checks: Sequence[Checked], *, names: bool) -> None:
    """Write the file; it has mode 0600.

    Parameters:
        file: replaced when it is complete.
        settings: of it; None where they cannot be read.
        names: whether to tell names of files and folders, and messages, which may have some. Secrets are redacted in
            any case.

    Raises:
        OSError: it cannot be written.
        CqmError: it is a device, pipe, link or folder.
    """
    if not is_replaceable(file):
        raise CqmError(f"{file} is no regular file, and stays unchanged.", remedy="Give a new name.")
    parts = {
        "about.json": _json(_about()),
        "checks.json": _json([_check(it, names=names) for it in checks]),
        **(_of_index(root, settings, names=names) if settings else {}),
    }
    with NamedTemporaryFile(dir=file.absolute().parent, prefix=".cqm-", delete=False) as made:
        try:
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, text in parts.items():
                    archive.writestr(name, _LOGIN.sub("*@", redact(text, name, SecretOptions()).text))
            made.close()
            Path(made.name).replace(file)
        except BaseException:
            Path(made.name).unlink(missing_ok=True)
            raise


def _about() -> dict[str, object]:
    """Versions of everything below CQM."""
    wanted = importlib.metadata.requires(DISTRIBUTION) or []
    packages: dict[str, str] = {}
    for name in sorted({re.split(r"[^\w.-]", requirement)[0] for requirement in wanted}):
        with suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    return {
        "made_at": time.time(),
        "cqm": importlib.metadata.version(DISTRIBUTION),
        "python": sys.version,
        "system": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "sqlite": sqlite3.sqlite_version,
        "packages": packages,
    }


def _check(checked: Checked, *, names: bool) -> dict[str, object]:
    told = {"detail": checked.detail, "remedy": checked.remedy} if names else {}
    return {"name": checked.name, "verdict": checked.verdict, "seconds": checked.seconds, **told}


def _of_index(root: Path, settings: Settings, *, names: bool) -> dict[str, str]:
    """Return the changed options, the counts of the index, and the end of its owner's log."""
    parts = {"options.json": _json(dict(_options(settings, names=names)))}
    try:
        options = settings.index_options(root)
        status, folder = read_status(root, options), index_folder(root, options)
    except CqmError as error:
        return parts | {"status.json": _json({"error": str(error) if names else type(error).__name__})}
    counted: dict[str, object] = {name: getattr(status, name) for name in _COUNTED}
    counted |= {"failed": len(status.failed), "is_damaged": bool(status.damage), "is_elsewhere": bool(status.server)}
    counted |= {"models_with_problems": sum(bool(model.problem) for model in status.models)}
    if names:
        counted |= {
            name: getattr(status, name) for name in ("root", "location", "damage", "unavailable", "failed", "models")
        }
    parts["status.json"] = _json(counted)
    return parts | _logs({LOG_FILE: folder, f"owner/{LOG_FILE}": owner_folder(options)}, names=names)


def _logs(folders: Mapping[str, Path], *, names: bool) -> dict[str, str]:
    """Return the ends of the logs in some folders, where there are any."""
    parts = {}
    for part, folder in folders.items():
        with suppress(OSError):
            lines = read_private(folder, LOG_FILE, _MOST_LOG).decode("utf-8", "replace").splitlines()[-_LOG_LINES:]
            kept = lines if names else filter(None, map(_without_names, lines))
            parts[part] = "".join(f"{line}\n" for line in kept)
    return parts


def _options(settings: Settings, *, names: bool) -> Iterator[tuple[str, object]]:
    """Options other than their defaults; of texts, which may be anything, whether they are set."""
    usual = dict(Settings().sections())
    for place, section in settings.sections():
        before = usual.get(place)
        for name in type(section).model_fields:
            value = getattr(section, name)
            if before is None or value != getattr(before, name):
                yield ".".join((*place, name)), _shown(place, value, names=names)


def _shown(place: Sequence[str], value: object, *, names: bool) -> object:
    if isinstance(value, bool | int | float) or value is None:
        return value
    is_safe = names and place[0] != "secrets" and MAY_HOLD_A_SECRET.isdisjoint(str(value))
    return str(value) if is_safe else _SET


def _without_names(line: str) -> str:
    """Keep of a line of a log all but names: when and where it was written, classes of errors, our own code."""
    if found := _LOGGED.match(line):
        return f"{found[1]}: ..."
    if found := _FRAME.match(line):
        return f'{found[1]}File "{found[2]}", {found[3]}'
    found = _FATAL.match(line) or _RAISED.match(line)
    return found[0] if found else ""


def _json(value: object) -> str:
    return json.dumps(plain(value), indent=1, default=str)
