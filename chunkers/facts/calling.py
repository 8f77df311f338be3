"""Tell calls by a grammar's own nodes: where a call has no node, or is one of a list, an operator or a bare name."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

CALLING = re.compile(
    r"call|\w*call(_expression|_expression_with_\w+)?|\w*invo[ck]ation(_expression)?|new_expression"
    r"|\w*creation_expression|appl(y|ication)_expression|apply|command|cmd|normal_command|function_call|message_expression"
    r"|instance_expression|module_instantiation|const_object_expression|exprCall|include_statement|emit_statement"
    r"|jsx_opening_element|jsx_self_closing_element|list_lit|anon_fn_lit|procedure_call_statement"
)
"""Nodes of calls, also of those of components, macros, mixins and shells."""
CALLEE = frozenset(
    {
        *("function", "name", "method", "constructor", "macro", "target", "type", "function_name", "command_name"),
        *("expr", "subroutine", "entity", "instance_type"),
    }
)
"""Fields of such nodes with what is called."""
UNNAMED = frozenset({"list_lit", "anon_fn_lit"})
"""Nodes of calls, whose children have all the same field: the first is called."""

_PIPED = frozenset({"infix_expression"})
_SYMBOL = "symbol"
"""A word of a Lisp, whose calls are lists."""
_BINDING = re.compile(
    r"(let\*?|letrec\*?|let-values|let\*-values|if-let\*?|when-let\*?|do\*?|dolist|dotimes|(cl-)?(flet|labels|macrolet)"
    r"|symbol-macrolet|parameterize|with-syntax|let-syntax)"
)
_DEFINING = re.compile(
    r"(cl-)?def(un|macro|subst|generic|method|type|struct|class|ine-(derived-mode|minor-mode|record-type|values|macro)|s?alias|custom|var|const|\*?)\*?"
)
_LAMBDA = re.compile(r"(lambda|λ|define|define-syntax-rule|fn)")
_TAG = re.compile(rb"<\.?(?:[A-Z][\w.]*\.)?\Z")


def is_called_so(leaf: "Node", whole: "Node", data: bytes) -> bool:
    """Whether a name is called where no field of a calling node tells it.

    Parameters:
        leaf: the name.
        whole: the largest name that ends with it.
        data: the parsed bytes.
    """
    above = whole.parent
    if above is None:
        return False
    if leaf.type == _SYMBOL and above.type == "list":
        return _heads_call(leaf, above, data)
    if above.type in _PIPED:
        return _is_piped(whole, data)
    if above.type == "const_object_expression":
        return leaf.type == "type_identifier"
    if above.type == "statement":
        # Pascal calls a procedure by its name alone.
        return above.named_child_count == 1
    return _has_arguments_after(leaf)


def is_component_of_text(leaf: "Node", start: int, data: bytes) -> bool:
    """Whether a name in a text of Elixir opens the tag of a component: "<.button" in a sigil."""
    above = leaf.parent
    return above is not None and above.type == "sigil" and _TAG.search(data[max(0, start - 100) : start]) is not None


def receiver_beside(leaf: "Node") -> "Node | None":
    """Return what a name is a member of where both stand in a row of Dart's selectors."""
    if leaf.parent is None or not leaf.parent.type.endswith("assignable_selector"):
        return None
    selector = leaf.parent.parent
    return selector.prev_named_sibling if selector and selector.type == "selector" else None


def _has_arguments_after(leaf: "Node") -> bool:
    """Whether arguments stand beside a name, or beside the selector that it is, as in Dart."""
    node = leaf
    while node.parent and node.next_named_sibling is None and node.parent.type.endswith("selector"):
        node = node.parent
    after = node.next_named_sibling
    if after is not None and after.type == "selector" and after.named_child_count:
        after = after.named_children[0]
    return after is not None and after.type == "argument_part"


def _is_piped(whole: "Node", data: bytes) -> bool:
    """Whether a value is piped into a name, or a name is applied to what follows: "3 |> total", "total @@ 3"."""
    before, after = whole.prev_named_sibling, whole.next_named_sibling
    return (before is not None and text_of(before, data) == "|>") or (
        after is not None and text_of(after, data) in {"@@", "<|"}
    )


def _heads_call(leaf: "Node", of: "Node", data: bytes) -> bool:
    """Whether the list that a word begins is a call: neither parameters nor a variable with its value."""
    if leaf.prev_named_sibling is not None:
        return False
    around = of.parent
    if around is None or around.type != "list" or not around.named_children:
        return True
    head = text_of(around.named_children[0], data)
    place = _place(of, around)
    if _LAMBDA.fullmatch(head):
        return place != 1
    if _DEFINING.fullmatch(head):
        return place > 2  # noqa: PLR2004 - (defun name (parameters) ...)
    outer = around.parent
    if outer is None or outer.type != "list" or not _BINDING.fullmatch(text_of(outer.named_children[0], data)):
        return True
    # A named let has its variables behind its name.
    bindings = 2 if outer.named_children[1].type == _SYMBOL else 1
    return _place(around, outer) != bindings


def _place(node: "Node", around: "Node") -> int:
    return next((number for number, it in enumerate(around.named_children[:4]) if it.id == node.id), 4)
