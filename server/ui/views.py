"""Replies drawn for the window of an agent's client: parts of the pages, without links, and the page around them."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from cqm.chunkers.extras import DISTRIBUTION
from cqm.index.model.query import Answer, Hit, Query
from cqm.index.model.status import IndexStatus
from cqm.server.answers.header import advice_lines, header_lines
from cqm.server.client_views import Views
from cqm.server.page import safe
from cqm.server.ui.health_page import status_card
from cqm.server.ui.markup import notes, sentence
from cqm.server.ui.search_page import excerpt, sureness, why

_MOST = 30
"""Results drawn; the model may ask for more."""
_STATIC = Path(__file__).parent / "static"
# No forms: a sandbox may forbid them.
_ASKS = {
    "search": "<div class='ask' id='ask' role='search'><label><span>Search</span><input type='search' id='query' "
    "autocomplete='off' spellcheck='false'></label><button type='button' data-ask>Search</button></div>",
    "index_status": "<div class='ask' id='ask'><button type='button' data-ask>Look again</button></div>",
}


def draw_page(tool: str) -> str:
    """Write the page of a tool: all of its style and script are in it, since it has no address of its own."""
    style, script = (_STATIC / "ui.css").read_text("utf-8"), (_STATIC / "view.js").read_text("utf-8")
    return (
        "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>CQM: {tool}</title><style>{style}</style></head>\n"
        f"<body data-tool='{tool}' data-version='{safe(version(DISTRIBUTION))}'><main>{_ASKS[tool]}"
        "<p id='told' class='dim' role='status' aria-live='polite'></p><div id='view'></div></main>\n"
        f"<script>{script}</script></body>\n</html>\n"
    )


def draw_answer(query: Query, answer: Answer) -> str:
    """Draw the results of a question."""
    _, *said = header_lines(query, answer)
    shade, words = sureness(answer)
    shown = answer.hits[:_MOST]
    told = notes(map(sentence, said)) if shown else notes(advice_lines(query, answer))
    hits = "".join(_drawn(answer.in_english or query.text, hit) for hit in shown)
    lead = f"<p class='lead'><span class='sure {shade}'>{words}</span> <span class='dim'>{len(answer.hits)} results"
    return f"<section class='hits' aria-label='Results'>{lead}</span></p>{told}{hits}</section>"


def draw_status(statuses: Sequence[IndexStatus]) -> str:
    """Draw the health of some indexes."""
    return "".join(map(status_card, statuses))


def _drawn(question: str, hit: Hit) -> str:
    line = hit.asked_line or hit.line or hit.start_line
    folder, _, name = hit.path.rpartition("/")
    where = f"<span class='dim'>{safe(folder)}{'/' if folder else ''}</span>{safe(name)}:{line}"
    place = f"<button type='button' class='place' data-read='{safe(f'{hit.path}:{line}')}'>{where}</button>"
    symbol = f"<b class='symbol'>{safe(hit.symbol)}</b>" if hit.symbol else ""
    return (
        f"<article class='hit'><h2>{place} {symbol}</h2><p class='about'>{' '.join(_facts(hit))}</p>"
        f"{excerpt(question, hit, '')}{why(hit)}</article>\n"
    )


def _facts(hit: Hit) -> Iterator[str]:
    yield from (f"<span class='tag'>{safe(it)}</span>" for it in (hit.kind, hit.language) if it)
    if hit.chance:
        yield f"<span class='chance' title='chance to be what was asked for'>{hit.chance:.0%}</span>"


VIEWS = Views(draw_page, draw_answer, draw_status)
