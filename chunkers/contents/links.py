"""Find the issues a text refers to: "#123", "GH-123", "fixes #12", "owner/name#123" and addresses."""

import re
from collections.abc import Iterator

_MOST = 20
_NUMBER = r"[1-9]\d{0,6}(?![\w#])"
_KEYWORD = re.compile(
    rf"""\b(?:fix(?:e[sd]|ing)?|close[sd]?|closing|resolve[sd]?|see(?:\ also)?|issues?|bugs?|tickets?|prs?|pull
         |pull\ request|merge\ request|refs?|references|related\ to|part\ of|discussion|workaround\ for|due\ to
         |caused\ by|regression\ from|per|cf\.?)
         \s{{0,3}}:?\s{{0,3}}(?:\#|(?<=\s)!){_NUMBER}(?:(?:,|\ and|\ &)\s{{0,3}}\#{_NUMBER}){{0,8}}""",
    re.IGNORECASE | re.VERBOSE,
)
_ADDRESS = re.compile(
    r"https?://[\w.-]{1,100}/([\w./-]{1,150}?)/(?:-/)?(?:issues|pulls?|merge_requests|discussions)/([1-9]\d{0,6})(?!\w)"
)
_ELSEWHERE = re.compile(rf"(?<![\w./@-])([A-Za-z\d][\w-]{{0,38}}/[\w.-]{{1,80}})#({_NUMBER})")
_OLD = re.compile(r"(?<![\w-])GH-([1-9]\d{0,6})(?!\w)")
# A number alone is a link behind other words, or in parentheses: not at a line's start, nor as a place in the page.
_PLAIN = re.compile(rf"(?<=[^\S\n])\#({_NUMBER})(?!\s{{0,3}}[;{{])|(?<!\])[(\[]\#({_NUMBER})")
_DIGITS = re.compile(rf"\#({_NUMBER})|!({_NUMBER})")
# Behind one of these a line of a program is a comment.
_COMMENT = re.compile(
    r"(?:(?<![:\w])//|/\*|^[ \t]{0,200}\*(?=\s)|(?:^|\s)\#+(?=\s)|(?:^|\s)--(?=\s)|(?:^|\s);+\s|(?:^|\s)%+\s|<!--)"
)
# Looked for one by one: most texts have none, and one pattern for all takes four times as long.
_SIGNS = (("#", re.compile(r"#[1-9]")), ("!", re.compile(r"![1-9]")))
_PLACES = ("/issues/", "/pull", "/merge_requests/", "/discussions/")
# Characters of a match before its first number sign, and from there up to the signs forbidden after a number.
_BEFORE_KEYWORD, _BEFORE_PLAIN, _BEFORE_NAME, _AFTER = 24, 1, 121, 14
_PROSE = frozenset({"documentation", "javadoc", "issue"})
# Here a number behind "#" is a colour, also in comments.
_COLOURS = frozenset({"css", "scss", "less", "stylus", "html", "xml", "svg"})


def may_refer(text: str) -> bool:
    """Tell if any part of a text may refer to an issue, in far less time than its parts take one by one."""
    has_number = any(sign in text and numbered.search(text) for sign, numbered in _SIGNS)
    return has_number or _has_address(text) or "GH-" in text


def _has_address(text: str) -> bool:
    return "://" in text and any(place in text for place in _PLACES)


def issues_in(text: str, source_type: str, language: str) -> tuple[str, ...]:
    """Return the numbers of the issues a text refers to, in order, each once.

    For "owner/name#12" the name is returned too; of an address both forms.

        issues_in("// Fixes #12, see o/r#7", "code", "go")  # ("12", "o/r#7")
        issues_in("color: #123;", "code", "css")            # ()

    Parameters:
        text: of a chunk, as people read it.
        source_type, language: see `Metadata`.
    """
    signs = [it.start() for sign, numbered in _SIGNS if sign in text for it in numbered.finditer(text)]
    has_address = _has_address(text)
    if not (signs or has_address or "GH-" in text):
        return ()
    found = sorted(_found(text, sorted(signs), source_type, language, has_address=has_address))
    return tuple(dict.fromkeys(name for _, name in found))[:_MOST]


def _found(
    text: str, signs: list[int], source_type: str, language: str, *, has_address: bool
) -> Iterator[tuple[int, str]]:
    for match in _ADDRESS.finditer(text) if has_address else ():
        # Most addresses in a project are of its own issues: asked for by number alone they are found too.
        yield match.start(), f"{match[1]}#{match[2]}"
        yield match.start(), match[2]
    for match in _OLD.finditer(text) if "GH-" in text else ():
        yield match.start(), match[1]
    for match in _near(_ELSEWHERE, text, signs, _BEFORE_NAME):
        yield match.start(), f"{match[1]}#{match[2]}"
    for match in _near(_KEYWORD, text, signs, _BEFORE_KEYWORD):
        yield from ((match.start(), number[1] or number[2]) for number in _DIGITS.finditer(match[0]))
    if language in _COLOURS or not signs:
        return
    if source_type in _PROSE:
        found = _near(_PLAIN, text, signs, _BEFORE_PLAIN)
        yield from ((match.start(), match[1] or match[2]) for match in found)
        return
    position = 0
    for line in text.split("\n"):
        if "#" in line and (comment := _COMMENT.search(line)):
            for match in _PLAIN.finditer(line, comment.end()):
                yield position + match.start(), match[1] or match[2]
        position += len(line) + 1


def _near(pattern: re.Pattern[str], text: str, signs: list[int], before: int) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern around number signs, which take far less time to find than the pattern."""
    start = end = 0
    for sign in signs:
        if sign - before > end:
            yield from pattern.finditer(text, start, end)
            start = sign - before
        end = sign + _AFTER
    yield from pattern.finditer(text, start, end)
