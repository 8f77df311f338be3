"""Questions about paths are answered by the files as they are, whatever was asked before an edit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

FILES = {
    **{f"src/part_{n}.py": f"def part_{n}(box):\n    return box.part({n})\n" for n in range(4)},
    "web/pages/orders/index.tsx": "export default function Orders() {\n  return null;\n}\n",
    "README.md": "# Boxes\n\nAll of them.\n",
}
MANY_UPDATES = 70
"""More than a generation remembers the paths of."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with indexed_tree(tmp_path, FILES) as opened:
        yield opened


def paths(index: Index, question: str, **filters: tuple[str, ...]) -> list[str]:
    return [hit.path for hit in index.search(Query(question, **filters)).hits]


def write(index: Index, path: str, text: str) -> None:
    file = index.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    index.update([file])


def remove(index: Index, path: str) -> None:
    (index.root / path).unlink()
    index.update([index.root / path])


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("late/extra.py", "src/late/extra.py", "def extra():\n    return 1\n"),
        ("what license is this project under?", "LICENSE", "Permission is granted.\n"),
        ("GET /customers/5", "web/pages/customers/[id].tsx", "export default function Customer() {}\n"),
    ],
)
def test_a_file_that_came_is_found_by_its_path_and_one_that_went_is_not(
    index: Index, question: str, path: str, text: str
) -> None:
    assert path not in paths(index, question)[:1]
    write(index, path, text)
    assert paths(index, question)[0] == path
    remove(index, path)
    assert path not in paths(index, question)


def test_a_path_filter_keeps_what_it_matches_after_each_edit(index: Index) -> None:
    wanted = ("**/part_*.py",)
    assert len(paths(index, "box", include=wanted)) == 4
    write(index, "src/part_1.py", "def part_1(box):\n    return box.other\n")
    write(index, "src/part_9.py", "def part_9(box):\n    return box\n")
    remove(index, "src/part_0.py")
    assert {*paths(index, "box", include=wanted)} == {f"src/part_{n}.py" for n in (1, 2, 3, 9)}
    assert "src/part_9.py" not in paths(index, "box", exclude=("**/part_9.py",))


def test_paths_are_known_after_more_updates_than_are_remembered(index: Index) -> None:
    assert paths(index, "src/part_1.py")[0] == "src/part_1.py"
    for number in range(MANY_UPDATES):
        write(index, f"more/file_{number}.py", f"def file_{number}():\n    return {number}\n")
    remove(index, "src/part_1.py")
    assert paths(index, "more/file_0.py")[0] == "more/file_0.py"
    assert "no file of the index is called src/part_1.py" in index.search(Query("src/part_1.py")).degraded
