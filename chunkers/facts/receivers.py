"""Tell a variable's declared types, by the words around its use: enough to tell two `close` apart."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_TEXT = 20_000
_HIGHEST = 40
_VARIABLE = re.compile(r"[$@]?\w+")
_OWN = frozenset({"self", "this", "cls", "super", "Self", "base"})
_FUNCTION = re.compile(r"\w*(function|method|lambda|closure|constructor)\w*|block|singleton_method")
_TYPE = r"(?:[\w$]+(?:\.|::|\\))*([A-Za-z_]\w*)"
_NO_TYPES = frozenset(
    {"return", "new", "var", "val", "let", "const", "else", "await", "final", "mut", "in", "auto", "if"}
)


def types_of(receiver: str, leaf: "Node", data: bytes) -> tuple[str, ...]:
    """Return the names of the types which a receiver is declared or made with, in the functions around a name.

    Parameters:
        receiver: as written. Only a plain variable has types.
        leaf: the name after it.
        data: the parsed bytes.
    """
    if not _VARIABLE.fullmatch(receiver) or receiver in _OWN:
        return ()
    node, outermost = leaf.parent, None
    for _ in range(_HIGHEST):
        if node is None:
            break
        if _FUNCTION.fullmatch(node.type):
            outermost = node
        node = node.parent
    if outermost is None:
        return ()
    # Up to the end of the line: a declaration may be the line itself.
    text = text_of(outermost, data)[: leaf.start_byte - outermost.start_byte][-_MOST_TEXT:]
    found = (name for match in _declared(receiver).finditer(text) for name in match.groups() if name)
    return tuple(dict.fromkeys(name for name in found if name not in _NO_TYPES))


@lru_cache(maxsize=256)
def _declared(variable: str) -> re.Pattern[str]:
    name = re.escape(variable)
    whole = rf"(?<![\w.$]){name}(?!\w)"
    return re.compile(
        # As in "c: Context", "c: &mut Context", "c: Optional[Context]".
        rf"{whole}\??\s*:\s*[&*\"']*(?:mut |dyn |impl |Optional\[)*{_TYPE}"
        # As in "c *gin.Context", "p Parser,".
        rf"|{whole}\s+(?:\.\.\.)?[*&\[\]]+{_TYPE}"
        rf"|{whole}\s+(?:\w+\.)?([A-Z]\w*)\s*[,)]"
        # As in "Context c", "Context<T> c", "Context *c".
        rf"|(?<![\w.]){_TYPE}(?:<[\w\s,.?<>]{{0,80}}>)?[\s*&]+(?:const )?{whole}\s*[=,;):]"
        # As in "c := &Context{", "c = new Context(" and other makings.
        rf"|{whole}\s*:?=\s*(?:await |new |&)*(?:[a-z_]\w*(?:\.|::))*([A-Z]\w*)(?:::\w+)?\s*[({{<]"
        # As in "with Context() as c".
        rf"|([A-Z]\w*)\([^()\n]{{0,200}}\)\s+as\s+{whole}"
    )
