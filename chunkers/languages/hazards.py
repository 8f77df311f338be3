"""Detect input on which a grammar's parser crashes or takes unlimited memory before any deadline can act."""

import re

# Measured with tree-sitter 0.26: 2,000 unclosed brackets take 1.2 GB in the grammars of Java and Rust, and memory grows
# with the square. None of 8,000 files in system headers and 22 repositories comes near the limit.
_MAX_OPEN = 400

# "a => " 2,000 times takes 1.4 GB in the grammars of Java and C, ". P =" 15,000 times 2.7 GB in JavaScript's. Memory
# again grows with the square, in one step at the end of the text which no deadline stops.
_MAX_OPERATORS = 1_000

_OPERATORS = (b"=", b"|")
_OPERATORS_AT_END = (*_OPERATORS, b">")
_SEPARATORS = bytes.maketrans(b"{},", b";;;")
_DANGLING = re.compile(rb"[=|>][ \t\r]*\n|\n[ \t]*=")
_BRACES = bytes.maketrans(b"{}", b";;")
_OPENING, _CLOSING = (b"(", b"[", b"<"), (b")", b"]", b">")

# Brackets, opening ones as one sign, and separators of statements; all else is left out.
_SIGNS = bytes.maketrans(b"[<{}", b"((;;")
_NO_SIGNS = bytes(set(range(256)).difference(b"([<>]){};"))
_TOO_MANY = b"(" * (_MAX_OPEN + 1)


def nests_expressions(source: bytes) -> bool:
    """Tell if hundreds of brackets are open at once, or on one line; for languages with braces."""
    brackets = source.translate(None, _NO_SIGNS)
    if _surplus(brackets, _OPENING[:2], _CLOSING[:2]) > _MAX_OPEN:
        return True
    # Nearly all files end here, after one pass: no statement has so many, even if counted on past blank lines.
    if _TOO_MANY not in brackets.translate(_SIGNS, b")]>"):
        return False
    statements = source.translate(_BRACES).replace(b"\r", b"").replace(b"\n\n", b";").split(b";")
    return any(_is_deep(statement) for statement in statements if len(statement) > _MAX_OPEN)


def chains_operators(source: bytes) -> bool:
    """Tell if one expression has a thousand assignments, arrows or bars; for all languages."""
    if sum(map(source.count, _OPERATORS)) <= _MAX_OPERATORS:
        return False
    expressions = source.translate(_SEPARATORS).replace(b"\r", b"").replace(b"\n\n", b";").split(b";")
    return any(_is_chain(it) for it in expressions if len(it) > _MAX_OPERATORS)


def _is_chain(expression: bytes) -> bool:
    if sum(map(expression.count, _OPERATORS_AT_END)) <= _MAX_OPERATORS:
        return False
    lines = expression.split(b"\n")
    in_a_line = (sum(map(line.count, _OPERATORS)) for line in lines if len(line) > _MAX_OPERATORS)
    return max(in_a_line, default=0) > _MAX_OPERATORS or len(_DANGLING.findall(expression)) > _MAX_OPERATORS


def _is_deep(statement: bytes) -> bool:
    if _surplus(statement, _OPENING, _CLOSING) > _MAX_OPEN:
        return True
    lines = statement.split(b"\n")
    return any(sum(map(line.count, _OPENING)) > _MAX_OPEN for line in lines if len(line) > _MAX_OPEN)


def _surplus(source: bytes, opening: tuple[bytes, ...], closing: tuple[bytes, ...]) -> int:
    return sum(map(source.count, opening)) - sum(map(source.count, closing))
