"""The file of a snapshot: an uncompressed tar of a manifest and one compressed member.

The manifest comes first and states the sizes and the digest of the member. A reader takes these two by their names, in
this order, and nothing else: there is no path to follow, and nothing is read beyond the stated sizes.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, NamedTuple

from cqm.index.disk.beneath import FILE_FLAGS
from cqm.index.disk.durable import is_replaceable, sync_folder, sync_opened
from cqm.index.model.errors import SnapshotError, remedy_of_shortage

_MANIFEST, _RECORDS = "snapshot.json", "records.jsonl.gz"
_MOST_MANIFEST_BYTES = 1 << 20
_LONGEST_LINE = 8 << 20
"""In bytes. A record is a file or a chunk: most have some kilobytes."""
_MOST_GROWTH = 200
"""Most bytes from one packed byte: records of repositories have 2 to 5, gzip's most is 1,032."""
_BLOCK = 1 << 18
_LEVEL = 6


class Packed(NamedTuple):
    """The manifest's facts about the member.

    Attributes:
        packed_bytes: in the file.
        bytes: after unpacking.
        sha256: of the packed bytes, in hexadecimal digits.
    """

    packed_bytes: int
    bytes: int
    sha256: str


def write_archive(file: Path, lines: Iterator[bytes], manifest: Callable[[Packed], bytes]) -> str:
    """Write an archive beside `file`, then rename it; return its SHA-256.

    Parameters:
        file: replaced whole, or left unchanged. It has mode 0600, as its contents are from a private folder.
        lines: records, each without its line end.
        manifest: called with the facts to state when all lines are written.

    Raises:
        SnapshotError: it cannot be written, or is a device, pipe, link or folder.
    """
    if not is_replaceable(file):
        raise SnapshotError(f"{file} is no regular file, and stays unchanged.", remedy="Give a new name.")
    try:
        with TemporaryFile(dir=file.parent) as packed, _replaced(file) as out:
            records = _pack(packed, lines)
            about = manifest(records)
            with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
                archive.addfile(_entry(_MANIFEST, len(about)), io.BytesIO(about))
                packed.seek(0)
                archive.addfile(_entry(_RECORDS, records.packed_bytes), packed)
            out.flush()
            sync_opened(out.fileno())
            out.seek(0)
            return hashlib.file_digest(out, "sha256").hexdigest()  # type: ignore[arg-type]  # a binary file
    except OSError as error:
        remedy = remedy_of_shortage(error) or "Check its folder and free space."
        raise SnapshotError(f"{file} cannot be written: {error.strerror}.", remedy=remedy) from error


@contextmanager
def _replaced(file: Path) -> Iterator[IO[bytes]]:
    """Yield a new file in the same folder, which takes the place of `file` unless the block fails."""
    new = NamedTemporaryFile(dir=file.parent, prefix=f".{file.name[:100]}.", delete=False)  # noqa: SIM115 - renamed below
    try:
        with new:
            yield new.file
        Path(new.name).replace(file)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(new.name).unlink()
        raise
    sync_folder(file.parent)


def _pack(packed: IO[bytes], lines: Iterator[bytes]) -> Packed:
    """Write lines to a file, compressed; without times and names, so equal lines give equal bytes."""
    size = 0
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=packed, mtime=0) as out:
        for line in lines:
            size += out.write(line) + out.write(b"\n")
    packed.seek(0)
    digest = hashlib.file_digest(packed, "sha256").hexdigest()  # type: ignore[arg-type]  # a binary file
    return Packed(packed.tell(), size, digest)


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


class Archive:
    """An open archive. Use `opened_archive`.

    Attributes:
        file: its path, or where it is from.
        manifest: the bytes of its manifest.
    """

    def __init__(self, file: Path | str, opened: IO[bytes]) -> None:
        self.file = file
        self._opened = opened
        self.manifest = opened.read(self._size_of(_MANIFEST, _MOST_MANIFEST_BYTES))
        # A member ends with a full block of 512 bytes.
        opened.seek(-len(self.manifest) % tarfile.BLOCKSIZE, os.SEEK_CUR)
        self._packed_bytes = self._size_of(_RECORDS, os.fstat(opened.fileno()).st_size)
        self._start = opened.tell()

    def verify(self, stated: Packed) -> None:
        """Compare the member with the manifest's facts before using it.

        Raises:
            SnapshotError: it differs, or the manifest states impossible sizes.
        """
        if stated.packed_bytes != self._packed_bytes or stated.bytes > max(stated.packed_bytes, 1) * _MOST_GROWTH:
            raise damaged(self.file, "its sizes do not fit each other")
        self._opened.seek(self._start)
        digest, left = hashlib.sha256(), self._packed_bytes
        while left and (block := self._opened.read(min(_BLOCK, left))):
            digest.update(block)
            left -= len(block)
        if left or digest.hexdigest() != stated.sha256:
            raise damaged(self.file, "its content is not what its checksum says")

    def lines(self, stated: Packed) -> Iterator[bytes]:
        """Yield the records, and no more bytes than were stated.

        Raises:
            SnapshotError: there are more or fewer, a line is too long, or they cannot be unpacked.
        """
        self._opened.seek(self._start)
        unpacked = gzip.GzipFile(fileobj=_Part(self._opened, self._packed_bytes), mode="rb")
        left = stated.bytes
        try:
            with unpacked:
                while line := unpacked.readline(min(_LONGEST_LINE, left + 1)):
                    left -= len(line)
                    if left < 0 or not line.endswith(b"\n"):
                        raise damaged(self.file, "it holds more than it says")
                    yield line
        except (OSError, EOFError, zlib.error) as error:
            raise damaged(self.file, f"it cannot be unpacked: {error}") from error
        if left:
            raise damaged(self.file, "it holds less than it says")

    def _size_of(self, name: str, most: int) -> int:
        """Read the header of the next member, which has to be this one; give its size in bytes."""
        try:
            entry = tarfile.TarInfo.frombuf(self._opened.read(tarfile.BLOCKSIZE), "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise damaged(self.file, "it is no archive of `cqm export`") from error
        if entry.name != name or entry.type != tarfile.REGTYPE or not 0 <= entry.size <= most:
            raise damaged(self.file, f"its member is not {name}")
        return entry.size


@contextmanager
def opened_archive(file: Path, told: str = "") -> Iterator[Archive]:
    """Open an archive, possibly forged, while a block runs.

    Parameters:
        told: stands for the path in messages.

    Raises:
        SnapshotError: it cannot be read, or is none.
    """
    try:
        opened = os.fdopen(os.open(file.resolve(), FILE_FLAGS), "rb")
    except OSError as error:
        raise SnapshotError(f"{file} cannot be read: {error.strerror}.", remedy="Check the path.") from error
    with opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise SnapshotError(f"{file} is not a file.", remedy="Name a file of `cqm export`.")
        yield Archive(told or file, opened)


def damaged(file: Path | str, why: str) -> SnapshotError:
    """Return the error for an unusable archive."""
    return SnapshotError(f"{file} cannot be imported: {why}.", remedy="Download it again, or export it again.")


class _Part(io.RawIOBase):
    """The next bytes of a file, and none after them.

    Parameters:
        file: at the first byte.
        size: in bytes.
    """

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        """Read bytes into a buffer; give their number."""
        block = self._file.read(min(len(buffer), self._left))
        buffer[: len(block)] = block
        self._left -= len(block)
        return len(block)
