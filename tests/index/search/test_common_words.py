"""Text of words that are in many chunks is found where it stands as it is written."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

WORDS = ("parcel", "letter", "basket", "ladder", "window")
FILLER = "\n".join(f"    The weather of day {n}, and of the hills and rivers of day {n * 7}." for n in range(20))
FILES = {
    **{
        f"near/{'_'.join(some)}_{n}.py": f'def {some[0]}_{n}():\n    """{" ".join(some * 3)}."""\n'
        for some in combinations(WORDS, 4)
        for n in range(40)
    },
    "far/said.py": f'def said():\n    """\n{FILLER}\n    A parcel letter, basket ladder window opened.\n    """\n',
    "far/failed.py": f'def failed():\n    """\n{FILLER}\n    """\n'
    "    raise ValueError(f'parcel letter {name} basket ladder lost')\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("common"), FILES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ('"basket ladder window opened"', "far/said.py"),
        ('where is "parcel letter, basket ladder window" told', "far/said.py"),
        ("ValueError: parcel letter window basket ladder lost", "far/failed.py"),
    ],
)
def test_the_one_chunk_with_a_text_comes_first_though_many_have_its_words(
    index: Index, question: str, path: str
) -> None:
    assert index.search(Query(question)).hits[0].path == path
