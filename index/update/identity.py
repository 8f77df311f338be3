"""Whether a root is still the one that was indexed: what stands in its place must not empty its index."""

import stat
from pathlib import Path

from cqm.index.manifest.manifest import Manifest
from cqm.index.model.errors import ScanError

ROOT_FACT = "root"


def identity(root: Path) -> str:
    """What tells a folder or file from another one at the same path.

    Raises:
        ScanError: there is nothing.
    """
    try:
        found = root.stat()
    except OSError as error:
        raise ScanError(f"{root} is gone: {error.strerror}. Its index is kept.", remedy="Bring it back.") from error
    kind = "folder" if stat.S_ISDIR(found.st_mode) else "file"
    return f"{kind} {found.st_dev} {found.st_ino}"


def refuse_another(root: Path, manifest: Manifest) -> None:
    """Refuse a root where a folder was indexed and now is a file, or another folder with nothing in it.

    The latter is what a disk leaves behind that is no longer mounted, and what a tool makes that writes a tree anew.
    A folder that was emptied is the same folder, and its index becomes empty.

    Parameters:
        manifest: what is held of the root.

    Raises:
        ScanError: so it is, or the root is gone; the index is kept.
    """
    now, before = identity(root), manifest.fact(ROOT_FACT)
    if now == before or not before.startswith("folder") or not manifest.chunk_count():
        return
    is_folder = now.startswith("folder")
    if is_folder and any(root.iterdir()):
        return
    what = "is another folder than was indexed, and empty" if is_folder else "was a folder when it was indexed"
    remedy = "Mount it or bring it back; if it is meant to be so, run `cqm index --force`."
    raise ScanError(f"{root} {what}. Its index is kept.", remedy=remedy)
