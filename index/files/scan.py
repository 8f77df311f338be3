"""Scan a tree for files to index and files to skip, with the reasons; read one of them.

A folder skipped as a whole is one entry. Links are never followed, so nothing outside the root is read. A file with a
name in invalid Unicode is skipped as undecodable, under its name with the invalid bytes escaped.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cqm.chunkers.decode import HEAD_BYTES
from cqm.chunkers.detect import is_generated
from cqm.chunkers.errors import DamagedError, EncryptedError, MissingPackageError, NoTextError, UndecodableError
from cqm.chunkers.text_of_file import PDF_SUFFIX, is_readable, read_text
from cqm.index.disk.beneath import NotRegularError, open_regular, opened_root
from cqm.index.files.ignore import rules_of
from cqm.index.files.listing import Folders, Listing, NamesOf, list_below, list_tree, parent_of
from cqm.index.files.skip import INTERFACE_SUFFIXES, SQL_SUFFIXES, reason_by_name, reason_by_text, reason_of_folder
from cqm.index.model.errors import ScanError, UnreadableFileError, VanishedFileError, remedy_of_shortage
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import SkipReason
from cqm.index.model.secrets import SecretFinding
from cqm.index.secrets.file_names import is_allowed_path, shown_path

_HASH_BYTES = 16
_RACY_NS = 2_000_000_000
"""Two seconds, the coarsest time stamp in use (FAT)."""

_OUTSIDE = frozenset({errno.ELOOP, errno.EXDEV, errno.EMLINK})
"""A link on the way, or a path leading out of the tree. FreeBSD reports a link as EMLINK."""

_READABLE = "Give the path of a folder or file that you may read."

_FACTORS = {
    PDF_SUFFIX: 20,
    ".ipynb": 8,
    **dict.fromkeys(INTERFACE_SUFFIXES, 8),
    **dict.fromkeys(SQL_SUFFIXES, 16),
    **dict.fromkeys((".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".texi", ".texinfo"), 4),
}
"""Times `ScanOptions.max_file_bytes`, by suffix: fonts and images fill PDFs and notebooks, and 20 MB of a PDF contain
about 1 MB of text. Changelogs of several MB are read in half a second a MB. For JSON, YAML and SQL the text decides."""

_REASONS = (
    (EncryptedError, SkipReason.ENCRYPTED),
    (DamagedError, SkipReason.DAMAGED),
    (NoTextError, SkipReason.NO_TEXT),
    (MissingPackageError, SkipReason.PDF_EXTRA),
    (UndecodableError, SkipReason.UNDECODABLE),
)
"""Reasons for skipping a file without readable text; the first row matching the error counts."""

Closing = tuple[str, SkipReason]
"""A folder skipped as a whole, and the reason."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file in scope, or a skipped one.

    Attributes:
        path: relative to the root, with "/" between parts; the root's name if the root is a file.
        size: in bytes; 0 for a folder.
        mtime_ns: modification time in nanoseconds since the epoch.
        skip: the reason for skipping it; None to read it. A folder without a reason cannot be read: `read_file` reports
            the error.
        ctime_ns: time of the inode's last change, likewise: it reveals a change with equal size and modification time.
            On Windows, the file's creation time.
    """

    path: str
    size: int
    mtime_ns: int
    skip: SkipReason | None = None
    ctime_ns: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FileBytes:
    """The content of a file; empty if there is a reason to skip it.

    Attributes:
        size, mtime_ns, ctime_ns: from before the reading, so a later change is noticed.
    """

    data: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    skip: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The text of a file; without text and hash if its content is a reason to skip it.

    Attributes:
        encoding: as spelled by Python's codecs.
        content_hash: BLAKE2b of the bytes, 32 hex digits.
        size, mtime_ns: from before the reading, so a later change is noticed.
        ctime_ns: as in `FoundFile`, also from before the reading.
        is_generated: whether a tool wrote the file.
    """

    text: str
    encoding: str
    content_hash: str
    size: int
    mtime_ns: int
    skip: SkipReason | None = None
    ctime_ns: int = field(default=0, compare=False)
    secrets: tuple[SecretFinding, ...] = ()
    is_generated: bool = False


def scan(root: Path, options: ScanOptions, below: Sequence[str] | None = None) -> Iterator[FoundFile]:
    """Find the files of a tree, sorted by path; opens no file.

    Parameters:
        root: a folder, or a single file.
        below: scan only these files and folders, relative to the root with "/" between parts, and the folders above
            them; they may have vanished. Takes milliseconds for any size of tree.

    Raises:
        ScanError: the root is missing, cannot be read or is neither file nor folder, or a pattern is malformed.
    """
    root = _real(root)
    if root.is_file():
        return iter([_found(root.name, root.stat(), options)])
    folders, rules = Folders(root), rules_of(root, options)
    tops = [""] if below is None else [_normal(path) for path in below]
    try:
        if "" in tops:
            listing = list_tree(rules, folders)
        else:
            listing = list_below(rules, folders, [top for top in tops if not _is_outside(top)])
    except OSError as error:
        remedy = remedy_of_shortage(error) or _READABLE
        raise ScanError(f"{root} cannot be read: {error.strerror}.", remedy=remedy) from error
    return _classified(folders, listing, options)


def read_file(root: Path, path: str, options: ScanOptions) -> ReadFile:
    """Read and decode one file found by `scan`, or find in its content the reason to skip it.

    Parameters:
        path: relative to the root, from `scan`.

    Raises:
        VanishedFileError: it no longer exists.
        UnreadableFileError: there is no permission, or the disk fails.
    """
    return _decoded(read_bytes(root, path, options), path, options)


def read_bytes(root: Path, path: str, options: ScanOptions) -> FileBytes:
    """Read one file of a tree, even while the tree changes.

    The file is opened once, below the root and through no link, and read up to the size limit even if it grows. Pipes
    and devices are not read. Ignore rules are checked by `scan`, not here.

    Parameters:
        root: the real path scanned: a folder, or a single file.
        path: relative to the root; the root's name if the root is a file.

    Raises:
        VanishedFileError: it no longer exists.
        UnreadableFileError: there is no permission, or the disk fails.
    """
    folder, below = (root.parent, root.name) if root.is_file() else (root, path)
    try:
        with opened_root(folder, lists=False) as opened:
            return _read(opened, below, options)
    except OSError as error:
        # If its folder is missing too, the disk may be: the next scan finds out whether the file is still wanted.
        if isinstance(error, FileNotFoundError) and (folder / below).parent.is_dir():
            raise VanishedFileError(f"{path} cannot be read: {error.strerror}.", retryable=True) from error
        remedy = "Allow yourself to read it, or exclude it." if isinstance(error, PermissionError) else ""
        message = f"{path} cannot be read: {error.strerror or error}."
        raise UnreadableFileError(message, remedy=remedy, retryable=True) from error


def is_settled(mtime_ns: int, ctime_ns: int, read_at_ns: int) -> bool:
    """Return whether a write after reading a file must have changed its times.

    Otherwise the file is read again, as git does with racily clean entries. A time ahead of the clock never settles.

    Parameters:
        mtime_ns, ctime_ns: as in `FoundFile`.
        read_at_ns: time of the reading, in nanoseconds since the epoch.
    """
    return max(mtime_ns, ctime_ns) < read_at_ns - _RACY_NS


def content_hash(data: bytes) -> str:
    """Return the hash of a file's bytes, as in `ReadFile.content_hash`."""
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def _real(root: Path) -> Path:
    try:
        real = root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ScanError(f"{root} does not exist, or cannot be reached.", remedy=_READABLE) from error
    if not real.is_dir() and not real.is_file():
        raise ScanError(f"{root} is neither a folder nor a regular file.", remedy=_READABLE)
    if not _may_list(real) and real.is_dir():
        raise ScanError(f"{root} cannot be read: permission denied.", remedy=_READABLE)
    return real


def _normal(path: str) -> str:
    normal = os.path.normpath(path).replace(os.sep, "/")
    return "" if normal == "." else normal


def _is_outside(path: str) -> bool:
    return Path(path).is_absolute() or path.partition("/")[0] == ".."


def _classified(folders: Folders, listing: Listing, options: ScanOptions) -> Iterator[FoundFile]:
    closing_of = _closing_reader(folders.names_of, options)
    reported = set()
    for path, status in sorted(listing.items()):
        is_folder = stat.S_ISDIR(status.st_mode)
        closing = closing_of(path if is_folder else parent_of(path))
        if closing is None:
            if not is_folder:
                yield _found(path, status, options)
            elif path in folders.unreadable:
                yield _folder(listing, path, None)
        elif closing not in reported:
            reported.add(closing)
            yield _folder(listing, *closing)


def _closing_reader(names_of: NamesOf, options: ScanOptions) -> Callable[[str], Closing | None]:
    """Return a function giving the topmost folder, at or above a folder, skipped as a whole."""
    known: dict[str, Closing | None] = {"": None}

    def closing_of(folder: str) -> Closing | None:
        unknown = []
        above = folder
        while above not in known:
            unknown.append(above)
            above = parent_of(above)
        for here in reversed(unknown):
            known[here] = known[parent_of(here)] or own_closing(here)
        return known[folder]

    def own_closing(folder: str) -> Closing | None:
        name = folder.rpartition("/")[2]
        reason = reason_of_folder(name, names_of(folder), names_of(parent_of(folder)), options)
        return (folder, reason) if reason else None

    return closing_of


def _found(path: str, status: os.stat_result, options: ScanOptions) -> FoundFile:
    reason = _reason(path, status, options)
    if not _is_unicode(path):
        path, reason = readable_path(path), SkipReason.UNDECODABLE
    shown = shown_path(path)
    if shown != path and options.secrets.redact and not is_allowed_path(path, options.secrets.allow_paths):
        # A path with a secret in it may not be stored or shown.
        path, reason = shown, SkipReason.SECRET
    return FoundFile(path, status.st_size, status.st_mtime_ns, reason, status.st_ctime_ns)


def _reason(path: str, status: os.stat_result, options: ScanOptions) -> SkipReason | None:
    if stat.S_ISLNK(status.st_mode):
        return SkipReason.OUTSIDE_ROOT
    if not stat.S_ISREG(status.st_mode):
        return SkipReason.NOT_A_FILE
    reason = reason_by_name(path, options)
    if reason is None and status.st_size > _most_bytes(path, options):
        return SkipReason.TOO_LARGE
    return reason


def _most_bytes(path: str, options: ScanOptions) -> int:
    name = path.rpartition("/")[2].lower()
    return options.max_file_bytes * _FACTORS.get(f".{name.rpartition('.')[2]}", 1)


def _folder(listing: Listing, path: str, reason: SkipReason | None) -> FoundFile:
    return FoundFile(shown_path(readable_path(path)), 0, listing[path].st_mtime_ns, reason)


def _may_list(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)


def _is_unicode(path: str) -> bool:
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def readable_path(path: str) -> str:
    """Return a path as stored and shown: undecodable bytes are escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _read(folder: int | Path, path: str, options: ScanOptions) -> FileBytes:
    try:
        opened = open_regular(folder, path)
    except NotRegularError:
        return FileBytes(b"", 0, 0, 0, SkipReason.NOT_A_FILE)
    except OSError as error:
        if error.errno in _OUTSIDE:
            return FileBytes(b"", 0, 0, 0, SkipReason.OUTSIDE_ROOT)
        if error.errno == errno.ENXIO:
            # A socket; it can't be opened.
            return FileBytes(b"", 0, 0, 0, SkipReason.NOT_A_FILE)
        raise
    with os.fdopen(opened, "rb", buffering=0) as file:
        status = os.fstat(opened)
        most = _most_bytes(path, options)
        data = b"" if status.st_size > most else file.read(HEAD_BYTES)
        reason = SkipReason.TOO_LARGE if status.st_size > most else None
        if reason is None and not is_readable(path, data):
            reason = SkipReason.BINARY
        # No more at once than the file has: memory is reserved for everything asked for.
        step = max(HEAD_BYTES, status.st_size)
        while reason is None and len(data) <= most and (more := file.read(min(step, most + 1 - len(data)))):
            data += more
    if len(data) > most:
        reason = SkipReason.TOO_LARGE
    return FileBytes(b"" if reason else data, status.st_size, status.st_mtime_ns, status.st_ctime_ns, reason)


def _decoded(read: FileBytes, path: str, options: ScanOptions) -> ReadFile:
    if read.skip:
        return _skipped(read, read.skip)
    try:
        decoded = read_text(path, read.data)
    except UndecodableError as error:
        return _skipped(read, next(reason for kind, reason in _REASONS if isinstance(error, kind)))
    text = decoded.text
    if len(text) > options.max_file_bytes and path.lower().endswith(SQL_SUFFIXES):
        from cqm.chunkers.languages.sql.rows import without_rows  # few trees have one

        text = without_rows(text)
    reason = reason_by_text(path, text, options)
    if reason:
        return _skipped(read, reason)
    # Loaded by the process forking the workers only: its clients don't read.
    from cqm.index.secrets.redaction import redact

    redacted = redact(text, path, options.secrets)
    return ReadFile(
        redacted.text,
        decoded.encoding,
        content_hash(read.data),
        read.size,
        read.mtime_ns,
        ctime_ns=read.ctime_ns,
        secrets=redacted.findings,
        is_generated=is_generated(path, decoded.text),
    )


def _skipped(read: FileBytes, reason: SkipReason) -> ReadFile:
    return ReadFile("", "", "", read.size, read.mtime_ns, reason, read.ctime_ns)
