"""Recognise network file systems, where the system names them: changes by other machines make no events here."""

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
    if mounts is None:
        if sys.platform != "linux":
            return ""
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return ""
    # Of several mounts at one place, the last hides the others.
    above = [mount for mount in map(_mount, reversed(mounts.splitlines())) if folder.is_relative_to(mount[0])]
    kind = max(above, key=_depth)[1] if above else ""
    return kind if _REMOTE.fullmatch(kind) else ""


def _mount(line: str) -> tuple[Path, str]:
    """Parse a mount's place and type; the type comes after a dash, with any number of fields before."""
    head, _, tail = line.partition(" - ")
    place = _ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), head.split(" ")[4])
    return Path(place), tail.split(" ")[0]


def _depth(mount: tuple[Path, str]) -> int:
    return len(mount[0].parts)
