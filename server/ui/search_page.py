"""The page to search on: the form, facets of the results, and each result with its lines and the parts of its score."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from cqm.index.model.query import Answer, Confidence, Hit, Query, SearchMode, page_start
from cqm.index.text.globs import escaped
from cqm.server.answers.as_json import highlights
from cqm.server.answers.header import advice_lines, header_lines
from cqm.server.answers.render import render_answer
from cqm.server.page import safe
from cqm.server.ui.code import code_table
from cqm.server.ui.library import Library
from cqm.server.ui.markup import choice, field, frame, notes, sentence, url

FIRST = 10
"""Results shown at first; more are a link away."""
_MOST = 30
"""Results looked at: facets count among them."""
_LINES = 12
"""Lines shown of a result."""
_LINES_ABOVE = 2
_FACETS = 8
"""Values shown of a facet."""
_LONGEST_QUESTION = 4_000
_SURENESS = {
    Confidence.HIGH: ("sure", "Likely what you asked for"),
    Confidence.LOW: ("unsure", "Perhaps not what you asked for"),
    Confidence.NONE: ("none", "Probably not in here; the nearest results"),
}
_NOTHING = ("none", "Nothing found")
_NOT_YET = ("unsure", "Not all is indexed yet")
_LONGEST_CURSOR = 6
_LONGEST_NAME = 100
"""Characters of a parameter in a note."""
_BAR = 120
"""Width of a bar of a score, in both directions together."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the form and the facets; empty values ask for anything, and `unknown` is an unknown mode."""

    q: str = ""
    mode: str = SearchMode.HYBRID.value
    root: str = ""
    folder: str = ""
    language: str = ""
    kind: str = ""
    shown: int = FIRST
    cursor: str = ""
    unknown: str = ""

    @property
    def query(self) -> Query:
        """The question for an index."""
        return Query(
            text=self.q,
            limit=_MOST,
            cursor=self.cursor,
            mode=SearchMode(self.mode),
            languages=(self.language,) if self.language else (),
            kinds=(self.kind,) if self.kind else (),
            include=(f"/{escaped(self.folder)}/**",) if self.folder else (),
        )

    def address(self, page: str, *, at: str = "", **changes: object) -> str:
        """Write the address of a page for this question, with some values changed."""
        known = {name: getattr(self, name) for name in ("q", "mode", "root", "folder", "language", "kind")}
        return url(page, at=at, **(known | {"mode": "" if self.mode == SearchMode.HYBRID else self.mode} | changes))


def asked_of(parameters: Mapping[str, str]) -> Asked:
    """Read the parameters of an address; an unknown mode is told, other numbers count as none."""
    mode, shown, cursor = (parameters.get(name, "") for name in ("mode", "shown", "cursor"))
    is_mode = mode in {it.value for it in SearchMode}
    return Asked(
        q=parameters.get("q", "").strip()[:_LONGEST_QUESTION],
        mode=mode if is_mode else SearchMode.HYBRID.value,
        shown=min(max(int(shown), FIRST), _MOST) if shown.isdecimal() and len(shown) <= len(str(_MOST)) else FIRST,
        unknown="" if is_mode else mode[:_LONGEST_NAME],
        cursor=cursor if cursor.isascii() and cursor.isdecimal() and len(cursor) <= _LONGEST_CURSOR else "",
        **{name: parameters.get(name, "") for name in ("root", "folder", "language", "kind")},
    )


def sureness(answer: Answer) -> tuple[str, str]:
    """Return the shade and the words for how sure an answer is."""
    return _SURENESS[answer.confidence] if answer.hits else _NOTHING


def search_page(library: Library, asked: Asked, problem: str = "") -> str:
    """Write the whole page; a problem, as HTML, stands in the place of the results."""
    kept = "".join(
        f"<input type='hidden' name='{name}' value='{safe(value)}'>"
        for name in ("root", "folder", "language", "kind")
        if (value := str(getattr(asked, name)))
    )
    question = (
        f"<input type='search' name='q' id='q' value='{safe(asked.q)}' autocomplete='off' spellcheck='false' "
        "placeholder='a question, a name, an error, a path' autofocus>"
    )
    modes = field("Mode", choice("mode", (it.value for it in SearchMode), asked.mode))
    form = (
        f"<form class='ask' role='search' action='./' method='get' data-search>{field('Search', question)}{modes}{kept}"
        "<button>Search</button></form>\n<p id='count' class='unseen' role='status' aria-live='polite'></p>\n"
    )
    title = f"{asked.q} · CQM" if asked.q else f"CQM: {', '.join(library.roots)}"
    return frame(
        title,
        "./",
        ["<h1 class='unseen'>Search</h1>", form, "<div id='results'>", problem or results(library, asked), "</div>"],
    )


def results(library: Library, asked: Asked) -> str:
    """Write the results of a question; without one, how to ask."""
    if not asked.q:
        places = "".join(f"<li>{safe(str(root))}</li>" for root in library.roots.values())
        return f"<div class='hint' data-count=''><p>Searched as you type:</p><ul>{places}</ul>{_HINT}</div>"
    began = time.perf_counter()
    query = asked.query
    answer = library.ask(query, asked.root)
    seconds = time.perf_counter() - began
    return "".join(_written(library, asked, query, answer, seconds))


def as_agent_sees(library: Library, asked: Asked, only: int | None) -> str:
    """Write the answer to a question as an agent reads it, or its result at place `only`, from 0."""
    settings = library.settings
    query = asked.query if only is not None else replace(asked.query, limit=settings.search.limit)
    answer = library.ask(query, asked.root)
    if only is not None:
        answer = replace(answer, hits=answer.hits[only : only + 1], parents=(), next_cursor="")
    return render_answer(query, answer, settings.server.token_budget)


def _written(library: Library, asked: Asked, query: Query, answer: Answer, seconds: float) -> Iterator[str]:
    _, *said = header_lines(query, answer)
    states = list(library.states(asked.root))
    count = f"{_counted(query, answer)} in {ceil(seconds * 1000)} ms"
    is_waited_for = bool(states) and not answer.hits and not (answer.complete and answer.chunks)
    shade, words = _NOT_YET if is_waited_for else sureness(answer)
    copied = asked.address("agent", cursor=asked.cursor)
    yield f"<div class='found' data-count='{count}'>"
    yield f"<aside class='facets' aria-label='Narrow down'>{''.join(_facets(library, asked, answer.hits))}</aside>"
    yield "<section class='hits' aria-label='Results'>"
    yield f"<p class='lead'><span class='sure {shade}'>{words}</span> <span class='dim'>{count}</span> "
    yield f"<button type='button' class='copy' data-copy='{copied}'>Copy as agents see it</button></p>"
    advice = advice_lines(query, answer) if answer.chunks or not states else ()
    unknown = _unknown(library, asked)
    yield notes([*unknown, *states, *(map(sentence, said) if answer.hits else advice)])
    editor = library.editor_links()
    for rank, hit in enumerate(answer.hits[: asked.shown]):
        opens = editor(hit.path, hit.asked_line or hit.line or hit.start_line)
        yield _result(asked, answer.in_english or asked.q, rank, hit, opens)
    yield f"<p class='pages'>{' '.join(_further(asked, answer))}</p></section></div>"


def _unknown(library: Library, asked: Asked) -> Iterator[str]:
    """Name unknown parameters of the address, and the values used in their place."""
    if asked.unknown:
        modes = ", ".join(it.value for it in SearchMode)
        yield f"mode {asked.unknown}: expected one of {modes}. These are the results of {asked.mode}."
    if asked.root and asked.root not in library.roots:
        roots = ", ".join(library.roots)
        yield f"root {asked.root[:_LONGEST_NAME]}: expected one of {roots}. These are the results of all."


def _counted(query: Query, answer: Answer) -> str:
    """Count the results of a page; of a further one, tell which they are."""
    first, count = page_start(query.cursor), len(answer.hits)
    if first and count:
        return f"results {first + 1} to {first + count}"
    return f"{count}{' or more' if answer.next_cursor else ''} result{'' if count == 1 else 's'}"


def _further(asked: Asked, answer: Answer) -> Iterator[str]:
    """Link the results beyond those shown."""
    rest, cursor = len(answer.hits) - asked.shown, asked.cursor
    if cursor:
        yield f"<a href='{asked.address('./')}'>First results</a>"
    if rest > 0:
        below = asked.address("./", at=f"r{asked.shown + 1}", shown=asked.shown + FIRST, cursor=cursor)
        yield f"<a class='more' href='{below}'>More results</a>"
    elif answer.next_cursor:
        yield f"<a class='more' href='{asked.address('./', cursor=answer.next_cursor)}'>Further results</a>"


def _result(asked: Asked, question: str, rank: int, hit: Hit, editor: str) -> str:
    line = hit.asked_line or hit.line or hit.start_line
    folder, _, name = hit.path.rpartition("/")
    symbol = hit.symbol if hit.line else ""
    file = url("file", path=hit.path, line=line, symbol=symbol, at=f"L{line}")
    # Apart, a name in Hebrew or Arabic does not pull the number of the line to its other side.
    above = f"{safe(folder)}/" if folder else ""
    where = f"<bdi class='dim' dir='ltr'>{above}</bdi><bdi dir='ltr'>{safe(name)}</bdi>:{line}"
    head = f"<a class='place' href='{file}'>{where}</a>"
    name = f"<bdi class='symbol'>{safe(hit.symbol)}</bdi>" if hit.symbol else ""
    facts = " ".join(f"<span class='tag'>{safe(it)}</span>" for it in (hit.kind, hit.language) if it)
    chance = (
        f"<span class='chance' title='chance to be what was asked for'>{hit.chance:.0%}</span>" if hit.chance else ""
    )
    opens = f"<a class='open' href='{safe(editor)}'>Open in the editor</a>" if editor else ""
    copies = (
        f"<button type='button' class='copy' data-copy='{asked.address('agent', only=rank, cursor=asked.cursor)}' "
        f"aria-label='Copy result {rank + 1} as agents see it'>Copy</button>"
    )
    return (
        f"<article class='hit' id='r{rank + 1}' tabindex='-1'><h2>{head} {name}</h2>"
        f"<p class='about'>{facts} {chance} {opens} {copies}</p>{excerpt(question, hit, file)}{why(hit)}</article>\n"
    )


def excerpt(question: str, hit: Hit, file: str) -> str:
    """Show the lines around a result, with a link to the rest in `file`: from the chunk's beginning, if it is near."""
    if hit.content:
        lines = hit.content.split("\n")
        return code_table("text.txt", lines[:_LINES], 0, {}) + _left_out(len(lines) - _LINES, file)
    lines = hit.text.rstrip("\n").split("\n")
    wanted = (hit.asked_line or hit.line or hit.start_line) - hit.start_line
    first = max(0, wanted - _LINES_ABOVE) if wanted >= _LINES - _LINES_ABOVE else 0
    shown = lines[first : first + _LINES]
    marks: dict[int, list[tuple[int, int]]] = {}
    part = replace(hit, text="\n".join(shown), start_line=hit.start_line + first)
    for number, start, end in hit.matches or highlights(part, question):
        marks.setdefault(number, []).append((start, end))
    rest = len(lines) - len(shown)
    return code_table(hit.path, shown, hit.start_line + first, marks) + _left_out(rest, file)


def _left_out(count: int, file: str) -> str:
    if count <= 0:
        return ""
    told = f"{count:,} more lines of this chunk"
    return f"<p class='rest'><a href='{file}'>{told}</a></p>" if file else f"<p class='rest dim'>{told}</p>"


def why(hit: Hit) -> str:
    """Draw the parts of the score as bars to both sides of nothing."""
    if not hit.parts:
        return ""
    most = max(map(abs, hit.parts.values())) or 1.0
    rows = "".join(
        f"<tr><th scope='row'>{safe(name.replace('_', ' '))}</th><td>{_bar(value / most)}</td>"
        f"<td class='n'>{value:+.2f}</td></tr>"
        for name, value in sorted(hit.parts.items(), key=lambda part: -abs(part[1]))
    )
    return f"<details class='why'><summary>Why it ranks here</summary><table>{rows}</table></details>"


def _bar(share: float) -> str:
    half = _BAR / 2
    width = max(abs(share) * half, 1.0)
    left = half if share >= 0 else half - width
    side = "for" if share >= 0 else "against"
    return (
        f"<svg class='bar' width='{_BAR}' height='10' aria-hidden='true'><rect class='{side}' x='{left:.1f}' y='1' "
        f"width='{width:.1f}' height='8' rx='2'/><rect class='zero' x='{half:.0f}' y='0' width='1' height='10'/></svg>"
    )


def _facets(library: Library, asked: Asked, hits: Sequence[Hit]) -> Iterator[str]:
    names_of_roots = tuple(library.roots)
    if len(names_of_roots) > 1:
        names = Counter(name for it in hits for name in names_of_roots if it.path.startswith(f"{name}/"))
        yield _facet(asked, "Root", "root", names)
    yield _facet(asked, "Language", "language", Counter(it.language for it in hits))
    yield _facet(asked, "Kind", "kind", Counter(it.kind for it in hits))
    yield _facet(asked, "Folder", "folder", Counter(_folders_below(names_of_roots, asked.folder, hits)))


def _folders_below(roots: Sequence[str], above: str, hits: Iterable[Hit]) -> Iterator[str]:
    """Yield for each result the folder it is in, one step below the chosen one, without the name of the root."""
    for hit in hits:
        path = hit.path
        if len(roots) > 1:
            path = path[len(next((name for name in roots if path.startswith(f"{name}/")), "")) + 1 :]
        rest = path[len(above) + 1 :] if above else path
        step, _, inside = rest.partition("/")
        if inside:
            yield f"{above}/{step}" if above else step


def _facet(asked: Asked, title: str, name: str, found: Counter[str]) -> str:
    """Write the values of a facet as links: of the chosen one, to leave it."""
    chosen = str(getattr(asked, name))
    above = chosen.rpartition("/")[0] if name == "folder" else ""
    first = (
        f"<li><a aria-current='true' href='{asked.address('./', **{name: above})}'>{safe(chosen)}"
        "<span aria-hidden='true'> ×</span><span class='unseen'>: any</span></a></li>"  # noqa: RUF001 - a sign to close
        if chosen
        else ""
    )
    items = "".join(
        f"<li><a href='{asked.address('./', **{name: value})}'>{safe(value)} <span class='dim'>{count}</span></a></li>"
        for value, count in found.most_common(_FACETS)
        if value and value != chosen
    )
    if not first and found.total() and len(found) < 2 and name != "folder":  # noqa: PLR2004 - nothing to choose
        return ""
    return f"<nav aria-label='{title}'><h2>{title}</h2><ul>{first}{items}</ul></nav>" if first or items else ""


_HINT = """<p class='dim'><kbd>/</kbd> goes to the question, <kbd>j</kbd> and <kbd>k</kbd> to the results,
<kbd>Enter</kbd> shows a file, <kbd>o</kbd> opens it in your editor, <kbd>?</kbd> lists all keys.</p>"""
