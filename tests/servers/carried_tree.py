"""A small tree whose index is carried to a clone of it, in a snapshot or as a base; and its archives, changed."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.query import Query
from cqm.index.model.symbols import OutlineQuery

Records = list[dict[str, Any]]

QUESTIONS = ("compute_2", "which function gathers sums", "round a price", "added here", "value", "secret token")
FILES = {
    "src/sums.py": '"""Sums."""\n\n\ndef gather_sums(rows):\n    """Add up all rows."""\n    return sum(rows)\n',
    "src/prices.py": "class Price:\n    def round_price(self, digits):\n        return round(self.value, digits)\n",
    "docs/guide.md": "# Guide\n\n## Rounding\n\nPrices are rounded to cénts.\n\n## Sums\n\nSee gather_sums.\n",
    "empty.py": "",
    "key.txt": "password of the test: AKIAIOSFODNN7EXAMPLQ and nothing else\n",
    **{f"part_{number}.py": f"def compute_{number}(value):\n    return value + {number}\n" for number in range(4)},
}


def make_tree(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def make_clone(root: Path) -> Path:
    """The same files with other times, and local changes: one added, one changed, one deleted."""
    make_tree(root)
    os.utime(root / "src/sums.py", (1_000_000_000, 1_000_000_000))
    (root / "part_1.py").unlink()
    (root / "part_2.py").write_text("def compute_2(value):\n    return value - 2\n")
    (root / "added.py").write_text("def added_here():\n    return gather_sums([1])\n")
    return root


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """All that an index finds and holds."""

    found: list[object]
    scores: list[float]
    held: object

    def __eq__(self, other: object) -> bool:
        """Scores may differ in their last digits, which the order of a sum decides; near 0 it has lost the others."""
        assert isinstance(other, Answers)
        return (self.found, self.held) == (other.found, other.held) and self.scores == pytest.approx(
            other.scores, rel=1e-5, abs=1e-6
        )

    __hash__ = None  # type: ignore[assignment]


def answers(index: Index) -> Answers:
    queries = [*map(Query, QUESTIONS), Query("", like="part_2.py:1")]
    hits = [hit for query in queries for hit in index.search(query).hits]
    found: list[object] = [(it.path, it.start_line, it.end_line, it.symbol, it.text, it.metadata) for it in hits]
    listed = [(it.path, [symbol.symbol for symbol in it.symbols]) for it in index.outline(OutlineQuery("")).files]
    return Answers(found, [it.score for it in hits], (listed, index.secrets(), index.status().coverage))


def fresh(tree: Path, options: IndexOptions, home: Path) -> Answers:
    """The answers of an index of its own."""
    with Index.open(tree, replace(options, home=home, store=StoreOptions())) as index:
        index.update()
        return answers(index)


def publish(tree: Path, options: IndexOptions, name: str = "shop", keep: int = 7) -> tuple[str, ...]:
    """Publish a base; give the older ones that were deleted."""
    with Index.open(tree, options) as index:
        index.update()
        return index.publish(name, keep=keep).deleted


def records_of(archive: bytes) -> Records:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        packed = opened.extractfile("records.jsonl.gz")
        assert packed
        return [json.loads(line) for line in gzip.decompress(packed.read()).splitlines()]


def repacked(
    archive: bytes,
    change: Callable[[Records], object] = lambda _: None,
    *,
    about: dict[str, Any] | None = None,
    unpacked: Callable[[bytes], bytes] = lambda it: it,
    names: tuple[str, str] = ("snapshot.json", "records.jsonl.gz"),
    kinds: tuple[bytes, bytes] = (tarfile.REGTYPE, tarfile.REGTYPE),
) -> bytes:
    """An archive with other records, and a manifest with the sizes and the checksum of these."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        told = opened.extractfile("snapshot.json")
        assert told
        manifest = json.load(told)
    records = records_of(archive)
    change(records)
    text = unpacked(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    packed = gzip.compress(text)
    manifest["records"] = [len(packed), len(text), hashlib.sha256(packed).hexdigest()]
    manifest |= about or {}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as made:
        for name, kind, content in zip(names, kinds, (json.dumps(manifest).encode(), packed), strict=True):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd" if kind != tarfile.REGTYPE else ""
            entry.size = len(content) if kind == tarfile.REGTYPE else 0
            made.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def with_ids_of_before(records: Records) -> None:
    """Give chunks the ids that they had in the first format: 32 digits, of which half are left."""
    for record in records:
        row = record.get("row", record)
        if "fingerprint" in row:
            row["id"] += row["id"]


def flipped(archive: bytes) -> bytes:
    """Change a byte of the records, whose end is filled with zeros."""
    at = len(archive.rstrip(b"\0")) - 100
    return archive[:at] + bytes([archive[at] ^ 1]) + archive[at + 1 :]
