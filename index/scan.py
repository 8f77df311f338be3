"""TEMPORARY stand-in so that the other parts can run; the real scan.py replaces this file wholesale."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ignore import WalkBuilder

from cqm.chunkers.decode import decode, is_binary
from cqm.index.model import ScanOptions, SkipReason


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: str
    size: int
    mtime_ns: int
    skip: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class ReadFile:
    text: str
    encoding: str
    content_hash: str
    size: int
    mtime_ns: int
    skip: SkipReason | None = None


def scan(root: Path, options: ScanOptions, below: Sequence[str] | None = None) -> Iterator[FoundFile]:
    for entry in WalkBuilder(root).hidden(False).build():
        p = entry.path()
        if not p.is_file() or {".cqm", ".git"} & set(p.parts):
            continue
        rel = p.relative_to(root).as_posix() if root.is_dir() else root.name
        if below is not None and not any(rel == b or rel.startswith(b + "/") for b in below):
            continue
        if any(rel.endswith(x.lstrip("*")) for x in options.exclude):
            continue
        st = p.stat()
        skip = SkipReason.TOO_LARGE if st.st_size > options.max_file_bytes else None
        yield FoundFile(rel, st.st_size, st.st_mtime_ns, skip)


def read_file(root: Path, path: str, options: ScanOptions) -> ReadFile:
    p = root / path if root.is_dir() else root
    data = p.read_bytes()
    st = p.stat()
    h = hashlib.sha256(data).hexdigest()
    if is_binary(data[:4096]):
        return ReadFile("", "", h, st.st_size, st.st_mtime_ns, SkipReason.BINARY)
    return ReadFile(decode(data).text, "utf-8", h, st.st_size, st.st_mtime_ns)
