"""Compare the tree with the manifest: the work of an update."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cqm.index.files.scan import FoundFile, content_hash, is_settled, read_bytes, readable_path, scan
from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import GENERATED_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.manifest.rows import FileRow
from cqm.index.model.errors import ScanError, UnreadableFileError
from cqm.index.model.options import IndexOptions, ScanOptions
from cqm.index.model.query import FileProblem, FileState, SkipReason
from cqm.index.tracing import traced
from cqm.index.update.prepare import Task, is_given_up

ROOT_FACT = "root"
_BY_RULE = frozenset({SkipReason.GENERATED, SkipReason.MINIFIED})
"""Reasons depending on `scan.include_generated`; indexed files may have them too."""


def identity(root: Path) -> str:
    """Return the identity of a folder or file: kind, device and inode. Another one at the same path differs.

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

    An unmounted disk leaves such an empty folder behind; a tool rewriting a tree makes one. A folder that was emptied
    is the same folder, and its index becomes empty.

    Raises:
        ScanError: the root is such a one, or is gone; the index is kept.
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


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an update.

    Attributes:
        todo: files to read, each with the hash the index holds.
        skipped: manifest rows of files left out without being read.
        vanished: indexed paths gone from the disk or from the scope.
        unchanged: number of files without work.
        given_up: files on which a worker died, unchanged since.
        known: the manifest's rows of the paths in question.
        pending: paths whose points may differ from the manifest; see `Manifest.pending`.
    """

    todo: tuple[Task, ...]
    skipped: tuple[FileRow, ...]
    vanished: tuple[str, ...]
    unchanged: int
    known: Mapping[str, FileRow]
    pending: frozenset[str]
    given_up: tuple[FileProblem, ...] = ()

    @property
    def moved(self) -> dict[str, str]:
        """Former paths of vanished files, by content hash."""
        rows = (self.known[path] for path in self.vanished if path in self.known)
        return {row.hash: row.path for row in rows if row.hash}

    def may_hold(self, path: str) -> bool:
        """Whether the index may hold something of a path."""
        return path in self.known or path in self.pending

    def may_hold_chunks(self, path: str) -> bool:
        """Whether the index may hold chunks of a path: not if it was left out before."""
        row = self.known.get(path)
        return path in self.pending or (row is not None and row.state is not FileState.SKIPPED)


@traced("cqm.scanning")
def plan_update(root: Path, generation: Generation, options: IndexOptions, below: Sequence[str] | None) -> Plan:
    """Compare the tree with the manifest, by size, modification time and change time.

    Parameters:
        below: paths relative to the root to look at, files or folders; they are read whatever their time stamp says.
            None for the whole tree.

    Raises:
        ScanError: the root cannot be walked.
    """
    known = generation.manifest.files(below and [readable_path(path) for path in below])
    pending = frozenset(generation.manifest.pending())
    todo: list[Task] = []
    skipped: list[FileRow] = []
    seen: set[str] = set()
    given_up: list[FileProblem] = []
    unchanged = 0
    is_other_rule = generation.manifest.fact(GENERATED_FACT) != options.scan.include_generated
    for found in scan(root, options.scan, below=below):
        seen.add(found.path)
        row = known.get(found.path)
        if found.skip is not None:
            skip = FileRow(found.path, FileState.SKIPPED, found.skip.value, found.size, found.mtime_ns)
            if row is None or found.path in pending or (row.state, row.reason) != (skip.state, skip.reason):
                skipped.append(skip)
        elif row and below is None and found.path not in pending and _is_unchanged(found, row, is_other_rule):
            unchanged += row.state is FileState.INDEXED
            given_up += [FileProblem(row.path, row.reason)] if row.state is FileState.FAILED else []
        else:
            held = row.hash if row and row.state is FileState.INDEXED and found.path not in pending else ""
            todo.append((found, held))
    gone = (known.keys() | (pending if below is None else set())) - seen
    closed = {found.path for found, _ in todo if not found.size and (root / found.path).is_dir()}
    vanished = [path for path in gone if not any(str(above) in closed for above in PurePosixPath(path).parents)]
    vanished.sort()
    return Plan(tuple(todo), tuple(skipped), tuple(vanished), unchanged, known, pending, tuple(given_up))


def _is_unchanged(found: FoundFile, row: FileRow, is_other_rule: bool) -> bool:  # noqa: FBT001 - private
    # Only the text shows whether a file is generated: under another rule it is read again.
    if is_other_rule and row.reason in _BY_RULE:
        return False
    is_final = row.state is not FileState.FAILED or is_given_up(row)
    return is_final and is_settled(row.mtime_ns, row.ctime_ns, row.read_at_ns) and _is_same(found, row)


def _is_same(found: FoundFile, row: FileRow | None) -> bool:
    # `cp -p`, `touch -d`, `rsync -t` and `tar` put the modification time back; the change time shows the write.
    seen = (found.size, found.mtime_ns, found.ctime_ns)
    return row is not None and seen == (row.size, row.mtime_ns, row.ctime_ns)


def count_differing(root: Path, target: Generation, options: IndexOptions) -> int:
    """Count files which differ from the index. Files of the same size are read and compared by content.

    Parameters:
        root, target, options: as in `plan_update`.
    """
    plan, scan = plan_update(root, target, options, None), options.scan
    gone = sum(path in plan.known for path in plan.vanished)
    left_out = sum(plan.known[row.path].state is FileState.INDEXED for row in plan.skipped if row.path in plan.known)
    return gone + left_out + sum(_differs(found, plan.known.get(found.path), root, scan) for found, _ in plan.todo)


def _differs(found: FoundFile, row: FileRow | None, root: Path, options: ScanOptions) -> bool:
    """Return whether an update would change a file's row. Its bytes are compared: only workers decode a file."""
    if row is None or found.size != row.size:
        return True
    if row.state is not FileState.INDEXED and _is_same(found, row):
        return False
    try:
        read = read_bytes(root, found.path, options)
    except UnreadableFileError:
        return row.state is FileState.INDEXED
    if read.skip:
        return read.skip != row.reason
    # A file without text has no hash: once its times have changed, it may have text.
    return content_hash(read.data) != row.hash
