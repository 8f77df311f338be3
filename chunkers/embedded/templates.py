"""Cut templates: by the language they write, with the tags of the template language masked."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from cqm.chunkers.detect import MARKDOWN, TEXT, language_of
from cqm.chunkers.embedded.components import component_of
from cqm.chunkers.embedded.markup import Tag, pieces_of_markup
from cqm.chunkers.embedded.page_scripts import scripts_of
from cqm.chunkers.embedded.parts import (
    Cutter,
    Name,
    Part,
    joined,
    lines_of,
    pieces_of_part,
    spread,
    with_names,
)
from cqm.chunkers.embedded.tags import (
    BLADE,
    BRACES,
    GO,
    PERCENT,
    RAZOR,
    Masked,
    TemplateTag,
    blank,
    blocks_of,
    masked,
    template_tags_of,
)
from cqm.chunkers.languages.model import COMPONENT
from cqm.chunkers.model import ChunkOptions, Cut, Piece, later

LANGUAGES = frozenset({"template", "handlebars", "jinja", "liquid", "razor", "blade"})
"""Languages of templates."""

_SYNTAXES = {
    **dict.fromkeys(("erb", "rhtml", "eex", "heex", "leex", "ejs", "jsp", "jspf", "gsp"), PERCENT),
    **dict.fromkeys(("tmpl", "gotmpl", "gohtml", "tpl"), GO),
    **dict.fromkeys(("cshtml", "razor"), RAZOR),
    "php": BLADE,
}
_LINES = frozenset({"pug", "jade", "haml", "slim", "vm"})
_PAGES = frozenset({"html", "htm", "xhtml"})
_MARKUP = frozenset({"html", TEXT, "xml", "svg", *LANGUAGES})

_DECLARES = later(r"\{%-?\s*(?:extends|block|macro)\b|\{\{-?\s*(?:define|block)\s+\"|\bth:fragment\s*=")
_MOST_HEAD = 20_000

_PUG = later(r"^[ \t]*(?P<kind>mixin|block)\s+(?P<name>[\w-]{1,100})", re.MULTILINE)
_FRAGMENT = later(r"""\bth:fragment\s*=\s*["'](?P<name>[\w-]{1,100})""")
_RAZOR_BLOCK = later(r"@(?P<word>code|functions)\s*(?P<brace>\{)|@section\s+(?P<name>\w{1,100})\s*\{")
_CSHARP = later(
    r"""//[^\n]*+|/\*(?:(?!\*/).)*+(?:\*/)?+|@"(?:[^"]|"")*+"|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)++'|(?P<brace>[{}])""",
    re.DOTALL,
)


def is_templated(text: str) -> bool:
    """Tell if a page of HTML declares blocks, macros or fragments of a template language."""
    return _DECLARES.search(text, 0, _MOST_HEAD) is not None


def pieces_of_template(text: str, path: str, options: ChunkOptions, cut: Cutter) -> Cut:
    """Cut a template; its definitions are symbols: blocks, macros, sections, fragments, functions.

    A template of a program or data is cut as one, with its tags masked; any other at its elements and blocks.

    Parameters:
        path: of the file; its suffixes tell the languages.
        cut: cuts a part by its language.
    """
    name = path.rpartition("/")[2].lower().removesuffix(".t")
    stem, _, suffix = name.rpartition(".")
    if suffix in _LINES:
        names = [Name(it["name"], _KINDS[it["kind"]], *it.span()) for it in _PUG.finditer(text)]
        return with_names(text, lines_of(text, (0, len(text)), options, "template"), names), []
    syntax = _SYNTAXES.get(suffix, BRACES)
    tags = template_tags_of(text, syntax)
    blocks, names = blocks_of(text, tags, syntax)
    inner = language_of(stem.removesuffix(".blade"))
    plain = masked(text, tags)
    if inner in _MARKUP or inner == MARKDOWN or syntax in (RAZOR, BLADE):
        names += [Name(it["name"], "template", *it.span()) for it in _FRAGMENT.finditer(text)]
        programs = [*_programs(text, tags, syntax, names)]
        pieces, warnings = _pieces_of_page(text, tags, plain, programs, blocks, options, cut)
    else:
        pieces, warnings = cut(plain.text, inner, options)
        pieces = [_restored(piece, plain) for piece in pieces]
    if suffix in _PAGES:
        # By its language alone a page would be documentation.
        pieces = [piece._replace(facts={"source_type": "code", **piece.facts}) for piece in pieces]
    pieces = _named(joined(text, spread(text, pieces, (0, len(text)), options), options), names)
    if suffix == "razor" and pieces:
        whole = len(text) - len(text.lstrip()), len(text.rstrip())
        component = component_of(path)
        pieces = [piece if piece.symbol else piece._replace(symbol=component) for piece in pieces]
        names = [*names, Name(component, COMPONENT, *whole)]
    return with_names(text, pieces, names), warnings


def _pieces_of_page(
    text: str,
    tags: Sequence[TemplateTag],
    plain: Masked,
    programs: Sequence[Part],
    blocks: Sequence[Tag],
    options: ChunkOptions,
    cut: Cutter,
) -> Cut:
    """Cut the programs and scripts of a page by their languages, the rest at its elements and blocks."""
    parts = _apart([*programs, *scripts_of(plain.text)])
    cuts = [pieces_of_part(text if it in programs else plain.text, it, options, cut) for it in parts]
    pieces = _around(text, _without(text, tags, parts), parts, options, blocks)
    pieces += [_restored(piece, plain) for own, _ in cuts for piece in own]
    pieces.sort(key=lambda it: it.start)
    return pieces, [warning for _, told in cuts for warning in told]


_KINDS = {"mixin": "macro", "block": "block"}


def _apart(parts: list[Part]) -> list[Part]:
    """Return the parts in order, without those overlapping an earlier one."""
    result: list[Part] = []
    for part in sorted(parts, key=lambda it: it.start):
        if not result or part.start >= result[-1].end:
            result.append(part)
    return result


def _without(text: str, tags: Sequence[TemplateTag], parts: Sequence[Part]) -> str:
    spans = sorted([*((it.start, it.end) for it in tags), *((it.start, it.end) for it in parts)])
    written: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            written += [text[done:start], blank(text[start:end])]
            done = end
    return "".join([*written, text[done:]])


def _around(text: str, plain: str, parts: Sequence[Part], options: ChunkOptions, blocks: Sequence[Tag]) -> list[Piece]:
    pieces: list[Piece] = []
    for before, part in pairwise([None, *parts, None]):
        start, end = before.end if before else 0, part.start if part else len(text)
        if text[start:end].strip():
            own = [it._replace(start=it.start - start, end=it.end - start) for it in blocks if start <= it.start < end]
            pieces += pieces_of_markup(plain, (start, end), options, own)
    return pieces


def _programs(text: str, tags: Sequence[TemplateTag], syntax: str, names: list[Name]) -> Iterator[Part]:
    """Yield the members of classes in a template: `@code {...}` of Razor, `<%! ... %>` of JSP."""
    if syntax == PERCENT:
        for tag in tags:
            if tag.sign == "<%!":
                yield Part(tag.start, tag.end, (tag.start + 3, tag.end - 2), "java", "script", ("class A {", "}"))
    if syntax != RAZOR:
        return
    position = 0
    while match := _RAZOR_BLOCK.search(text, position):
        position = match.end()
        if match["name"]:
            names.append(Name(match["name"], "block", *match.span()))
            continue
        end = _end_of_block(text, match.start("brace"))
        position = max(end, position)
        yield Part(match.start(), end, (match.end(), max(end - 1, match.end())), "csharp", "script", ("class A {", "}"))


def _end_of_block(text: str, opens: int) -> int:
    depth = 0
    for match in _CSHARP.finditer(text, opens):
        depth += {"{": 1, "}": -1}.get(match["brace"] or "", 0)
        if match["brace"] and not depth:
            return match.end()
    return len(text)


def _restored(piece: Piece, plain: Masked) -> Piece:
    if not plain.values:
        return piece
    return piece._replace(
        symbol=plain.restored(piece.symbol),
        context=plain.restored(piece.context),
        defines=tuple(map(plain.restored, piece.defines)),
        definitions=tuple(replace(it, name=plain.restored(it.name)) for it in piece.definitions),
        symbols=tuple(replace(it, name=plain.restored(it.name)) for it in piece.symbols),
        headings=tuple(map(plain.restored, piece.headings)),
        content=plain.restored(piece.content),
    )


def _named(pieces: Sequence[Piece], names: Sequence[Name]) -> list[Piece]:
    """Name the later pieces of a block after it."""
    ordered = sorted(names, key=lambda it: it.start)
    starts = [it.start for it in ordered]
    result: list[Piece] = []
    opened: list[Name] = []
    done = 0
    for piece in pieces:
        at = bisect_right(starts, piece.start)
        opened += ordered[done:at]
        done = at
        while opened and opened[-1].end <= piece.start:
            opened.pop()
        around = opened[-1] if opened else None
        begins = bisect_right(starts, piece.end - 1) > at
        named = around and not piece.symbol and not begins
        result.append(piece._replace(symbol=around.name, kind=around.kind) if named and around else piece)
    return result
