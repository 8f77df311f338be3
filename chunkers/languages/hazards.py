"""Input that grammars cannot bear: their parsers take memory without bound, or crash, before any deadline can act."""

# Measured with tree-sitter 0.26: 2,000 brackets that nobody closes take 1.2 GB in the grammars of Java and Rust, and
# memory grows with the square. No file of 8,000 in system headers and 22 repositories comes near the limit.
_MAX_OPEN = 400

_BRACES = bytes.maketrans(b"{}", b";;")
_OPENING, _CLOSING = (b"(", b"[", b"<"), (b")", b"]", b">")


def nests_expressions(source: bytes) -> bool:
    """Whether hundreds of brackets are open at once, or one line holds hundreds; for languages with braces."""
    if _surplus(source, _OPENING[:2], _CLOSING[:2]) > _MAX_OPEN:
        return True
    statements = source.translate(_BRACES).replace(b"\r", b"").replace(b"\n\n", b";").split(b";")
    return any(_is_deep(statement) for statement in statements if len(statement) > _MAX_OPEN)


def _is_deep(statement: bytes) -> bool:
    if _surplus(statement, _OPENING, _CLOSING) > _MAX_OPEN:
        return True
    lines = statement.split(b"\n")
    return any(sum(map(line.count, _OPENING)) > _MAX_OPEN for line in lines if len(line) > _MAX_OPEN)


def _surplus(source: bytes, opening: tuple[bytes, ...], closing: tuple[bytes, ...]) -> int:
    return sum(map(source.count, opening)) - sum(map(source.count, closing))
