"""Occurrences of a name: their kinds, and the words standing for it."""

import re
from dataclasses import dataclass

DEFINITION, CALL, SUBCLASS, IMPORT, DECORATOR = "definition", "call", "subclass", "import", "decorator"
TYPE, DECLARATION, VALUE, STRING, COMMENT = "type", "declaration", "value", "string", "comment"
DOCUMENT = "document"
KINDS = (DEFINITION, CALL, SUBCLASS, IMPORT, DECORATOR, TYPE, DECLARATION, VALUE, STRING, COMMENT, DOCUMENT)
"""Kinds of occurrences. Of several in a line, the first of these tells the line's kind.

Other code may name a definition; a declaration is local: a variable or a parameter.
"""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An occurrence of a name in a program.

    Attributes:
        row, column: of its first character, from 0.
        kind: one of `KINDS`.
        declares: kind of the defined symbol, such as "method"; empty for other occurrences.
        receiver: its owner as written: "self.client" in "self.client.get()". Empty for none.
        types: names of the receiver's types in declarations nearby; empty if unknown.
        is_local: whether it means a variable or parameter declared in a function around it.
    """

    row: int
    column: int
    kind: str
    declares: str = ""
    receiver: str = ""
    types: tuple[str, ...] = ()
    is_local: bool = False


def word(name: str) -> re.Pattern[str]:
    """Match a name as a whole word, as `grep -w` does; marks of its own, as in "valid?", belong to it."""
    before = r"(?<!\w)" if re.match(r"\w", name) else ""
    after = r"(?!\w)" if re.search(r"\w$", name) else ""
    return re.compile(f"{before}{re.escape(name)}{after}")
