"""Parents that many of their parts answer for, and the declarations that a chunk stands in, as an answer tells them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Query

pytestmark = pytest.mark.processes


def method(name: str, words: str) -> str:
    lines = "\n".join(f"        self.{words}_{number} = {number} * self.{words}" for number in range(6))
    return f"    def {name}(self):\n{lines}\n"


METER = "\n".join(
    [
        "class Meter:",
        '    """Measures."""',
        "",
        method("flux", "flux"),
        method("flux_sum", "flux"),
        method("zero", "nought"),
    ]
)
FLUX = "# Guide\n\n## Flux\n\n### Coils\n\nWind the flux coil.\n\n### Cores\n\nThe flux core is iron.\n"
GUIDE = FLUX + "\n## Other\n\nNothing of it is told here, whatever is asked, since it is long and dull.\n"


Ask = Callable[..., Answer]


@pytest.fixture
def ask(tmp_path: Path, options: IndexOptions) -> Iterator[Ask]:
    root = tmp_path / "lab"
    (root / "far").mkdir(parents=True)
    (root / "meter.py").write_text(METER)
    (root / "far" / "big.py").write_text(METER + "\n".join(method(f"other_{n}", f"else_{n}") for n in range(40)))
    small = replace(options, chunk=ChunkOptions(max_tokens=128, min_tokens=0, apart=True))
    with Index.open(root, small) as index:
        index.update()
        yield lambda text, **changes: index.search(Query(text, **changes))


def test_a_small_class_of_which_most_methods_are_hits_is_given_with_its_other_chunks(ask: Ask) -> None:
    found = ask("flux", limit=2, include=("meter.py",))
    assert {hit.symbol for hit in found.hits} == {"Meter.flux", "Meter.flux_sum"}
    (parent,) = found.parents
    assert (parent.path, parent.symbol) == ("meter.py", "Meter")
    lines = METER.split("\n")
    covered = {*range(1, len(lines) + 1)}
    for chunk in (*found.hits, *parent.others):
        assert chunk.text.rstrip().split("\n") == lines[chunk.start_line - 1 : chunk.end_line]
        covered -= {*range(chunk.start_line, chunk.end_line + 1)}
    assert not "".join(lines[number - 1] for number in covered).strip()


def test_of_a_large_class_and_of_one_with_a_single_hit_there_is_no_parent(ask: Ask) -> None:
    assert ask("flux", limit=2, include=("far",)).parents == ()
    assert ask("flux", limit=1, include=("meter.py",)).parents == ()


def test_an_answer_that_is_kept_has_its_parents_too(ask: Ask) -> None:
    first, second = (ask("flux", limit=2, include=("meter.py",)) for _ in range(2))
    assert first == second
    assert second.parents


def test_a_hit_tells_the_declarations_that_it_stands_in_and_no_comments(ask: Ask) -> None:
    contexts = {hit.symbol: hit.context for hit in ask("flux nought class", limit=4, include=("meter.py",)).hits}
    assert contexts["Meter.flux"] == "class Meter:"
    assert contexts["Meter"] == ""


@contextmanager
def guide(tmp_path: Path, options: IndexOptions) -> Iterator[Index]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text(GUIDE)
    with Index.open(tmp_path / "docs", replace(options, chunk=ChunkOptions(max_tokens=64, min_tokens=0))) as index:
        index.update()
        yield index


def test_sections_under_one_heading_are_parts_of_it(tmp_path: Path, options: IndexOptions) -> None:
    with guide(tmp_path, options) as index:
        found = index.search(Query("flux coil core", limit=2))
    assert [parent.symbol for parent in found.parents] == ["Guide > Flux"]


@pytest.mark.row("B5")
def test_a_hierarchical_section_is_given_whole_around_its_children_and_named_above_one_alone(
    tmp_path: Path, options: IndexOptions
) -> None:
    told = [" ".join(f"A {part} part {number} of the turbine is told here." for number in range(16)) for part in "ab"]
    root = tmp_path / "lab"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "ferry.md").write_text(f"# Ferry\n\nIntro.\n\n## Engines\n\n{told[0]}\n\n{told[1]}\n")
    rules = ("docs/** hierarchical:child_tokens=256,parent_tokens=1024",)
    with Index.open(root, replace(options, chunk=ChunkOptions(rules=rules))) as index:
        index.update()
        both = index.search(Query("the parts of the turbine", limit=2))
        assert [(parent.symbol, parent.path) for parent in both.parents] == [("Ferry > Engines", "docs/ferry.md")]
        assert "".join(hit.text for hit in both.hits).count("turbine") == 32
        (alone,) = index.search(Query("b part 3 of the turbine", limit=1)).hits
        assert alone.symbol == "Ferry > Engines"
