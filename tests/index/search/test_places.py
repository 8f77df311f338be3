"""Chunks like a place: by its chunk's words and vector, in place of a question."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query, SearchMode

pytestmark = pytest.mark.processes

READ = '''def read_{thing}(path):
    """Read the {thing} from a file, line by line."""
    with open(path) as lines:
        return [line.split("=") for line in lines if not line.startswith("#")]
'''
PAINT = "class Canvas:\n    def paint(self, colour):\n        self.pixels.fill(colour)\n        self.screen.refresh()\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("places")
    tree = folder / "tree"
    (tree / "lib").mkdir(parents=True)
    for thing in ("settings", "aliases", "secrets_of_others"):
        (tree / "lib" / f"{thing}.py").write_text(READ.format(thing=thing))
    (tree / "canvas.py").write_text(f"{PAINT}\n\n\n{READ.format(thing='brushes')}")
    with Index.open(tree, IndexOptions(home=folder / "home", workers=1)) as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize("mode", [mode for mode in SearchMode if not mode.is_of_lines])
def test_chunks_like_those_at_a_place_come_first_and_the_place_itself_is_left_out(
    index: Index, mode: SearchMode
) -> None:
    found = index.search(Query("", like="lib/settings.py:3", mode=mode))
    assert found.like == "lib/settings.py:1-4 (read_settings)"
    assert found.mode is mode
    assert {hit.path for hit in found.hits[:2]} == {"lib/aliases.py", "lib/secrets_of_others.py"}
    assert "lib/settings.py" not in {hit.path for hit in found.hits}
    assert all(sum(hit.parts.values()) == pytest.approx(hit.score) for hit in found.hits)


def test_a_question_that_is_such_a_place_is_answered_by_it(index: Index) -> None:
    found = index.search(Query("./lib/settings.py:3"))
    assert found.hits[0].path == "lib/settings.py"
    assert found.like == ""


def test_of_lines_of_several_chunks_all_are_left_out(index: Index) -> None:
    found = index.search(Query("", like="canvas.py:2-9", limit=20))
    assert found.like.startswith("canvas.py:1-11 (")
    assert "canvas.py" not in {hit.path for hit in found.hits}
    assert found.hits


def test_a_blank_line_stands_for_what_follows_it(index: Index) -> None:
    options = replace(index.options.chunk, min_tokens=0)
    with Index.open(index.root, replace(index.options, home=index.folder / "other", chunk=options)) as other:
        other.update()
        assert "read_brushes" in other.search(Query("", like="canvas.py:6")).like


def test_filters_and_pages_are_those_of_any_search(index: Index) -> None:
    like = Query("", like="lib/settings.py:3", limit=1)
    first = index.search(like)
    second = index.search(replace(like, cursor=first.next_cursor))
    both = index.search(replace(like, limit=2))
    assert first.hits + second.hits == both.hits
    assert {hit.path for hit in index.search(replace(like, include=("canvas.py",))).hits} == {"canvas.py"}


def test_a_file_is_meant_by_the_end_of_its_path_in_any_case(index: Index) -> None:
    whole = index.search(Query("", like="lib/settings.py:3"))
    for like in ("settings.py:3", "Lib\\Settings.py:3"):
        assert index.search(Query("", like=like)).hits == whole.hits


@pytest.mark.parametrize("like", ["lib/none.py:1", "setings.py:3", "lib/settings.py:900", "lib/settings.py:0", "lib"])
def test_a_place_that_is_not_there_is_an_error_with_a_remedy(index: Index, like: str) -> None:
    with pytest.raises(QueryError) as refused:
        index.search(Query("", like=like))
    assert refused.value.remedy
