"""Find the definition of a name with the parameters written after it in a question."""

import re
from collections.abc import Sequence

from cqm.index.text.names.declared import split_parameters
from cqm.index.text.names.notations import LONGEST

_WORD = re.compile(r"\w+")
_ARITY = re.compile(r"(?<=[\w!?])/(\d{1,2})$")
_BLANK = re.compile(r"\s+")
_LABELS = re.compile(r"(?:\w+:)+")
_SAME_COUNT = 0.25
_BEGINS = "{:;="
"""Signs at the start of a body, or at the end of a declaration."""
AS_WRITTEN = 100.0
"""Least fit of the declaration itself."""


def parameters_in(text: str) -> tuple[str, ...]:
    """Return the question's line, then the parameters in its brackets; empty without any.

    An arity, as in `get/2`, counts as so many empty parameters; labels, as in `request(_:interceptor:)`, as one each.
    """
    text = text.strip().strip("`").strip()
    if "\n" in text or len(text) > LONGEST:
        return ()
    if found := _ARITY.search(text):
        return ("", *[""] * int(found[1]))
    whole = written(text)
    inside = _inside(text)
    if inside is None:
        return (whole,) if " " in text else ()
    if _LABELS.fullmatch(inside):
        return (whole, *(f"{label}:" for label in inside.split(":")[:-1]))
    parts = [part.strip() for part in split_parameters(inside) if part.strip()]
    return (whole, *parts) if parts or " " in text else ()


def fit(asked: Sequence[str], declaration: str, signature: str) -> float:
    """Grade a definition by parameters asked for: 0 without a similar one, `AS_WRITTEN` if its line is the question.

    Parameters:
        asked: from `parameters_in`.
        declaration: the line of its name.
        signature: its declaration up to its body.
    """
    if not asked:
        return 0.0
    whole, *wanted = asked
    own = written(declaration)
    if whole and whole.rstrip(_BEGINS) == own.rstrip(_BEGINS):
        return AS_WRITTEN + (whole == own)
    inside = _inside(signature)
    having = [part for part in split_parameters(inside or "") if part.strip()]
    if having and re.fullmatch(r"\s*(?:&?(?:mut )?self|cls)\b.*", having[0]):
        having = having[1:]
    if not wanted:
        return 0.0
    # The last word of a type's path counts, and a written name counts as much.
    alike = [_alike(one, other) for one, other in zip(wanted, having, strict=False)]
    return sum(alike) / len(wanted) + _SAME_COUNT * (len(wanted) == len(having))


def written(line: str) -> str:
    """Return a line without its blanks."""
    return _BLANK.sub("", line)


def _alike(asked: str, having: str) -> float:
    if asked.endswith(":"):
        return float(having.split(maxsplit=1)[0].rstrip(":") == asked[:-1]) if having.split() else 0.0
    words, others = _WORD.findall(asked), _WORD.findall(having)
    if not words:
        return 0.0
    return sum(word in others for word in words) / max(len(words), len(others) / 2)


def _inside(text: str) -> str | None:
    """Return the text in the first brackets after a name, past a receiver of Go; None without."""
    for found in re.finditer(r"(?<=[\w?!>\]=*+/%<|&~^-])\s?\(", text):
        before = text[: found.start()].split()
        if before and before[-1] == "func":
            continue
        depth, start = 0, found.end() - 1
        for at in range(start, len(text)):
            depth += (text[at] == "(") - (text[at] == ")")
            if depth == 0:
                return text[start + 1 : at]
        return text[start + 1 :]
    return None
