"""Take qualified names apart: separators, last part, and operators."""

import re

BETWEEN = r"\.|::|#|->|/|\\|:"
NAME_PART = r"[$@]?[^\W\d][\w$]*[?!=]?"
# An operator has the same signs: "Chain.:+", "NonEmptyList.:::" and "operator->" keep theirs. "App.#find" is private.
_BETWEEN_PARTS = re.compile(rf"(?:\.#(?=\w)|{BETWEEN})(?=[\w$@`\[]|~\w)")
_ENCLOSING = re.compile(r" > |(?:\.|::|#|->|/)(?=[\w$@`\[\"]|~\w)|(?<=[\w\])>`'\"?!])\.(?=[^\w.])")
_NOT_IN_KEY = re.compile(r"[\W_]+")
_OPERATOR_OF_C = re.compile(r"operator(?=\W)")
_SIGN = re.compile(r"\boperator\s*(?=[^\w\s])")


def dotted(name: str) -> str:
    """Return a qualified name with "." between its parts: "Client.get" for "Client::get"."""
    return _BETWEEN_PARTS.sub(".", name)


def last_part(name: str) -> str:
    """Return a qualified name or heading path without its outer parts: "http.Client.get_url" gives "get_url"."""
    return _ENCLOSING.split(name)[-1]


def name_key(name: str) -> str:
    """Return a name's last part without case, underscores and marks: "http.Client.get_url" gives "geturl"."""
    own = name.rpartition(".")[2]
    if not (own.isascii() and own.isidentifier()):
        own = _NOT_IN_KEY.sub("", last_part(name))
    return own.replace("_", "").lower()


def is_operator(name: str) -> bool:
    """Whether the last part of a name is an operator: "Chain.:+", "Nil.operator ==", "<+>"."""
    last = last_part(name)
    return bool(last) and (not re.search(r"\w", last) or bool(_OPERATOR_OF_C.match(last)))


def with_sign(name: str) -> str:
    """Return a name with the sign of its operator alone: "Nil.==" for "Nil.operator ==" of C# and C++."""
    return _SIGN.sub("", name)


def spellings_of(operator: str) -> tuple[str, ...]:
    """Return the possible last parts of an operator's names in an index; `with_sign` makes them equal."""
    sign = with_sign(last_part(operator))
    return (sign,) if sign.startswith("operator") else (sign, f"operator{sign}", f"operator {sign}")
