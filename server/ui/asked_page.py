"""The last questions of agents, and of other clients, with the lines that each of them read."""

import time
from collections.abc import Mapping

from cqm.chunkers.tokens import estimate
from cqm.index.model.asked import AskedQuestion
from cqm.server.answers.render import render_answer
from cqm.server.page import safe
from cqm.server.times import ago
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, url

_FEW = 5
_LONGEST = 160
"""Characters shown of a question."""


def asked_page(library: Library, _given: Mapping[str, str]) -> str:
    """Write the page of all indexes: the last question first."""
    several = len(library.roots) > 1
    asked = [(it, f"{name}/" if several else "") for name in library.roots for it in library.opened(name).index.asked()]
    asked.sort(key=lambda pair: -pair[0].at)
    items = "".join(_question(it, prefix, library.settings.server.token_budget) for it, prefix in asked)
    nothing = "<p>Nobody has asked since the process that has the index open began.</p>"
    body = ["<h1>Asked</h1>", _ABOUT, f"<ol class='asked'>{items}</ol>" if items else nothing]
    return frame("Asked · CQM", "asked", body)


def _question(it: AskedQuestion, prefix: str, budget: int) -> str:
    text = it.text if len(it.text) <= _LONGEST else f"{it.text[:_LONGEST]} …"
    head = (
        f"<a href='{url('./', q=it.text)}'>{safe(text)}</a>"
        if it.method == "search"
        else safe(text or "the whole folder")
    )
    facts = [it.method, f"{it.found:,} found", f"{it.seconds * 1000:.0f} ms", ago(it.at, now=time.time()), it.client]
    read, tokens = "", ""
    if it.query and it.answer:
        shown = render_answer(it.query, it.answer, budget)
        tokens = f"about {estimate(shown):,} tokens"
        places = "".join(
            f"<li><a href='{url('file', path=prefix + hit.path, line=hit.start_line, at=f'L{hit.start_line}')}'>"
            f"{safe(prefix + hit.path)}:{hit.start_line}</a> <code>{safe(hit.symbol)}</code></li>"
            for hit in it.answer.hits[:_FEW]
        )
        read = (
            f"<ul class='plain'>{places}</ul><details><summary>What it read</summary><pre>{safe(shown)}</pre></details>"
        )
    about = " · ".join(filter(None, (*facts, tokens)))
    return f"<li class='card'><h2>{head}</h2><p class='dim'>{safe(about)}</p>{read}</li>"


_ABOUT = """<p class='dim'>What agents and commands asked of this index, kept in the memory of the process that has it
open, and nowhere else. Your own questions on this page are not kept. Tokens are of the answer within the budget of your
settings.</p>"""
