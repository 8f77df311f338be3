"""List the languages with a grammar, one row each.

To add a language, add its row to a file of its family.
"""

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING

from cqm.chunkers.languages import (
    c_family,
    data,
    dynamic,
    ecmascript,
    functional,
    kotlin,
    managed,
    native,
    scripting,
    sql,
)
from cqm.chunkers.languages.building import ROWS as BUILDING
from cqm.chunkers.languages.further import ROWS as FURTHER
from cqm.chunkers.languages.guessed import ROWS as GUESSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cqm.chunkers.languages.model import Language

__all__ = ["BY_NAME", "GUESSED", "LANGUAGES", "dialect_of"]

LANGUAGES = (
    *dynamic.ROWS,
    *scripting.ROWS,
    *ecmascript.ROWS,
    *managed.ROWS,
    *kotlin.ROWS,
    *c_family.ROWS,
    *native.ROWS,
    *functional.ROWS,
    *sql.ROWS,
    *data.ROWS,
    *BUILDING,
    *FURTHER,
)

BY_NAME: "Mapping[str, Language]" = MappingProxyType({row.name: row for row in (*GUESSED, *LANGUAGES)})


def dialect_of(language: str, text: str) -> str:
    """Choose the language with the best grammar for a text: headers of C++ and Objective-C share C's suffix."""
    row = BY_NAME.get(language)
    if row is None or not row.dialects:
        return language
    return _dialect_by_text(language, text)


@functools.lru_cache(maxsize=1)
def _dialect_by_text(language: str, text: str) -> str:
    # Each stage of chunking a file asks, and the patterns look at all of a text.
    lines = f"\n{text}"
    return next((name for name, is_for in BY_NAME[language].dialects if is_for(lines)), language)
