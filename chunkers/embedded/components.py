"""Cut single-file components of Vue, Svelte and Astro: script, template and style, each by its own language."""

import re
from collections.abc import Iterator
from itertools import pairwise

from cqm.chunkers.documents.markup import CLOSE, COMMENT, EMPTY, OPEN, Token, attributes_of_html, tokens_of_html
from cqm.chunkers.embedded.markup import pieces_of_markup
from cqm.chunkers.embedded.parts import Cutter, Name, Part, joined, language_named, pieces_of_part, spread, with_names
from cqm.chunkers.embedded.scripts import named_by_framework
from cqm.chunkers.languages.model import COMPONENT
from cqm.chunkers.model import ChunkOptions, Cut, Piece
from cqm.chunkers.splitting import Span

VUE, SVELTE, ASTRO = "vue", "svelte", "astro"

SCRIPT, STYLE, TEMPLATE = "script", "style", "template"

_FRONT_MATTER = re.compile(r"\s*---[ \t]*\r?\n(?P<inner>(?:.*\n)*?)(?P<end>---)[ \t]*(?:\r?\n|$)")
_DEFAULTS = {SCRIPT: "javascript", STYLE: "css"}


def pieces_of_component(text: str, language: str, path: str, options: ChunkOptions, cut: Cutter) -> Cut:
    """Cut a component at the parts of its file; the component is a symbol, named after the file.

    Parameters:
        language: `VUE`, `SVELTE` or `ASTRO`.
        cut: cuts a part by its language.
    """
    component = component_of(path)
    pieces: list[Piece] = []
    warnings: list[str] = []
    parts = [*_parts(text, language)]
    # Between the parts of a component, Vue has comments; Svelte and Astro have their template there.
    for before, part in pairwise([None, *parts, None]):
        between = before.end if before else 0, part.start if part else len(text)
        if text[slice(*between)].strip() and (language != VUE or not parts):
            pieces += pieces_of_markup(text, between, options)
        if part is None:
            break
        if part.language == "html":
            pieces += spread(text, pieces_of_markup(text, part.inner, options), (part.start, part.end), options)
            continue
        own, told = pieces_of_part(text, part, options, cut)
        warnings += told
        pieces += named_by_framework(text, own, part.inner, component) if part.kind == SCRIPT else own
    pieces = joined(text, spread(text, pieces, (0, len(text)), options), options)
    if component:
        named = (piece if piece.symbol else piece._replace(symbol=component) for piece in pieces)
        whole = len(text) - len(text.lstrip()), len(text.rstrip())
        snippets = [*_snippets(text)] if language == SVELTE else []
        pieces = with_names(text, [*named], [Name(component, COMPONENT, *whole), *snippets] if pieces else [])
    return pieces, list(dict.fromkeys(warnings))


def component_of(path: str) -> str:
    """Return the name of the component in a file: the file's, or the folder's around an `index` file."""
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    return folders[-1] if stem.lower() == "index" and folders else stem


_SNIPPET = re.compile(r"\{#snippet\s+(?P<name>[A-Za-z_$][\w$]{0,100})\s*[(<]|(?P<end>\{/snippet\s*\})")


def _snippets(text: str) -> Iterator[Name]:
    """Yield the snippets of Svelte, which are called as functions."""
    opened: list[re.Match[str]] = []
    for tag in _SNIPPET.finditer(text):
        if tag["end"] is None:
            opened.append(tag)
        elif opened:
            begin = opened.pop()
            yield Name(begin["name"], "function", begin.start(), tag.end())


def _parts(text: str, language: str) -> Iterator[Part]:
    position = 0
    if language == ASTRO and (match := _FRONT_MATTER.match(text)):
        position = match.end()
        yield Part(match.start(), match.end(), match.span("inner"), "typescript", SCRIPT)
    opening: Token | None = None
    depth = 0
    for token in tokens_of_html(text):
        if token.start < position or token.kind in (COMMENT, EMPTY) or not token.name:
            continue
        if opening is None:
            if token.kind == OPEN and (language == VUE or token.name in _DEFAULTS):
                opening, depth = token, 1
        elif token.name == opening.name:
            depth += {OPEN: 1, CLOSE: -1}.get(token.kind, 0)
            if not depth:
                yield from _part(text, opening, (token.start, token.end), language)
                opening = None
    if opening is not None:
        # Its end is not typed yet.
        yield from _part(text, opening, (len(text), len(text)), language)


def _part(text: str, opening: Token, closing: Span, language: str) -> Iterator[Part]:
    inner = opening.end, closing[0]
    if not text[slice(*inner)].strip():
        return
    attributes = attributes_of_html(text, opening)
    written = attributes.get("lang") or attributes.get("type") or ""
    default = _DEFAULTS.get(opening.name, "html" if opening.name == TEMPLATE else opening.name)
    if language == ASTRO and opening.name == SCRIPT:
        default = "typescript"
    yield Part(opening.start, closing[1], inner, language_named(written, default), opening.name)
