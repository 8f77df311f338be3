"""Read the files of an index as they are on disk now: unchanged ones directly, others through workers.

An unchanged file without secrets and with a certain encoding is read here. Workers read all others as an update does:
they decode, redact and refuse.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cqm.chunkers.text_of_file import PDF_SUFFIX
from cqm.index.batched import batched
from cqm.index.disk.beneath import open_regular, opened_root
from cqm.index.files.scan import is_settled, read_file
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import UnreadableFileError, VanishedFileError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import FileState
from cqm.index.search.grep.grams import GramTable, Stamp
from cqm.index.workers import Job, Workers

_MARK = b"\xef\xbb\xbf"
_BATCH = 64
_MOST_KEPT = 32 << 20
_UNREAD = "unread"


class KnownFile(NamedTuple):
    """A file with text in the index.

    Attributes:
        path, language: as in `FileRow`.
        stamp: of the file when it was read for the index.
        is_plain: whether it may be read without a worker as long as it has this stamp.
    """

    path: str
    language: str
    stamp: Stamp
    is_plain: bool


class DecodedTexts:
    """The last texts read by workers, as long as their files stay unchanged; at most 32 MB."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[Stamp, bytes]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get(self, path: str, stamp: Stamp | None) -> bytes | None:
        """Return the text of a file with this stamp, if it is kept."""
        kept, text = self._texts.get(path, (None, b""))
        return text if kept and kept == stamp else None

    def put(self, path: str, stamp: Stamp, text: bytes) -> None:
        """Keep a text, in place of the oldest ones."""
        with self._lock:
            self._size += len(text) - len(self._texts.pop(path, (stamp, b""))[1])
            self._texts[path] = (stamp, text)
            while self._size > _MOST_KEPT:
                self._size -= len(self._texts.pop(next(iter(self._texts)))[1])


class KnownFiles:
    """The files of an index, sources first, and the trigrams of those already read."""

    def __init__(self) -> None:
        self.grams = GramTable()
        self.decoded = DecodedTexts()
        self._state = ""
        self._files: tuple[KnownFile, ...] = ()

    def of(self, generation: Generation) -> tuple[KnownFile, ...]:
        """Return the files of a generation with text, in the order of an answer; read again after each commit.

        Raises:
            ManifestError: the index cannot be read.
        """
        state = generation.manifest.state()
        if state != self._state:
            rows = [row for row in generation.manifest.files().values() if row.state is FileState.INDEXED]
            # Earlier releases lost the languages of files read again.
            languages = generation.manifest.languages() if any(row.size and not row.language for row in rows) else {}
            files = [
                KnownFile(
                    row.path,
                    row.language or languages.get(row.path, ""),
                    (row.size, row.mtime_ns, row.ctime_ns),
                    not row.secrets
                    and not row.path.lower().endswith(PDF_SUFFIX)
                    and is_settled(row.mtime_ns, row.ctime_ns, row.read_at_ns),
                )
                for row in rows
            ]
            self._files = tuple(sorted(files, key=lambda file: (generation.role_of(file.path) is not None, file.path)))
            self.grams.keep_only([file.path for file in files])
            self._state = state
        return self._files


class Text(NamedTuple):
    """A file's text.

    Attributes:
        file: it is of.
        text: in UTF-8, without a byte order mark, secrets redacted; None if the file cannot be read.
        stamp: of the file when it was read; None where a later change might not show in it.
    """

    file: KnownFile
    text: bytes | None
    stamp: Stamp | None


class Tree:
    """The folder of an index, open for reading.

    Parameters:
        root: of the index, a folder or file.
        folder: its descriptor, or its path where the system has none.
        workers: for files not readable here.
        decoded: the last texts of workers.
    """

    def __init__(
        self, root: Path, folder: int | Path, options: ScanOptions, workers: Workers, decoded: DecodedTexts
    ) -> None:
        self._folder = folder
        self._decoded = decoded
        self._workers = workers
        self._job = Job(
            partial(_read, root=root, options=options),
            tuple[str, str, int, int, int],
            lambda file: file.stamp[0],
            lambda _file, _reason: (_UNREAD, "", 0, 0, 0),
        )

    def changed(self, files: Iterable[KnownFile], stamps: Mapping[str, Stamp]) -> Iterator[KnownFile]:
        """Yield the files without a stamp, or with another one on disk, without opening them."""
        folder = self._folder
        for file in files:
            stamp = stamps.get(file.path)
            if stamp is None or stamp != _stamp_of(folder, file.path):
                yield file

    def texts(self, files: Iterable[KnownFile]) -> Iterator[Text]:
        """Yield the texts of files, in order; skipped and vanished ones are left out.

        Raises:
            WorkerError: no worker can be started.
        """
        for batch in batched(files, _BATCH):
            read_at = time.time_ns()
            here = {file.path: data for file in batch if (data := self._here(file)) is not None}
            others = [file for file in batch if file.path not in here]
            elsewhere = (it for results in self._workers.run(self._job, others) for it in results)
            for file in batch:
                if file.path in here:
                    yield here[file.path]
                    continue
                state, text, *stamp = next(elsewhere)
                if state == _UNREAD:
                    yield Text(file, None, None)
                elif not state:
                    size, changed, status = stamp
                    yield self._kept(Text(file, text.encode(), (size, changed, status)), read_at)

    def _kept(self, text: Text, read_at: int) -> Text:
        """Keep a text read by a worker, unless a later change of its file might not show."""
        if not text.stamp or not is_settled(*text.stamp[1:], read_at):
            return text._replace(stamp=None)
        self._decoded.put(text.file.path, text.stamp, text.text or b"")
        return text

    def _here(self, file: KnownFile) -> Text | None:
        """Read a file without a worker; None if a worker is needed."""
        if file.is_plain:
            data = self._plain(file)
            return None if data is None else Text(file, data, file.stamp)
        stamp = _stamp_of(self._folder, file.path)
        kept = self._decoded.get(file.path, stamp)
        return None if kept is None else Text(file, kept, stamp)

    def _plain(self, file: KnownFile) -> bytes | None:
        """Read a file unchanged since it was indexed; None if it changed, or a worker has to decode it."""
        try:
            opened = open_regular(self._folder, file.path)
        except OSError:
            return None
        try:
            found = os.fstat(opened)
            if (found.st_size, found.st_mtime_ns, found.st_ctime_ns) != file.stamp:
                return None
            data = os.read(opened, found.st_size + 1)
            while 0 < len(data) < found.st_size and (more := os.read(opened, found.st_size + 1 - len(data))):
                data += more
        except OSError:
            return None
        finally:
            os.close(opened)
        if len(data) != found.st_size:
            return None
        return _as_utf8(data)


@contextmanager
def opened_tree(root: Path, options: ScanOptions, workers: Workers, decoded: DecodedTexts) -> Iterator[Tree]:
    """Open the folder of an index while a block runs.

    Raises:
        OSError: it cannot be opened.
    """
    with opened_root(root.parent if root.is_file() else root, lists=False) as folder:
        yield Tree(root, folder, options, workers, decoded)


def _stamp_of(folder: int | Path, path: str) -> Stamp | None:
    """Look up a file's stamp without opening it; None if there is no such file."""
    try:
        if isinstance(folder, Path):
            found = (folder / path).stat(follow_symlinks=False)
        else:
            found = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _as_utf8(data: bytes) -> bytes | None:
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    return data.removeprefix(_MARK)


def _read(file: KnownFile, *, root: Path, options: ScanOptions) -> tuple[str, str, int, int, int]:
    """Read a file in a worker: why it is not to be searched (empty if it is), its text, its stamp."""
    try:
        read = read_file(root, file.path, options)
    except VanishedFileError:
        return "vanished", "", 0, 0, 0
    except (UnreadableFileError, MemoryError):
        return _UNREAD, "", 0, 0, 0
    return read.skip.value if read.skip else "", read.text, read.size, read.mtime_ns, read.ctime_ns
