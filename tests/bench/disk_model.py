"""Contents that a disk may have of some folders after a power cut: their files as they are, less what was not synced.

- Of a file, each block of 4,096 bytes is as it was when the file was last synced, or as it was at any moment since that
  was looked at, each block on its own; its length is one of those, or any between; a file that was never synced may be
  empty. `msync` of a part syncs that part.
- Of a folder, the names are as they were when it was last synced, or at any moment since that was looked at: changes
  of one folder come in order, those of different folders in any. So a new file, a new folder with all that is in it, a
  deletion and a renaming may be lost, also of files that are synced themselves, as POSIX allows and journals avoid.

Not in it: a disk that lies about what it has written, blocks torn within, and states between two looks.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

BLOCK = 4096
_NOTHING = bytes(BLOCK)

Names = Mapping[str, tuple[int, bool]]
"""What is in a folder: names with the file's or folder's key, and whether it is a folder."""


@dataclass(frozen=True, slots=True)
class Image:
    """The content of a file: its length, and its blocks by their number but those of zeros."""

    size: int = 0
    blocks: Mapping[int, bytes] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Make a file of it."""
        with path.open("wb") as file:
            for number, block in self.blocks.items():
                if number * BLOCK < self.size:
                    file.seek(number * BLOCK)
                    file.write(block)
            file.truncate(self.size)


def image_of(path: Path) -> Image:
    """The content of a file now; holes are not read."""
    blocks = {}
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for start in _data_starts(file.fileno(), size):
            block = os.pread(file.fileno(), BLOCK, start)
            if block.strip(b"\0"):
                blocks[start // BLOCK] = block
    return Image(size, blocks)


def _data_starts(descriptor: int, size: int) -> Iterator[int]:
    start = 0
    while start < size:
        try:
            begin = os.lseek(descriptor, start, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return
        end = os.lseek(descriptor, begin, os.SEEK_HOLE)
        begin = begin // BLOCK * BLOCK
        yield from range(begin, end, BLOCK)
        start = max(end, begin + BLOCK)


def torn(images: list[Image], chosen: Random) -> Image:
    """A file of which each block is that of any of the images."""
    sizes = [image.size for image in images]
    size = chosen.choice([*sizes, chosen.randint(min(sizes), max(sizes))])
    numbers = sorted(set().union(*(image.blocks for image in images)))
    return Image(size, {number: chosen.choice(images).blocks.get(number, _NOTHING) for number in numbers})


class Disk:
    """All that is known to be on the disk, and what may be, of all below a folder.

    Parameters:
        top: the folder; it is there itself in any case.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._keys: dict[int, int] = {}
        self._last_key = 0
        self._files: dict[int, list[Image]] = {}
        self._folders: dict[int, list[Names]] = {}

    def look(self) -> None:
        """Note what everything is now: it may be on the disk from now on."""
        waiting = [self._top]
        while waiting:
            folder = waiting.pop()
            names = self._names(folder)
            _add(self._folders.setdefault(self._key(folder), [{}]), names)
            waiting += (folder / name for name, (_, is_folder) in names.items() if is_folder)
            for path in (folder / name for name, (_, is_folder) in names.items() if not is_folder):
                _add(self._files.setdefault(self._key(path), [Image()]), image_of(path))

    def sync(self, path: Path, start: int, length: int) -> None:
        """A file, a part of it in bytes, or a folder is on the disk as it is now."""
        key = self._key(path)
        if path.is_dir():
            self._folders[key] = [self._names(path)]
            return
        now = image_of(path)
        synced = range(start // BLOCK, min((start + length - 1) // BLOCK, now.size // BLOCK) + 1)
        if start == 0 and length >= now.size:
            self._files[key] = [now]
        else:
            images = self._files.get(key, [Image()])
            self._files[key] = [_with(image, now, synced) for image in images]

    def forget(self, path: Path) -> None:
        """The file of this name is about to be another one, or none."""
        if path.exists():
            self._keys.pop(path.stat().st_ino, None)

    def write(self, target: Path, chosen: Random, kept: float) -> None:
        """Make a folder of what may be left.

        Parameters:
            target: the folder, which is new.
            chosen: decides.
            kept: how likely a file or folder is to be as it is now, from 0 to 1; else it is as it was when it was last
                synced, or a mixture.
        """
        self._write(self._key(self._top), target, chosen, kept)

    def _write(self, key: int, target: Path, chosen: Random, kept: float) -> None:
        target.mkdir(mode=0o700)
        for name, (part, is_folder) in _one_of(self._folders.get(key, [{}]), chosen, kept).items():
            if is_folder:
                self._write(part, target / name, chosen, kept)
                continue
            images = self._files.get(part, [Image()])
            mixture = torn(images, chosen) if chosen.random() < 0.5 else images[0]
            image = images[-1] if chosen.random() < kept else mixture
            image.write(target / name)

    def _names(self, folder: Path) -> Names:
        with os.scandir(folder) as entries:
            return {entry.name: (self._key(Path(entry.path)), entry.is_dir()) for entry in entries}

    def _key(self, path: Path) -> int:
        number = path.stat().st_ino
        if number not in self._keys:
            self._last_key += 1
            self._keys[number] = self._last_key
        return self._keys[number]


def _one_of(versions: list[Names], chosen: Random, kept: float) -> Names:
    return versions[-1] if chosen.random() < kept else chosen.choice(versions)


def _add(versions: list[Any], now: object) -> None:
    if versions[-1] != now:
        versions.append(now)


def _with(image: Image, now: Image, numbers: range) -> Image:
    blocks = {number: block for number, block in image.blocks.items() if number not in numbers}
    return Image(now.size, blocks | {number: now.blocks[number] for number in numbers if number in now.blocks})
