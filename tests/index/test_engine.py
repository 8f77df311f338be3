"""The index as its callers see it: what an update does, what a search then finds."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.changes import ChangesQuery
from cqm.index.model.errors import QueryError, ScanError, StoreError
from cqm.index.model.options import EmbeddingOptions, IndexOptions, ScanOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.index.status.status import read_status

pytestmark = pytest.mark.processes

GREETING = '''"""Greetings."""


def greet(name: str) -> str:
    """Say hello to somebody."""
    words = ["hello", name]
    return " ".join(words)
'''
PARSER = '''"""Reading of configuration files."""


class ConfigParser:
    """Reads key = value lines."""

    def parse_line(self, line: str) -> tuple[str, str]:
        """Split a line at its equals sign."""
        key, _, value = line.partition("=")
        return key.strip(), value.strip()
'''


def long_module(functions: int) -> str:
    """A module with functions that are too large to be packed together."""
    body = "\n".join(f"    total += table[{number}] * factor  # weigh entry {number}" for number in range(30))
    return "\n\n".join(
        f"def weigh_{n}(table, factor):\n    total = {n}\n{body}\n    return total" for n in range(functions)
    )


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(home=tmp_path / "home", workers=1)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "greeting.py").write_text(GREETING)
    (root / "src" / "parser.py").write_text(PARSER)
    (root / "README.md").write_text("# Demo\n\nHow to install the demo program.\n")
    return root


@pytest.fixture
def index(tree: Path, options: IndexOptions) -> Iterator[Index]:
    with Index.open(tree, options) as opened:
        yield opened


def first_path(index: Index, question: str, **filters: object) -> str:
    hits = index.search(Query(question, **filters)).hits  # type: ignore[arg-type]
    return hits[0].path if hits else ""


def test_a_search_finds_the_chunk_with_its_true_lines(index: Index, tree: Path) -> None:
    index.update()
    hit = index.search(Query("split a line of a configuration file at the equals sign")).hits[0]
    lines = (tree / hit.path).read_text().splitlines()
    assert hit.path == "src/parser.py"
    assert "\n".join(lines[hit.start_line - 1 : hit.end_line]).strip() == hit.text.strip()


def test_an_index_that_was_never_filled_answers_with_nothing_and_says_so(index: Index) -> None:
    answer = index.search(Query("anything"))
    assert (answer.hits, answer.chunks, answer.complete) == ((), 0, False)


def test_a_file_is_read_within_a_worker_whatever_size_is_allowed(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, replace(options, scan=ScanOptions(max_file_bytes=1_000_000_000))) as index:
        assert not index.update().failed


def test_an_unchanged_tree_is_not_read_again(index: Index) -> None:
    first = index.update()
    again = index.update()
    assert first.added == 3
    assert (again.added, again.modified, again.unchanged) == (0, 0, 3)
    assert (again.embedded, again.chunks_written, again.bytes_read) == (0, 0, 0)
    # What is told of the last update is of the last with something to do.
    told = index.status().last_update
    assert told
    assert (told.files, told.chunks, told.stages) == (3, first.chunks_written, first.stages)
    assert set(told.stages) == {"scanning", "parsing", "embedding", "writing"}
    assert 0 < sum(told.stages.values()) <= told.seconds <= first.seconds


def test_touching_one_line_embeds_only_the_chunk_that_it_changed(index: Index, tree: Path) -> None:
    module = tree / "src" / "weights.py"
    module.write_text(long_module(12))
    index.update()
    module.write_text(module.read_text().replace("total = 7", "total = 700"))
    summary = index.update()
    assert (summary.modified, summary.chunks_written, summary.chunks_deleted, summary.embedded) == (1, 1, 1, 1)
    assert summary.chunks_kept >= 11


def test_inserting_a_line_at_the_top_moves_the_lines_of_all_chunks_and_embeds_at_most_one(
    index: Index, tree: Path
) -> None:
    module = tree / "src" / "weights.py"
    module.write_text(long_module(12))
    index.update()
    before = {hit.symbol: hit.start_line for hit in index.search(Query("weigh_9 weigh_10", limit=50)).hits}
    module.write_text("import math\n\n" + module.read_text())
    summary = index.update()
    after = {hit.symbol: hit.start_line for hit in index.search(Query("weigh_9 weigh_10", limit=50)).hits}
    assert summary.embedded <= 1
    assert after["weigh_9"] == before["weigh_9"] + 2


def test_an_edit_is_found_and_what_it_replaced_is_not(index: Index, tree: Path) -> None:
    index.update()
    (tree / "src" / "greeting.py").write_text(GREETING.replace("hello", "xylophone"))
    index.update(["src/greeting.py"])
    assert first_path(index, "xylophone", mode=SearchMode.LEXICAL) == "src/greeting.py"
    assert first_path(index, '"hello"', mode=SearchMode.LEXICAL) in {"", "src/greeting.py"}
    assert all('"hello"' not in hit.text for hit in index.search(Query("hello")).hits)


def test_a_deleted_file_a_deleted_folder_and_a_renamed_file_leave_nothing_behind(index: Index, tree: Path) -> None:
    index.update()
    (tree / "README.md").unlink()
    (tree / "src" / "parser.py").rename(tree / "reader.py")
    summary = index.update(["README.md", "src/parser.py", "reader.py"])
    assert (summary.added, summary.deleted) == (1, 2)
    assert first_path(index, "ConfigParser parse_line") == "reader.py"
    shutil.rmtree(tree / "src")
    assert index.update(["src"]).deleted == 1
    assert {hit.path for hit in index.search(Query("greet parse_line install demo", limit=50)).hits} == {"reader.py"}


def test_a_path_that_is_given_is_read_even_when_size_and_time_are_as_before(index: Index, tree: Path) -> None:
    target = tree / "src" / "greeting.py"
    index.update()
    times = (target.stat().st_atime_ns, target.stat().st_mtime_ns)
    target.write_text(GREETING.replace("hello", "holla"))
    os.utime(target, ns=times)
    index.update([target])
    assert first_path(index, "holla", mode=SearchMode.LEXICAL) == "src/greeting.py"


def test_a_path_outside_of_the_root_is_refused(index: Index, tmp_path: Path) -> None:
    with pytest.raises(ScanError, match="outside"):
        index.update([tmp_path / "elsewhere.py"])


def test_a_file_that_becomes_too_large_leaves_the_index_and_is_listed_with_its_reason(index: Index, tree: Path) -> None:
    index.update()
    (tree / "src" / "parser.py").write_text(PARSER + "# filler\n" * 200_000)
    summary = index.update()
    assert summary.skipped["too large"] == 1
    assert ("src/parser.py", "too large") in {(skip.path, skip.reason) for skip in index.skipped()}
    assert first_path(index, "ConfigParser parse_line") != "src/parser.py"


def test_an_update_that_is_cancelled_leaves_an_index_that_answers_and_the_next_one_completes_it(
    tree: Path, options: IndexOptions
) -> None:
    for number in range(250):
        (tree / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    with Index.open(tree, options) as index:
        summary = index.update(cancelled=lambda: True)
        assert summary.cancelled
        answer = index.search(Query("function_1 function_2 function_3"))
        assert answer.hits
        assert not answer.complete
        assert 0 < summary.added < 253
        rest = index.update()
        assert summary.added + rest.added == 253
        assert index.search(Query("function_249")).complete


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"languages": ("markdown",)}, {"README.md"}),
        ({"include": ("src/**",)}, {"src/greeting.py", "src/parser.py"}),
        ({"include": ("*.md",)}, {"README.md"}),
        ({"include": ("src/",), "exclude": ("greeting.py",)}, {"src/parser.py"}),
        ({"exclude": ("src/**",)}, {"README.md"}),
        ({"kinds": ("section",)}, {"README.md"}),
        ({"changed_since": 4e9}, set()),
    ],
)  # fmt: skip
def test_filters_keep_only_what_they_name(index: Index, filters: dict[str, object], expected: set[str]) -> None:
    index.update()
    for mode in SearchMode:
        text = "e" if mode.is_of_lines else "demo greet parse line name install"
        query = Query(text, limit=50, mode=mode, **filters)  # type: ignore[arg-type]
        assert {hit.path for hit in index.search(query).hits} == expected


def test_pages_follow_each_other_without_gap_or_repeat(index: Index, tree: Path) -> None:
    (tree / "weights.py").write_text(long_module(30))
    index.update()
    whole = index.search(Query("weigh table factor", limit=20)).hits
    first = index.search(Query("weigh table factor", limit=8))
    second = index.search(Query("weigh table factor", limit=8, cursor=first.next_cursor))
    assert [*first.hits, *second.hits] == list(whole[:16])


@pytest.mark.parametrize("query", [Query(" "), Query("x", limit=0), Query("x", limit=101), Query("x", cursor="abc")])
def test_a_query_that_cannot_be_answered_is_refused(index: Index, query: Query) -> None:
    with pytest.raises(QueryError):
        index.search(query)


def test_without_an_embedder_search_is_lexical(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, replace(options, embedding=EmbeddingOptions(provider="none"))) as index:
        assert index.update().embedded == 0
        assert first_path(index, "ConfigParser") == "src/parser.py"
        answer = index.search(Query("ConfigParser", mode=SearchMode.SEMANTIC))
        assert answer.mode is SearchMode.LEXICAL
        assert "no embedding provider" in answer.degraded


def test_a_provider_that_is_down_leaves_files_searchable_by_words_and_listed_as_failed(
    tree: Path, options: IndexOptions
) -> None:
    dead = EmbeddingOptions(provider="openai", model="m", base_url="http://127.0.0.1:9/v1", timeout_seconds=1)
    with Index.open(tree, replace(options, embedding=dead)) as index:
        summary = index.update()
        assert {problem.path for problem in summary.failed} == {"README.md", "src/greeting.py", "src/parser.py"}
        answer = index.search(Query("ConfigParser"))
        assert answer.hits[0].path == "src/parser.py"
        assert (answer.mode, answer.failed_files) == (SearchMode.LEXICAL, 3)
        assert answer.degraded


def test_another_process_is_told_who_has_the_index(index: Index, tree: Path, options: IndexOptions) -> None:
    script = (
        "import sys; from pathlib import Path; from cqm.index.engine import Index\n"
        "from cqm.index.model.options import IndexOptions\n"
        "from cqm.index.model.errors import IndexInUseError\n"
        "try: Index.open(Path(sys.argv[1]), IndexOptions(home=Path(sys.argv[2])))\n"
        "except IndexInUseError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tree), str(options.home)], capture_output=True, text=True, check=True
    )
    assert f"process {os.getpid()}" in done.stdout


def test_an_index_survives_its_process_and_is_private(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        index.update()
        folder = index.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    with Index.open(tree, options) as index:
        assert first_path(index, "ConfigParser") == "src/parser.py"
        assert index.update().unchanged == 3


def test_in_a_project_the_index_lies_below_the_root_and_is_not_indexed_itself(tree: Path) -> None:
    with Index.open(tree, IndexOptions(in_project=True, workers=1)) as index:
        assert index.update().added == 3
        assert index.folder.parent == tree / ".cqm"
        assert index.update().added == 0


def test_changed_options_build_a_new_generation_while_the_old_one_answers(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        index.update()
        old = index.status().chunks
    (tree / "weights.py").write_text(long_module(8))
    with Index.open(tree, replace(options, chunk=ChunkOptions(max_tokens=128, min_tokens=16))) as index:
        assert first_path(index, "ConfigParser") == "src/parser.py"
        assert index.status().chunks == old
        summary = index.update(["weights.py"])
        assert summary.added == 4
        assert index.search(Query("weigh_3")).hits[0].path == "weights.py"
    assert len([path for path in index.folder.iterdir() if path.is_dir()]) == 1
    with Index.open(tree, replace(options, chunk=ChunkOptions(max_tokens=128, min_tokens=16))) as index:
        assert index.update().unchanged == 4


def test_a_single_file_can_be_indexed(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree / "src" / "parser.py", options) as index:
        assert index.update().added == 1
        assert index.search(Query("parse_line")).hits[0].path == "parser.py"


def test_status_counts_files_chunks_and_what_differs_on_disk(index: Index, tree: Path) -> None:
    assert not index.status().exists
    index.update()
    (tree / "new.py").write_text("x = 1\n")
    (tree / "README.md").unlink()
    status = index.status(look=True)
    assert status.files == {"indexed": 3}
    assert status.chunks == sum(status.languages.values()) >= 3
    assert status.complete
    assert status.pending is not None
    assert status.pending == 2
    assert status.space.startswith("embedded/")


def test_status_is_read_while_another_process_has_the_index(index: Index, tree: Path, options: IndexOptions) -> None:
    index.update()
    assert read_status(tree, options).chunks == index.status().chunks


def test_the_status_of_a_root_that_was_never_indexed_creates_nothing(tree: Path, options: IndexOptions) -> None:
    assert not read_status(tree, options).exists
    assert options.home is not None
    assert not options.home.exists()


def test_a_root_that_does_not_exist_is_named(tmp_path: Path, options: IndexOptions) -> None:
    with pytest.raises(ScanError, match="nowhere"):
        Index.open(tmp_path / "nowhere", options)


def test_files_that_no_rule_skips_are_indexed_as_the_scan_options_say(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, replace(options, scan=ScanOptions(exclude=("*.md",)))) as index:
        assert index.update().added == 2


def test_large_updates_in_worker_processes_give_the_same_index_as_one_process(tree: Path, tmp_path: Path) -> None:
    for number in range(120):
        (tree / f"module_{number}.py").write_text(long_module(12).replace("weigh", f"weigh_{number}"))
    found = []
    for workers in (1, 2):
        with Index.open(tree, IndexOptions(home=tmp_path / str(workers), workers=workers)) as index:
            assert index.update().added == 123
            best = index.search(Query("weigh_77_3")).hits[0]
            found.append((best, set(index._lineage.serving.store.ids())))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "half.ipynb",
            r'{"cells": [{"cell_type": "code", "source": ["weigh = \"half \ud83d pair\"\n"]}], "nbformat": 4}',
        ),
        ("half.json", r'{"weigh \ud83d": "half \ud83d pair \ud83d\ude00", "more": ["\udE00"]}'),
        (
            "issue.json",
            r'[{"number": 7, "title": "weigh \ud83d", "body": "half pair", "html_url": "https://github.com/a/b/issues/7"}]',
        ),
    ],
)
def test_half_a_surrogate_pair_in_json_does_not_end_an_update(
    tree: Path, options: IndexOptions, name: str, text: str
) -> None:
    """Once a notebook with one ended it with a TypeError."""
    (tree / name).write_text(text)
    with Index.open(tree, options) as index:
        assert not index.update().failed
        assert any(hit.path == name for hit in index.search(Query("half pair weigh")).hits)


def test_a_query_with_half_a_surrogate_pair_is_refused(index: Index) -> None:
    with pytest.raises(QueryError, match="Unicode"):
        index.search(Query("\ud800"))


@pytest.mark.parametrize(
    "ask",
    [
        *(
            lambda index, cursor=cursor: index.search(Query("greet", cursor=cursor))
            for cursor in ("9" * 5000, "٣", "-1")
        ),
        *(lambda index, cursor=cursor: index.usages("greet", cursor=cursor) for cursor in ("9" * 5000, "٣")),
        lambda index: index.search(Query("greet", mode=SearchMode.EXACT, cursor="9" * 5000)),
        lambda index: index.outline(OutlineQuery(cursor="9" * 5000)),
        lambda index: index.changes(ChangesQuery(cursor="9" * 5000)),
        lambda index: index.outline(OutlineQuery("a\0")),
        lambda index: index.read(ReadQuery("a\0")),
        lambda index: index.read(ReadQuery("greet", base="a\0")),
        lambda index: index.changes(ChangesQuery(path="a\0")),
        lambda index: index.update(["a\0"]),
    ],
)
def test_a_cursor_that_no_page_gave_and_a_path_with_a_null_character_are_refused_in_words(
    index: Index, ask: Callable[[Index], object]
) -> None:
    with pytest.raises(CqmError) as raised:
        ask(index)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("name", ["_", "__", "x", "é", "Foo._"])
def test_names_of_one_character_are_asked_for_as_others(index: Index, tree: Path, name: str) -> None:
    (tree / "names.py").write_text("from gettext import gettext as _\n\nx = _('text')\né = 1\n")
    index.update()
    index.search(Query(name))
    index.search(Query(f"src/{name}", mode=SearchMode.SEMANTIC))
    assert index.usages(name).name == name


def test_status_counts_only_files_that_differ_not_those_that_were_just_written(index: Index, tree: Path) -> None:
    index.update()
    assert index.status(look=True).pending == 0
    (tree / "new.py").write_text("x = 1\n")
    (tree / "README.md").unlink()
    assert index.status(look=True).pending == 2


@pytest.mark.fault("permission lost")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_becomes_unreadable_keeps_its_chunks_and_is_listed_as_failed(index: Index, tree: Path) -> None:
    index.update()
    (tree / "src").chmod(0)
    try:
        summary = index.update()
    finally:
        (tree / "src").chmod(0o700)
    assert [problem.path for problem in summary.failed] == ["src"]
    assert first_path(index, "ConfigParser parse_line") == "src/parser.py"


def test_an_index_folder_that_is_a_link_is_refused(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tree / ".cqm").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="link"):
        Index.open(tree, IndexOptions(in_project=True))
    assert not list((tmp_path / "elsewhere").iterdir())
