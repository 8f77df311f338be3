import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from cqm.chunkers.languages.table import LANGUAGES
from cqm.chunkers.model import later


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


def test_a_pattern_of_one_language_is_compiled_when_it_is_first_used() -> None:
    pattern = later(r"(a+", re.IGNORECASE)
    with pytest.raises(re.error, match="unterminated"):
        pattern.search("a")
    assert later(r"a+", re.IGNORECASE).sub("-", "bAab") == "b-b"


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in a value that are compiled later."""
    if isinstance(value, type(later(""))):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (it for field in fields(value) for it in patterns_in(getattr(value, field.name)))
    elif isinstance(value, tuple | list | Mapping):
        yield from (
            it for part in (value.values() if isinstance(value, Mapping) else value) for it in patterns_in(part)
        )


def test_every_pattern_that_is_compiled_later_is_one() -> None:
    assert LANGUAGES
    modules = [vars(module) for name, module in sys.modules.copy().items() if name.startswith("cqm.chunkers.languages")]
    patterns = [it for module in modules for it in patterns_in({**module, "__builtins__": None})]
    assert len(patterns) > 100
    for pattern in patterns:
        assert pattern.groups >= 0, pattern.pattern
