"""Redact a text: every secret becomes as many "*", so all positions and lines stay the same."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from cqm.index.model.secrets import SecretFinding, SecretOptions
from cqm.index.secrets.file_names import is_allowed_path
from cqm.index.secrets.model import Match, Redacted
from cqm.index.secrets.readable import readable
from cqm.index.secrets.rules import own_matches
from cqm.index.secrets.tokens import token_matches

_KEPT = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
"""All characters any program counts as a line end."""


def redact(text: str, path: str, options: SecretOptions) -> Redacted:
    """Replace each character of a text's secrets by "*", except line ends.

    Parameters:
        text: of the whole file: the surroundings of a secret identify it.
        path: of the file, relative to the root with "/" between parts.
        options: secrets and files exempt from redaction.
    """
    if not options.redact or is_allowed_path(path, options.allow_paths):
        return Redacted(text)
    matches = [it for it in find_secrets(text, path) if not _is_allowed(text[it.start : it.end], options.allow)]
    if not matches:
        return Redacted(text)
    parts, place = [], 0
    for match in matches:
        parts += [text[place : match.start], _masked(text[match.start : match.end])]
        place = match.end
    return Redacted("".join([*parts, text[place:]]), _findings(text, matches))


def find_secrets(text: str, path: str) -> list[Match]:
    """Return the secrets of a text in order; overlapping or touching ones are merged, with the kind of the first."""
    view = readable(text)
    found = sorted((*own_matches(view, path), *token_matches(view.text)), key=lambda it: (it.start, -it.end))
    merged: list[Match] = []
    for match in found:
        if merged and match.start <= merged[-1].end:
            last = merged[-1]
            merged[-1] = Match(last.kind, last.start, max(last.end, match.end))
        elif match.end > match.start:
            merged.append(match)
    return [view.original(it) for it in merged]


def _is_allowed(value: str, patterns: tuple[str, ...]) -> bool:
    return any(_compiled(pattern).search(value) for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _masked(value: str) -> str:
    ends = list(_KEPT.finditer(value))
    if not ends:
        return "*" * len(value)
    parts, place = [], 0
    for end in ends:
        parts += ["*" * (end.start() - place), end[0]]
        place = end.end()
    return "".join([*parts, "*" * (len(value) - place)])


def _findings(text: str, matches: list[Match]) -> tuple[SecretFinding, ...]:
    counted = Counter(_lines_of(text, matches))
    return tuple(SecretFinding(line, kind, count) for (line, kind), count in counted.items())


def _lines_of(text: str, matches: list[Match]) -> Iterator[tuple[int, str]]:
    line, place = 1, 0
    for match in matches:
        line += text.count("\n", place, match.start)
        place = match.start
        yield line, match.kind
