"""Tell calls in the lists of a Lisp: a list calls its first symbol, but for parameters and bound variables."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import text_of
from cqm.chunkers.languages.usage_nodes import UsageNodes
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

_BINDING = later(
    r"(let\*?|letrec\*?|let-values|let\*-values|if-let\*?|when-let\*?|do\*?|dolist|dotimes|(cl-)?(flet|labels|macrolet)"
    r"|symbol-macrolet|parameterize|with-syntax|let-syntax)"
)
_DEFINING = later(
    r"(cl-)?def(un|macro|subst|generic|method|type|struct|class|ine-(derived-mode|minor-mode|record-type|values|macro)|s?alias|custom|var|const|\*?)\*?"
)
_LAMBDA = later(r"(lambda|λ|define|define-syntax-rule|fn)")


def _is_called(leaf: "Node", whole: "Node", source: bytes) -> bool:
    """Whether the list beginning with a word is a call: neither parameters nor a variable with its value."""
    called = whole.parent
    if leaf.type != "symbol" or called is None or called.type != "list" or leaf.prev_named_sibling is not None:
        return False
    around = called.parent
    if around is None or around.type != "list" or not around.named_children:
        return True
    head = text_of(around.named_children[0], source)
    place = _place(called, around)
    if _LAMBDA.fullmatch(head):
        return place != 1
    if _DEFINING.fullmatch(head):
        return place > 2  # noqa: PLR2004 - (defun name (parameters) ...)
    outer = around.parent
    if outer is None or outer.type != "list" or not _BINDING.fullmatch(text_of(outer.named_children[0], source)):
        return True
    # A named let has its variables behind its name.
    bindings = 2 if outer.named_children[1].type == "symbol" else 1
    return _place(around, outer) != bindings


def _place(node: "Node", around: "Node") -> int:
    return next((number for number, it in enumerate(around.named_children[:4]) if it.id == node.id), 4)


USAGE = UsageNodes(is_called=_is_called)
