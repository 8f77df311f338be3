import re
from collections.abc import Mapping
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["row", "fault"])
def test_every_row_of_a_table_has_a_test_that_proves_it(name: str, tables: Mapping[str, frozenset[str]]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")]
    marked = {
        row
        for text in texts
        for mark in re.findall(rf"mark\.{name}\(([^)]*)\)", text)
        for row in re.findall(r'"([^"]+)"', mark)
    }
    assert tables[name] <= marked
