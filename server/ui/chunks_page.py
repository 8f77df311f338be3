"""A file cut in several ways side by side, with a slider for the size of each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from cqm.chunkers.errors import CqmError
from cqm.index.model.symbols import OutlineQuery
from cqm.server.config.settings import Settings
from cqm.server.page import safe
from cqm.server.preview.choice import Choice
from cqm.server.preview.html import preview_parts
from cqm.server.preview.preview import is_large, listed_document, preview, warned
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, notes, url
from cqm.server.ui.shown_lines import ShownLines, number_of

_MOST_FILES = 200
_STEP = 64
_PART_LINES = 2_000
"""Lines of a part of a large file."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A strategy with a slider.

    Attributes:
        least, most, usual: tokens wanted for a chunk.
        options: from the tokens to the options of the strategy; limits follow the size: each size is allowed.
    """

    least: int
    most: int
    usual: Callable[[Settings], int]
    options: Callable[[int, Settings], Mapping[str, int]]


_WAYS: Mapping[str, _Way] = {
    "auto": _Way(
        64,
        2048,
        lambda settings: settings.chunk.max_tokens,
        lambda size, settings: {"max_tokens": size, "min_tokens": min(settings.chunk.min_tokens, size)},
    ),
    "fixed": _Way(128, 2048, lambda _: 512, lambda size, _: {"size_tokens": size, "min_tokens": min(64, size // 2)}),
    "sentence": _Way(
        128,
        2048,
        lambda _: 512,
        lambda size, _: {"target_tokens": size, "max_tokens": size * 3 // 2, "min_tokens": size // 8},
    ),
    "semantic": _Way(
        128,
        2048,
        lambda _: 512,
        lambda size, _: {"target_tokens": size, "max_tokens": size * 3 // 2, "min_tokens": size // 8},
    ),
    "hierarchical": _Way(
        64,
        1024,
        lambda _: 256,
        lambda size, _: {"child_tokens": size, "parent_tokens": size * 4, "min_tokens": size // 4},
    ),
}
"""Strategies with a size to slide. Semantic needs a model; the error says so."""
_FIRST = ("auto", "fixed")


def chunks_page(library: Library, given: Mapping[str, str], problem: str = "") -> str:
    """Write the page: the form, and the file cut in the chosen ways.

    Parameters:
        given: `path`; by the name of a strategy "on", and by the name with "_tokens" its size; `first` line of a part
            of a large file.
        problem: stands in the place of the chunks, as HTML.
    """
    path = given.get("path", "")
    chosen = _chosen(given)
    ways = "".join(_control(name, chosen, given, library.settings) for name in _WAYS)
    kept = (
        f"<input type='hidden' name='first' value='{first}'>"
        if (first := number_of(given.get("first", ""), 1)) > 1
        else ""
    )
    names = "".join(f"<option value='{safe(it)}'></option>" for it in _files(library)) if not path else ""
    form = (
        "<form class='ask ways' action='preview' method='get' data-cut>"
        f"<label><span>File</span><input type='text' name='path' value='{safe(path)}' list='files' spellcheck='false' "
        f"placeholder='path of a file of the index'></label><datalist id='files'>{names}</datalist>"
        f"<fieldset><legend>Ways to cut</legend>{ways}</fieldset>{kept}<button>Cut</button></form>"
    )
    title = f"Chunks of {path} · CQM" if path else "Chunks · CQM"
    shown = (problem or cut(library, given)) if path else _HINT
    body = ["<h1>Chunks</h1>", form, "<div id='cut' class='cut'>", shown, "</div>"]
    return frame(title, "preview", body, styles=("preview.css",))


def cut(library: Library, given: Mapping[str, str]) -> str:
    """Write the file cut in the chosen ways, side by side; see `chunks_page`.

    Raises:
        CqmError: the file is not in the index, or can't be read.
    """
    opened, relative = library.locate_file(given.get("path", ""))
    document, warnings = listed_document(opened.index.root, relative, opened.settings, library.workers)
    part = ShownLines.of(document.text, number_of(given.get("first", ""), 1), _PART_LINES)
    lines, links = ((part.first, part.last), _links(part, given)) if is_large(document.text) else (None, "")
    made, problems = [], []
    for name in _chosen(given):
        size = _size(name, given, opened.settings)
        try:
            options = _WAYS[name].options(size, opened.settings)
            way = Choice(name, options)
            one = preview(document, way, opened.settings, library.workers, lines=lines)
            made.append(warned(one, warnings))
        except CqmError as error:
            problems.append(f"{name}: {error}")
    parts = "".join(preview_parts(made)) if made else ""
    wide = "wide" if len(made) > 1 else "single"
    return f"{notes(problems)}{links}<div class='{wide}' style='--columns:{max(len(made), 1)}'>{parts}</div>{links}"


def _links(part: ShownLines, given: Mapping[str, str]) -> str:
    """Tell which lines of a large file are cut, with links to those before and after."""
    kept = {name: given[name] for name in ("path", *_WAYS, *(f"{name}_tokens" for name in _WAYS)) if name in given}
    lines = f"lines {part.first:,} to {part.last:,} of {part.total:,}"
    told = f"This file is large: {lines} are cut, as if there were no others."
    return f"<p class='pages'>{told} {part.links('preview', kept)}</p>"


def _chosen(given: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in _WAYS if given.get(name)) or _FIRST


def _size(name: str, given: Mapping[str, str], settings: Settings) -> int:
    way, text = _WAYS[name], given.get(f"{name}_tokens", "")
    asked = (
        int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(way.most)) else way.usual(settings)
    )
    return min(max(asked, way.least), way.most)


def _control(name: str, chosen: tuple[str, ...], given: Mapping[str, str], settings: Settings) -> str:
    way, size = _WAYS[name], _size(name, given, settings)
    checked = " checked" if name in chosen else ""
    return (
        "<div class='way'><label class='check'>"
        f"<input type='checkbox' name='{name}' value='on'{checked}> {name}</label>"
        f"<label class='slider'><span class='unseen'>tokens of {name}</span><input type='range' name='{name}_tokens' "
        f"min='{way.least}' max='{way.most}' step='{_STEP}' value='{size}'><output>{size}</output></label></div>"
    )


def _files(library: Library) -> Iterator[str]:
    """Yield files to choose from: those with the most used symbols."""
    for name in library.roots:
        opened = library.opened(name)
        prefix = f"{name}/" if len(library.roots) > 1 else ""
        for file in opened.index.outline(OutlineQuery(limit=_MOST_FILES)).files:
            yield f"{prefix}{file.path}"


_HINT = f"<p class='dim'>Choose a file, or come here from a <a href='{url('./')}'>result</a>.</p>"
