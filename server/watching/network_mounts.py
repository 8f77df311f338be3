"""Mounts at, above and below a folder, if the system names them.

Changes by other machines make no events here, and a watch of a folder sees nothing of a later mount over it.
"""

import re
import sys
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_REMOTE = re.compile(
    r"nfs4?|cifs|smb3|smbfs|9p|afs|ncpfs|ceph|lustre|gfs2?|ocfs2|beegfs|gpfs|glusterfs|vboxsf|vmhgfs|prl_fs|drvfs"
    r"|virtiofs|fuse\..+"
)
"""Types of file systems with other writers: other machines, the host of a virtual one, the server of a FUSE."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


def remote_type(folder: Path, mounts: str | None = None) -> str:
    """Return the type of a folder's file system if others may write to it unseen; empty if not, or if unknown.

    Parameters:
        folder: a real path.
        mounts: in the form of /proc/PID/mountinfo, see proc(5); None to read it.
    """
    mounts = _read() if mounts is None else mounts
    # Of several mounts at one place, the last hides the others.
    above = [mount for mount in map(_mount, reversed(mounts.splitlines())) if folder.is_relative_to(mount[0])]
    kind = max(above, key=_depth)[1] if above else ""
    return kind if _REMOTE.fullmatch(kind) else ""


def mounts_below(folder: Path, mounts: str | None = None) -> frozenset[tuple[Path, str, str]]:
    """Return the place, type and number of each mount below a folder; a new mount has a new number."""
    mounts = _read() if mounts is None else mounts
    top = f" {_escaped(folder)}/"
    # Most systems have many mounts, and none below a project.
    lines = [line for line in mounts.splitlines() if top in line]
    found = [(*_mount(line), line.partition(" ")[0]) for line in lines]
    return frozenset(it for it in found if it[0] != folder and it[0].is_relative_to(folder))


def remote_below(folder: Path) -> str:
    """Name the first mount below a folder where others may write unseen, as "data is on nfs4"; empty for none."""
    remote = sorted((place, kind) for place, kind, _ in mounts_below(folder) if _REMOTE.fullmatch(kind))
    return f"{remote[0][0]} is on {remote[0][1]}" if remote else ""


def _read() -> str:
    if sys.platform != "linux":
        return ""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _escaped(folder: Path) -> str:
    """Write a folder as the system does there, without the slash at its end."""
    text = str(folder).rstrip("/")
    return re.sub(r"[ \t\n\\]", lambda found: f"\\{ord(found[0]):03o}", text)


def _mount(line: str) -> tuple[Path, str]:
    """Parse a mount's place and type; the type comes after a dash, with any number of fields before."""
    head, _, tail = line.partition(" - ")
    place = _ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), head.split(" ")[4])
    return Path(place), tail.split(" ")[0]


def _depth(mount: tuple[Path, str]) -> int:
    return len(mount[0].parts)
