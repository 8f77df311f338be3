import re
from pathlib import Path


def test_every_row_of_the_specification_has_a_test_that_proves_it(rows: frozenset[str]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")]
    marked = {
        row for text in texts for mark in re.findall(r"mark\.row\(([^)]*)\)", text) for row in re.findall(r"\w+", mark)
    }
    assert rows <= marked
