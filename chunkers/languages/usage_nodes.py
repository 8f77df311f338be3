"""Nodes of one grammar telling how a name is used, beside those common to grammars."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class UsageNodes:
    """A language's additions to the shared types of nodes in `facts.roles`.

    Its functions, unlike rules, may ask for `Node.parent`: they see only the nodes around a name.

    Attributes:
        calls: calls.
        callees: fields of calls with what is called.
        called_first: calls with their callee as first child, although all their children stand in fields.
        imports: imports.
        heritage: hold the bases, interfaces or mixins of a type.
        members: join a name to its owner, or to type arguments after it.
        texts: texts and parts of them.
        decorators: hold the name of a decorator.
        declarations: declare the name in their field "name", "declarator" or "pattern".
        parameters: hold names of parameters without nodes of their own.
        assignments: assign to the variables in their field "left".
        targets: hold assigned variables and nothing else.
        importing: functions importing the file named in a text.
        mixing: functions mixing their arguments into a class.
        has_bare_calls: whether a name alone calls a function, unless a variable has it.
        has_docstrings: whether a text at the start of a block is a comment, or a directive such as "use strict".
        is_called: tells of a name, the largest name ending with it and the parsed bytes whether the name is called;
            asked if no field of a call tells.
        is_inherited: tells of a name, or a node around it, and its parent whether a type inherits from it; None if they
            don't tell.
        is_called_in_text: tells of a text, the place of a name in it and the parsed bytes whether the name is called.
        receiver_of: returns the owner of a name, if no node joins the two.
    """

    calls: frozenset[str] = frozenset()
    callees: frozenset[str] = frozenset()
    called_first: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    heritage: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    decorators: frozenset[str] = frozenset()
    declarations: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    assignments: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    importing: frozenset[str] = frozenset()
    mixing: frozenset[str] = frozenset()
    has_bare_calls: bool = False
    has_docstrings: bool = False
    is_called: "Callable[[Node, Node, bytes], bool] | None" = None
    is_inherited: "Callable[[Node, Node], bool | None] | None" = None
    is_called_in_text: "Callable[[Node, int, bytes], bool] | None" = None
    receiver_of: "Callable[[Node], Node | None] | None" = None
