"""Tell the definitions of lists by their heads, in any Lisp."""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Forms(NamedTuple):
    """Heads of lists with a meaning.

    Attributes:
        kinds: of a definition, by its head; further heads beginning with "def" are told by their words.
        imports, leading: heads.
        groups: heads of lists whose elements count as elements of the list around them.
        modules: heads of lists with a name and members.
    """

    kinds: "Mapping[str, str]"
    imports: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()


_DEFINES = re.compile(
    r"(?:[\w.+*-]+[/:])*(?:cl-|ert-|pcase-|transient-)?(?:def|define)(?![a-z]*ault)[\w*/-]*[!+]?", re.ASCII
)
_WORDS = (
    ("macro", "macro"),
    ("syntax", "macro"),
    ("test", "test"),
    ("class", "class"),
    ("struct", "struct"),
    ("record", "struct"),
    ("type", "type"),
    ("condition", "exception"),
    ("method", "method"),
    ("const", "constant"),
    ("var", "variable"),
    ("param", "variable"),
    ("custom", "variable"),
    ("once", "variable"),
    ("group", "variable"),
    ("face", "variable"),
    ("package", "module"),
)


def kind_of_head(head: str, forms: Forms) -> str:
    """Return the kind defined by the head of a list; empty for none."""
    known = forms.kinds.get(head)
    if known is not None:
        return known
    if not _DEFINES.fullmatch(head):
        return ""
    short = re.split("[/:]", head)[-1] if not head.startswith(("define/", "define-")) else head
    known = forms.kinds.get(short)
    return known or next((kind for word, kind in _WORDS if word in head), "function")
