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
        declares: kind of the symbol that it defines, such as "method"; empty for other occurrences.
        receiver: what it is a member of, as written: "self.client" in "self.client.get()". Empty for none.
        types: names of types with which the receiver is declared nearby; empty where nothing tells.
        is_local: whether a function around it declares a variable or parameter of this name, which it means then.
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
