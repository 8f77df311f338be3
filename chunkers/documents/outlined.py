r"""Cut Org, LaTeX, Textile, POD, MediaWiki and other markups at their headings, by a row of patterns each.

Only three things of a line count: whether it is a heading, whether it opens an unread stretch (code, a comment), and
whether it continues a list or table. Sources: orgmode.org/worg/org-syntax.html, the LaTeX2e manual, textile-lang.com,
perlpod, mediawiki.org/wiki/Help:Formatting, the Texinfo manual, groff_man(7) and mdoc(7).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cqm.chunkers.documents.headed import Heading
from cqm.chunkers.documents.prose import pieces_of_prose
from cqm.chunkers.documents.sectioning import Block, pieces_of_sections
from cqm.chunkers.model import ChunkOptions, Cut, later

_LINE = later(r"[^\n]*\n|[^\n]+")
_LONGEST_TITLE = 200
# Most characters of a title in braces.
_LONGEST_BRACES = 600
_NEVER = later(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Markup:
    """Patterns of one markup, each matched at the beginning of a line.

    Attributes:
        heading: a heading; its group "title" is the title. Without such a group the title is in braces behind it.
        level: the level of a heading, from its match.
        opening: opens a stretch that stays whole; "name" is the name at its end, "code" the language of code in it.
        closing: the pattern of the stretch's end, from the match of `opening`.
        plain: markup in titles; each match is replaced by its last participating group.
        item: begins an item of a list.
        row: a row of a table.
        hidden: lines below a heading belonging to it: drawers, labels, anchors.
    """

    heading: re.Pattern[str]
    level: Callable[[re.Match[str]], int]
    opening: re.Pattern[str] = _NEVER
    closing: Callable[[re.Match[str]], re.Pattern[str]] = lambda _: _NEVER
    plain: re.Pattern[str] = _NEVER
    item: re.Pattern[str] = _NEVER
    row: re.Pattern[str] = _NEVER
    hidden: re.Pattern[str] = _NEVER


def _by_name(*names: str) -> Callable[[re.Match[str]], int]:
    levels = {name: level for level, group in enumerate(names, 1) for name in group.split()}
    return lambda match: levels[match["name"].lower()]


def _until(end: str, flags: re.RegexFlag = re.NOFLAG) -> Callable[[re.Match[str]], re.Pattern[str]]:
    """Make the pattern of an end, where NAME stands for the name in the opening line."""
    return lambda match: re.compile(end.replace("NAME", re.escape(match.groupdict().get("name") or "")), flags)


_ORG = _Markup(
    heading=later(
        r"(?:(?P<stars>\*{1,12})[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED)[ \t]+)?(?:\[#\w\][ \t]+)?"
        r"|\#\+title:[ \t]*)(?P<title>\S[^\n]{0,999})",
        re.IGNORECASE,
    ),
    level=lambda match: 1 + len(match["stars"] or ""),
    opening=later(r"[ \t]*\#\+begin_(?P<name>\w{1,50})(?:[ \t]+(?P<code>[\w+#-]{1,50}))?", re.IGNORECASE),
    closing=_until(r"[ \t]*\#\+end_NAME\b", re.IGNORECASE),
    plain=later(
        r"\[\[[^\[\]]{1,300}\](?:\[([^\[\]]{1,300})\])?\]|[ \t]+:[\w@#%:]{1,200}:[ \t]*$|<<+[^<>]{1,100}>>+"
        r"|(?<!\w)([=~*/])(\S(?:[^=~*/\n]{0,100}\S)?)\2(?!\w)"
    ),
    item=later(r"[ \t]*(?:[-+]|\d{1,9}[.)])[ \t]"),
    row=later(r"[ \t]*\|"),
    hidden=later(r"[ \t]*(?::[\w+-]{1,60}:|(?:SCHEDULED|DEADLINE|CLOSED):)"),
)
_LATEX = _Markup(
    heading=later(
        r"[ \t]*\\(?P<name>title|part|chapter|(?:sub){0,2}section)\*?[ \t]{0,4}(?:\[[^\[\]\n]{0,300}\][ \t]{0,4})?\{"
    ),
    level=_by_name("title", "part", "chapter", "section", "subsection", "subsubsection"),
    opening=later(
        r"[ \t]*\\begin\{(?P<name>(?:[vV]erbatim|lstlisting|minted|alltt|comment|tabularx?|longtable|table|figure"
        r"|equation|align|gather|multline|tikzpicture|algorithm)\*?)\}(?:\[[^\[\]\n]{0,200}\])?(?:\{(?P<code>[\w+#-]{1,50})\})?"
    ),
    closing=_until(r"[^\n]*\\end\{NAME\}"),
    plain=later(
        r"\\(?:label|index|footnote|thanks|protect)\*?(?:\{[^{}]{0,300}\})?|\\[A-Za-z]{1,40}\*?[ \t]?|~|[{}$\\]"
    ),
    hidden=later(r"[ \t]*\\(?:label|index)\{"),
)
_TEXTILE = _Markup(
    heading=later(
        r"h(?P<level>[1-6])(?:\([^()\n]{0,100}\)|\{[^{}\n]{0,100}\}|[<>=]{1,2})?\.[ \t]+(?P<title>\S[^\n]{0,999})"
    ),
    level=lambda match: int(match["level"]),
    opening=later(r"<(?P<name>pre|notextile)\b"),
    closing=_until(r"[^\n]*</NAME>"),
    plain=later(r'"([^"\n]{1,200})":\S{1,300}|@([^@\n]{1,200})@|(?<!\w)[*_]{1,2}(?=\w)|(?<=\w)[*_]{1,2}(?!\w)'),
    item=later(r"[*#]{1,6}[ \t]"),
    row=later(r"\|"),
)
_POD = _Markup(
    heading=later(r"=head(?P<level>[1-6])[ \t]+(?P<title>\S[^\n]{0,999})"),
    level=lambda match: int(match["level"]),
    opening=later(r"=begin[ \t]+(?P<name>\S{1,50})"),
    closing=_until(r"=end[ \t]+NAME|=cut"),
    plain=later(r"[A-Z]<+[ \t]?([^<>\n]{0,200}?)[ \t]?>+"),
)
_MEDIAWIKI = _Markup(
    heading=later(r"(?P<marks>={1,6})[ \t]*(?P<title>[^=\s][^\n]{0,500}?)[ \t]*(?P=marks)[ \t]*$"),
    level=lambda match: len(match["marks"]),
    opening=later(
        r"[ \t]*(?:<(?P<name>pre|syntaxhighlight|source|nowiki)\b(?:[ \t]+lang=\"?(?P<code>[\w+#-]{1,50}))?|\{\|)"
    ),
    closing=lambda match: re.compile(rf"[^\n]*</{match['name']}>" if match["name"] else r"[ \t]*\|\}"),
    plain=later(
        r"\[\[(?:[^|\[\]]{1,300}\|)?([^|\[\]]{1,300})\]\]|\[\S{1,300}[ \t]([^\[\]]{1,300})\]|'{2,5}|</?\w[^<>]{0,200}>"
    ),
    item=later(r"[*#:;]{1,8}[ \t]?\S"),
)
_TEXINFO = _Markup(
    heading=later(
        r"@(?P<name>settitle|title|part|top|chapter|(?:unnumbered|appendix)(?:sec|subsec|subsubsec)?"
        r"|(?:sub){0,2}(?:section|heading))[ \t]+(?P<title>\S[^\n]{0,999})"
    ),
    level=_by_name(
        "settitle title part top",
        "chapter unnumbered appendix",
        "section unnumberedsec appendixsec heading",
        "subsection unnumberedsubsec appendixsubsec subheading",
        "subsubsection unnumberedsubsubsec appendixsubsubsec subsubheading",
    ),
    opening=later(r"@(?P<name>example|smallexample|lisp|verbatim|display|format|menu|ignore|direntry|multitable)\b"),
    closing=_until(r"@end[ \t]+NAME\b"),
    plain=later(r"@\w{1,30}\{([^{}]{0,300})\}|@(?=[@{}])"),
)
_ROFF = _Markup(
    heading=later(r"\.[ \t]{0,4}(?P<name>SH|SS|Sh|Ss)[ \t]+(?P<title>\S[^\n]{0,999})"),
    level=_by_name("sh", "ss"),
    opening=later(r"\.[ \t]{0,4}(?P<name>nf|EX|Bd|TS)\b"),
    closing=lambda match: later(
        rf"\.[ \t]{{0,4}}{ {'nf': 'fi', 'EX': 'EE', 'Bd': 'Ed', 'TS': 'TE'}[match['name']] }\b"
    ),
    plain=later(r"\\f[A-Z(]\w?|\\(?=-)|\""),
)
_RDOC = _Markup(
    heading=later(r"(?P<marks>={1,6}|\#{1,6})[ \t]*(?P<title>[^=\#\s][^\n]{0,999})"),
    level=lambda match: len(match["marks"]),
    plain=later(r"<(?:tt|code|em|b)>([^<>\n]{0,200})</\w{1,4}>|\+([\w:.\#]{1,100})\+"),
    item=later(r"[ \t]*(?:[*-]|\d{1,9}\.)[ \t]"),
)
_SCRIBBLE = _Markup(
    heading=later(
        r"@(?P<name>title|section|subsection|subsubsection|subsubsub\*section)(?:\[(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,300}\])?\{"
    ),
    level=_by_name("title", "section", "subsection", "subsubsection", "subsubsub*section"),
    plain=later(r"@\w{1,30}(?:\[[^\[\]]{0,200}\])?\{([^{}]{0,200})\}"),
)

_MARKUPS = {
    "org": _ORG,
    "latex": _LATEX,
    "textile": _TEXTILE,
    "pod": _POD,
    "mediawiki": _MEDIAWIKI,
    "texinfo": _TEXINFO,
    "roff": _ROFF,
    "rdoc": _RDOC,
    "scribble": _SCRIBBLE,
}
LANGUAGES = frozenset(_MARKUPS)
"""The markups with a row here."""


def pieces_of_outlined(text: str, language: str, options: ChunkOptions) -> Cut:
    """Cut a document into sections as Markdown is; one without headings at its paragraphs.

    The pieces are gapless; a symbol is the path of headings.
    """
    blocks = list(_blocks(text, _MARKUPS[language]))
    if not any(block.heading for block in blocks):
        return pieces_of_prose(text, options), []
    return pieces_of_sections(text, _with_dense_levels(blocks), options), []


def _with_dense_levels(blocks: list[Block]) -> list[Block]:
    """Number the levels in use from 1: an article of LaTeX begins with sections."""
    used = sorted({block.heading[0] for block in blocks if block.heading})
    level_of = {level: number for number, level in enumerate(used, 1)}
    return [
        replace(block, heading=(level_of[block.heading[0]], block.heading[1])) if block.heading else block
        for block in blocks
    ]


def _blocks(text: str, markup: _Markup) -> Iterator[Block]:
    """Yield the blocks of a text: headings, unread stretches, lists, tables and paragraphs."""
    lines = [(match.start(), match[0].rstrip()) for match in _LINE.finditer(text)]
    number = 0
    while number < len(lines):
        start, line = lines[number]
        if not line:
            number += 1
        elif opening := markup.opening.match(line):
            yield Block(start, code=_language(opening))
            number = _end_of_stretch(lines, number, opening, markup)
        elif heading := _heading(text, start, line, markup):
            yield Block(start, heading=heading)
            number = _end_of_hidden(lines, number + 1, markup)
        else:
            whole = next((pattern for pattern in (markup.item, markup.row) if pattern.match(line)), None)
            yield Block(start, is_prose=whole is None)
            number = _end_of_paragraph(lines, number, markup, whole)


def _language(opening: re.Match[str]) -> str | None:
    """Return the language of a stretch, empty for code without one."""
    groups = opening.groupdict()
    is_code = (groups.get("name") or "").lower() in _CODE
    return (groups.get("code") or "").lower() if is_code else None


_CODE = frozenset(
    {
        *("src", "example", "smallexample", "lisp", "verbatim", "lstlisting", "minted", "alltt"),
        *("pre", "syntaxhighlight", "source", "nf", "ex", "bd"),
    }
)


def _end_of_stretch(lines: list[tuple[int, str]], number: int, opening: re.Match[str], markup: _Markup) -> int:
    """Return the line after the end of a stretch; an unclosed one is only its first line."""
    closing = markup.closing(opening)
    if closing.search(lines[number][1], opening.end()):
        return number + 1
    ends = (
        end for end in range(number + 1, min(len(lines), number + _LONGEST_STRETCH)) if closing.match(lines[end][1])
    )
    return next(ends, number) + 1


# Lines; bounds the time for a text of unclosed openings.
_LONGEST_STRETCH = 2_000


def _heading(text: str, start: int, line: str, markup: _Markup) -> Heading | None:
    match = markup.heading.match(line)
    if match is None:
        return None
    title = match.groupdict().get("title")
    if title is None:
        title = _in_braces(text[start + match.end() : start + match.end() + _LONGEST_BRACES])
    plain = markup.plain.sub(lambda found: (found.lastindex and found[found.lastindex]) or " ", title)
    words = " ".join((plain if plain.strip() else title).split())
    return (markup.level(match), words[:_LONGEST_TITLE]) if words else None


def _in_braces(text: str) -> str:
    """Return the text before the closing brace of a title."""
    depth = 1
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if not depth:
            return text[:position]
    return text.partition("\n")[0]


def _end_of_hidden(lines: list[tuple[int, str]], number: int, markup: _Markup) -> int:
    while number < len(lines) and markup.hidden.match(lines[number][1]):
        number += 1
    return number


def _end_of_paragraph(lines: list[tuple[int, str]], number: int, markup: _Markup, whole: re.Pattern[str] | None) -> int:
    """Return the line after a paragraph, list or table; a list goes on over a blank line with its next item."""
    end = number + 1
    while end < len(lines):
        line = lines[end][1]
        if not line:
            below = lines[end + 1][1] if end + 1 < len(lines) else ""
            if whole is None or whole is markup.row or not whole.match(below):
                break
        elif markup.heading.match(line) or markup.opening.match(line) or (whole is None and markup.item.match(line)):
            break
        end += 1
    return end
