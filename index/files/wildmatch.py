"""Translate globs of ignore files to regular expressions with git's meaning (wildmatch.c) and linear time.

Paths are matched as bytes, one character per byte (`ignore_file.bytewise`): for git, `?` is one byte.

With a plain translation, a glob such as `*a*a*a*b` tries every way to split a name. Here each `*` except the last is
settled once the text after it is found (atomic groups). This is enough: the text after it has a fixed length, so the
earliest place leaves most room for the rest. The same holds for the folders between two `**`.
"""

import re

_STAR = "*"
_STARS = "**"
_SLASH = "/"
_SPECIAL = frozenset("*?[\\")
_NAMED = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t\\n\\r\\x0b\\x0c",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
"""ASCII members of each POSIX class, as in git for any locale."""


class GlobError(ValueError):
    """The glob is malformed; for git it matches nothing."""


def plain_length(glob: str) -> int:
    """Return the length of the part before the first special character."""
    return next((at for at, character in enumerate(glob) if character in _SPECIAL), len(glob))


def name_regex(glob: str) -> str:
    """Translate a glob without a slash, for matching the last part of a path.

    Raises:
        GlobError: it is malformed.
    """
    return _part([_STAR if token == _STARS else token for token in _tokens(glob)])


def path_regex(glob: str) -> str:
    """Translate a glob with slashes, for matching a whole path.

    Raises:
        GlobError: it is malformed.
    """
    # git compares the plain beginning separately, so a `**` right behind it counts as one at the beginning.
    plain = plain_length(glob)
    parts: list[list[str]] = [[]]
    for token in _tokens(glob[plain:]):
        if token == _SLASH:
            parts.append([])
        else:
            parts[-1].append(token)
    deep = [at for at, part in enumerate(parts) if part == [_STARS]]
    regex = [re.escape(glob[:plain])]
    is_open = False
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        if part == [_STARS]:
            regex.append(")" if is_open else "")
            is_open = not is_last
            kind = "(?>" if at != deep[-1] else "(?:"
            regex.append(".*" if is_last else f"{kind}(?:[^/]*+/)*?")
        else:
            regex.append(_part(part) + ("" if is_last else "/"))
    return "".join(regex) + (")" if is_open else "")


def _part(tokens: list[str]) -> str:
    """Translate the part between two slashes."""
    pieces = [""]
    for token in tokens:
        if token in {_STAR, _STARS}:
            pieces.append("")
        else:
            pieces[-1] += token
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _tokens(glob: str) -> list[str]:
    """Split a glob into stars, slashes, and expressions for one character."""
    tokens = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*":
            first = at
            while glob[at : at + 1] == "*":
                at += 1
            tokens.append(_STARS if at > first else _STAR)
        elif character == "?":
            tokens.append("[^/]")
        elif character == "[":
            expression, at = _set(glob, at)
            tokens.append(expression)
        elif character == "\\":
            if at == len(glob):
                raise GlobError("a backslash at the end")
            tokens.append(_SLASH if glob[at] == "/" else re.escape(glob[at]))
            at += 1
        else:
            tokens.append(_SLASH if character == "/" else re.escape(character))
    return tokens


def _set(glob: str, at: int) -> tuple[str, int]:
    """Translate a set such as `[!a-z]`; return it and the position after it."""
    is_negated = glob[at : at + 1] in {"!", "^"}
    at += is_negated
    members: list[str] = []
    before = ""
    is_first = True
    while is_first or glob[at : at + 1] != "]":
        is_first = False
        here = glob[at : at + 1]
        if here == "-" and before and glob[at + 1 : at + 2] not in {"", "]"}:
            at += 1 + (glob[at + 1] == "\\")
            members.append(_range(before, glob[at : at + 1]))
            before = ""
        elif here == "[" and glob[at + 1 : at + 2] == ":" and (end := _end_of_name(glob, at + 2)):
            name = glob[at + 2 : end - 1]
            if name not in _NAMED:
                raise GlobError(f"there is no class {name!r}")
            members.append(_NAMED[name])
            before, at = "", end
        else:
            at += here == "\\"
            before = glob[at : at + 1]
            members.append(_range(before, before))
        at += 1
    if is_negated:
        return f"[^/{''.join(members)}]", at + 1
    return f"(?!/)[{''.join(members)}]" if any(members) else "(?!)", at + 1


def _end_of_name(glob: str, at: int) -> int:
    """Return the position of the `]` of a `[:name:]`; 0 for a bracket beginning none.

    Raises:
        GlobError: there is no further bracket.
    """
    end = glob.find("]", at)
    if end < 0:
        raise GlobError("a set without an end")
    return end if end > at and glob[end - 1] == ":" else 0


def _range(first: str, last: str) -> str:
    if not first or not last:
        raise GlobError("a set without an end")
    return f"\\x{ord(first):02x}-\\x{ord(last):02x}" if first <= last else ""
