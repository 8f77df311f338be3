"""A base of a team: the answers of a fresh index on each machine, whatever is edited there; and what may go wrong."""

import base64
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
import qdrant_edge as edge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_double import Asked, QdrantDouble, refusal

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.errors import SnapshotError, StoreError
from cqm.index.model.options import CacheOptions, IndexOptions, StoreOptions
from cqm.index.model.query import Query
from cqm.index.model.status import IndexState
from cqm.index.model.symbols import OutlineQuery

pytestmark = pytest.mark.processes

QUESTIONS = ("compute_2", "which function gathers sums", "round a price", "added here", "value", "Rounding of prices")
FILES = {
    "src/sums.py": '"""Sums."""\n\n\ndef gather_sums(rows):\n    """Add up all rows."""\n    return sum(rows)\n',
    "src/prices.py": "class Price:\n    def round_price(self, digits):\n        return round(self.value, digits)\n",
    "docs/guide.md": "# Guide\n\n## Rounding\n\nPrices are rounded to cénts.\n\n## Sums\n\nSee gather_sums.\n",
    "empty.py": "",
    **{f"part_{number}.py": f"def compute_{number}(value):\n    return value + {number}\n" for number in range(4)},
}


def make_tree(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


class Answers(NamedTuple):
    """What an index finds and holds."""

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


@pytest.fixture
def options(tmp_path: Path, qdrant: QdrantDouble) -> Callable[..., IndexOptions]:
    """Options of a machine by its name, with bases on the double."""

    def of(machine: str, **store: object) -> IndexOptions:
        # A moved file has the vectors of its former path where the cache knows these, in any index: here, it does not.
        chosen = StoreOptions(**{"url": qdrant.url, "only_bases": True, "retry_seconds": 0.0, **store})  # type: ignore[arg-type]
        return IndexOptions(tmp_path / machine, workers=1, cache=CacheOptions(enabled=False), store=chosen)

    return of


@pytest.fixture
def published(tmp_path: Path, options: Callable[..., IndexOptions]) -> Path:
    """The tree of which the base `shop` was made, on another machine."""
    tree = make_tree(tmp_path / "tree")
    publish(tree, options("ci"))
    return tree


def publish(tree: Path, options: IndexOptions, name: str = "shop", keep: int = 7) -> tuple[str, ...]:
    """Publish a base; give the older ones that were deleted."""
    with Index.open(tree, options) as index:
        index.update()
        return index.publish(name, keep=keep).deleted


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The same files with other times, and local changes."""
    tree = make_tree(tmp_path / "clone")
    os.utime(tree / "src/sums.py", (1_000_000_000, 1_000_000_000))
    (tree / "part_1.py").unlink()
    (tree / "part_2.py").write_text("def compute_2(value):\n    return value - 2\n")
    (tree / "added.py").write_text("def added_here():\n    return gather_sums([1])\n")
    return tree


def writes(double: QdrantDouble) -> list[str]:
    """The requests that change something; those that ask are sent by POST, too."""
    asking = ("/points", "/query/batch", "/scroll", "/count")
    return [it.path for it in double.requests if it.method != "GET" and not it.path.endswith(asking)]


@pytest.mark.usefixtures("published")
def test_a_base_under_local_changes_answers_as_a_fresh_index_and_nobody_writes_into_it(
    clone: Path, tmp_path: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    expected = fresh(clone, options("any"), tmp_path / "fresh")
    before = {name: qdrant.ids(name) for name in qdrant.collections}
    qdrant.requests.clear()
    with Index.open(clone, options("b")) as index:
        summary = index.take("shop")
        assert answers(index) == expected
        # Only what differs was read into chunks and embedded, though all times differ.
        assert (summary.added, summary.modified, summary.deleted) == (1, 1, 1)
        assert summary.embedded == summary.chunks_written == 2
        assert summary.notes[0].startswith(f"Took the base shop: {len(FILES) - 1} chunks of {len(FILES)} files")
        assert index.update().chunks_written == 0
        assert index.status().server.startswith("the base shop (cqm_base-shop-")
    with Index.open(clone, options("b")) as index:
        assert answers(index) == expected
        assert index.update().chunks_written == 0
        index.export(tmp_path / "b.cqm")
    assert writes(qdrant) == []
    assert {name: qdrant.ids(name) for name in qdrant.collections} == before
    with Index.open(clone, options("other")) as index:
        index.restore(tmp_path / "b.cqm")
        assert answers(index) == expected


def copy_at_rest(folder: Path, to: Path) -> None:
    """Copy a folder as it is at one moment: again, where another thread wrote into it meanwhile."""

    def seen() -> object:
        return sorted((path, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*"))

    while True:
        with suppress(FileNotFoundError, shutil.Error):
            before = seen()
            shutil.copytree(folder, to)
            if seen() == before:
                return
        shutil.rmtree(to, ignore_errors=True)


@pytest.mark.usefixtures("published")
def test_a_machine_that_dies_at_any_moment_of_an_update_has_everything_after_the_next(
    clone: Path, tmp_path: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    copies: list[str] = []

    def copy(_: Asked) -> None:
        # A request waits for this: what is on disk now is what a dead process leaves.
        if len(copies) < 12:
            copies.append(f"copy{len(copies)}")
            copy_at_rest(tmp_path / "b", tmp_path / copies[-1])

    with Index.open(clone, options("b")) as index:
        index.take("shop")
        qdrant.rule = copy
        more = FILES["part_3.py"] + "\n\ndef more(value):\n    return compute_3(value)\n"
        for edit in (
            writing("src/sums.py", TEXTS[-3]),
            lambda tree: (tree / "part_2.py").unlink(),
            writing("part_3.py", more),
            lambda tree: (tree / "part_0.py").rename(tree / "part_7.py"),
            writing("part_2.py", FILES["part_2.py"]),
        ):
            edit(clone)
            index.update()
        qdrant.rule = lambda _: None
    expected = fresh(clone, options("any"), tmp_path / "fresh")
    assert len(copies) > 4
    for name in copies:
        with Index.open(clone, options(name)) as index:
            index.update()
            assert answers(index) == expected, name
            assert index.status().server
        shutil.rmtree(tmp_path / name)


Edit = Callable[[Path], None]
PATHS = ["src/sums.py", "src/prices.py", "docs/guide.md", "part_0.py", "part_3.py", "new/deep.py", "notes.md"]
TEXTS = [
    *FILES.values(),
    "def gather_sums(rows, start=0):\n    return start + sum(rows)\n\n\ndef value():\n    return compute_2(2)\n",
    "# Notes\n\nRounding of prices, and the value of rows.\n\n## Sums\n\nAdd up.\n",
    "class Price:\n    pass\n\n\nclass Value(Price):\n    def round_price(self):\n        return self.value\n",
]


def writing(path: str, text: str) -> Edit:
    def write(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    return write


def moving(folder: str) -> Edit:
    def move(root: Path) -> None:
        if (root / folder).is_dir():
            shutil.rmtree(root / f"{folder}2", ignore_errors=True)
            (root / folder).rename(root / f"{folder}2")

    return move


edits = st.one_of(
    st.builds(writing, st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.sampled_from(PATHS).map(lambda path: lambda root: (root / path).unlink(missing_ok=True)),
    st.sampled_from(["src", "docs"]).map(moving),
)


@pytest.mark.long
@pytest.mark.usefixtures("published")
@settings(
    max_examples=settings.default.max_examples // 8,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(rounds=st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=3))
def test_whatever_is_edited_over_a_base_it_answers_as_a_fresh_index(
    rounds: Sequence[Sequence[Edit]], options: Callable[..., IndexOptions]
) -> None:
    with TemporaryDirectory() as folder:
        tree = make_tree(Path(folder) / "tree")
        with Index.open(tree, replace(options("b"), home=Path(folder) / "home")) as index:
            index.take("shop")
            for some in rounds:
                for edit in some:
                    edit(tree)
                index.update()
            assert answers(index) == fresh(tree, options("b"), Path(folder) / "fresh")


def test_a_base_that_is_published_again_is_taken_when_somebody_asks_and_the_oldest_go(
    published: Path, clone: Path, tmp_path: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    with Index.open(clone, options("b")) as index:
        index.take("shop")
        before = answers(index)
        (published / "later.py").write_text("def compute_2():\n    return 'later'\n")
        assert publish(published, options("ci")) == ()
        assert answers(index) == before
        assert index.take("shop").deleted == 2
        assert answers(index) == before
        [first, second] = sorted(qdrant.collections)
        assert qdrant.aliases == {"cqm_base-shop": second}
        assert publish(published, options("ci"), keep=2) == (first,)
        assert publish(published, options("ci"), "other", keep=1) == ()
        assert answers(index) == before
    with Index.open(clone, options("copy")) as index:
        index.take("shop")
    assert publish(clone, options("copy"), "clone") == ()
    with Index.open(make_tree(tmp_path / "third"), options("third")) as index:
        index.take("clone")
        assert answers(index) == fresh(tmp_path / "third", options("third"), tmp_path / "fresh")


@pytest.mark.usefixtures("published")
def test_a_base_that_is_gone_is_told_and_the_index_goes_on_without_it(
    clone: Path, tmp_path: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    expected = fresh(clone, options("any"), tmp_path / "fresh")
    with Index.open(clone, options("b")) as index:
        index.take("shop")
        [name] = qdrant.collections
        gone = qdrant.collections.pop(name)
        with pytest.raises(StoreError, match=r"the base shop .* is gone") as told:
            index.search(Query("compute_2"))
        assert "cqm take shop" in told.value.remedy
    # The server has it again: nothing was lost here.
    qdrant.collections[name] = gone
    with Index.open(clone, options("b")) as index:
        assert answers(index) == expected
        assert index.update().chunks_written == 0
    qdrant.drop(qdrant.requests[0], name)
    with Index.open(clone, options("b")) as index:
        status = index.status()
        assert status.state is IndexState.UNAVAILABLE
        assert "cqm take shop" in status.unavailable
        with pytest.raises(StoreError, match="There is no base shop"):
            index.take("shop")
        summary = index.update()
        assert any("cqm take shop" in note for note in summary.notes)
        assert answers(index) == expected


@pytest.mark.usefixtures("published")
def test_a_server_that_is_down_is_told_and_the_layer_is_not_lost(
    clone: Path, tmp_path: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    with Index.open(clone, options("b")) as index:
        index.take("shop")
        qdrant.stop()
        with pytest.raises(StoreError, match="cannot be reached"):
            index.search(Query("compute_2"))
        (clone / "part_3.py").write_text("def compute_3(value):\n    return 3 * value\n")
        with pytest.raises(StoreError, match="cannot be reached"):
            index.update(["part_3.py"])
    with pytest.raises(StoreError, match="cannot be opened: it cannot be reached") as told:
        Index.open(clone, options("b"))
    assert "Start it, or correct store.url" in told.value.remedy
    qdrant.start()
    with Index.open(clone, options("b")) as index:
        assert index.update().chunks_written == 1
        assert answers(index) == fresh(clone, options("b"), tmp_path / "fresh")


@pytest.mark.usefixtures("published")
def test_another_server_or_none_is_told_and_nothing_is_asked_there(
    clone: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    with Index.open(clone, options("b")) as index:
        index.take("shop")
    qdrant.requests.clear()
    with Index.open(clone, options("b", url="")) as index:
        assert "not what store.url names now" in index.status().unavailable
        with pytest.raises(StoreError, match=r"store\.url names none"):
            index.take("shop")
        with pytest.raises(StoreError, match=r"store\.url names none"):
            index.publish("shop")
        index.update()
        assert index.status().server == ""
    assert qdrant.requests == []


@pytest.mark.usefixtures("published")
def test_other_options_and_names_are_refused_with_what_to_do(clone: Path, options: Callable[..., IndexOptions]) -> None:
    other = replace(options("b"), chunk=ChunkOptions(max_tokens=300))
    with (
        Index.open(clone, other) as index,
        pytest.raises(SnapshotError, match=r"base shop .* chunk\.max_tokens is 300 and was 512") as refused,
    ):
        index.take("shop")
    assert "`cqm publish shop`" in refused.value.remedy
    with Index.open(clone, options("b")) as index:
        with pytest.raises(StoreError, match="There is no base other") as unknown:
            index.take("other")
        assert unknown.value.remedy == "There are: shop."
        for name in ("", "a/b", "..", "x" * 61, "a\n"):
            with pytest.raises(StoreError, match="no name of a base"):
                index.take(name)
            with pytest.raises(StoreError, match="no name of a base"):
                index.publish(name)
        with pytest.raises(SnapshotError, match="not complete"):
            index.publish("shop")


@pytest.mark.usefixtures("published")
def test_bases_alone_lie_on_the_server_where_that_is_asked_for(
    clone: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    with Index.open(clone, options("b")) as index:
        index.update()
        assert (index.status().server, len(qdrant.collections)) == ("", 1)
    with Index.open(clone, options("b", only_bases=False)) as index:
        index.update()
        assert index.status().server
        assert len(qdrant.collections) == 2
        # Also there, what differs from a base is in the folder.
        index.take("shop")
    assert len(qdrant.collections) == 1


def test_a_base_that_cannot_be_made_whole_leaves_the_one_of_before(
    published: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    aliases, collections = dict(qdrant.aliases), set(qdrant.collections)
    qdrant.rule = lambda asked: (
        refusal(507, "no space left") if asked.method == "PUT" and asked.path.endswith("/points") else None
    )
    with pytest.raises(StoreError, match="it is full"):
        publish(published, options("ci"))
    qdrant.rule = lambda _: None
    assert (qdrant.aliases, set(qdrant.collections)) == (aliases, collections)


def changed_part(double: QdrantDouble, change: Callable[[bytes], bytes | None]) -> None:
    """Change the file of rows in the only base, which has one part."""
    shard, part = next(iter(double.collections.values())), f"{1 << 64:032x}"
    [record] = shard.retrieve([part], with_payload=True, with_vector=False)
    content = change(base64.b64decode(str((record.payload or {})["bytes"])))
    if content is None:
        shard.update(edge.UpdateOperation.delete_points([part]))
        return
    payload = {"path": "", "bytes": base64.b64encode(content).decode()}
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(part, {}, payload)]))


def with_row(change: Callable[[dict[str, object]], object], of: str) -> Callable[[bytes], bytes]:
    """Change a record of a kind, told by one of its fields, with right sizes and checksum."""
    import gzip
    import hashlib
    import io
    import tarfile

    def rewrite(content: bytes) -> bytes:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            manifest, packed = (archive.extractfile(it) for it in archive.getnames())
            assert manifest
            assert packed
            told, lines = json.load(manifest), gzip.decompress(packed.read()).splitlines()
        records = [json.loads(line) for line in lines]
        change(next(record for record in records if of in record))
        text = b"".join(json.dumps(record).encode() + b"\n" for record in records)
        again = gzip.compress(text)
        told["records"] = [len(again), len(text), hashlib.sha256(again).hexdigest()]
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, it in (("snapshot.json", json.dumps(told).encode()), ("records.jsonl.gz", again)):
                entry = tarfile.TarInfo(name)
                entry.size = len(it)
                archive.addfile(entry, io.BytesIO(it))
        return out.getvalue()

    return rewrite


def flipped(content: bytes) -> bytes:
    """Change a byte of the records, whose end is filled with zeros."""
    at = len(content.rstrip(b"\0")) - 100
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


HOSTILE: dict[str, Callable[[bytes], bytes | None]] = {
    "no rows": lambda _: None,
    "no file": lambda content: content[:1500],
    "a byte changed": flipped,
    "a path above": with_row(lambda it: it.update(path="../outside.py"), "chunks"),
    "a chunk of another file": with_row(lambda it: it.update(path="other.py"), "fingerprint"),
    "no id": with_row(lambda it: it.update(id="../../x"), "fingerprint"),
    "no line": with_row(lambda it: it.update(end_line=0), "fingerprint"),
    "a space that is not there": with_row(lambda it: it.update(space="../x"), "fingerprint"),
    "a large number": with_row(lambda it: it.update(tokens=1 << 60), "fingerprint"),
    "counts of another kind": with_row(lambda it: it.update(name="path_terms"), "indices"),
    "more than all": with_row(lambda it: it.update(points=0), "indices"),
    "a short list": with_row(lambda it: it.update(counts="01000000"), "indices"),
    "no list": with_row(lambda it: it.update(counts=3), "indices"),
}
"""What somebody may make of the rows of a base."""


def refusal_of(index: Index) -> str:
    """The remedy of a base that is refused; empty where it is taken."""
    try:
        index.take("shop")
    except SnapshotError as error:
        return error.remedy
    return ""


def test_damaged_and_hostile_rows_are_refused_and_the_index_stays(
    published: Path, clone: Path, options: Callable[..., IndexOptions], qdrant: QdrantDouble
) -> None:
    with Index.open(clone, options("b")) as index:
        index.update()
        before = answers(index)
        for name, change in HOSTILE.items():
            changed_part(qdrant, change)
            assert "`cqm publish shop`" in refusal_of(index), name
            publish(published, options("ci"), keep=1)
        collection = next(iter(qdrant.collections.values()))
        some = [int(it, 16) for it in qdrant.ids("cqm_base-shop")][:2]
        collection.update(edge.UpdateOperation.delete_points(some))
        with pytest.raises(SnapshotError, match="2 of its points are gone"):
            index.take("shop")
        assert answers(index) == before
