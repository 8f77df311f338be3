"""The last questions of agents and other clients, with the lines each of them read."""

import time
from collections.abc import Mapping

from cqm.chunkers.tokens import estimate
from cqm.index.model.asked import AskedQuestion
from cqm.index.model.query import Hit, SearchMode
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
    asked = [(it, name) for name in library.roots for it in library.opened(name).index.asked()]
    asked.sort(key=lambda pair: -pair[0].at)
    budget = library.settings.server.token_budget
    items = "".join(_question(it, name, f"{name}/" if several else "", budget) for it, name in asked)
    nothing = "<p>Nobody has asked since the process that has the index open began.</p>"
    body = ["<h1>Asked</h1>", _ABOUT, f"<ol class='asked'>{items}</ol>" if items else nothing]
    return frame("Asked · CQM", "asked", body)


def _question(it: AskedQuestion, root: str, prefix: str, budget: int) -> str:
    text = safe((it.text if len(it.text) <= _LONGEST else f"{it.text[:_LONGEST]} …") or "the whole folder")
    where = _where(it, root, prefix)
    head = f"<a href='{where}'>{text}</a>" if where else text
    facts = [it.method, f"{it.found:,} found", f"{it.seconds * 1000:.0f} ms", ago(it.at, now=time.time()), it.client]
    read, tokens = "", ""
    if it.query and it.answer:
        shown = render_answer(it.query, it.answer, budget)
        tokens = f"about {estimate(shown):,} tokens"
        places = "".join(_place(hit, prefix) for hit in it.answer.hits[:_FEW])
        read = (
            f"<ul class='plain'>{places}</ul><details><summary>What it read</summary><pre>{safe(shown)}</pre></details>"
        )
    about = " · ".join(filter(None, (*facts, tokens)))
    return f"<li class='card'><h2>{head}</h2><p class='dim'>{safe(about)}</p>{read}</li>"


def _where(it: AskedQuestion, root: str, prefix: str) -> str:
    """Return the address of the page with the same answer; empty for none."""
    if it.method == "search":
        mode = it.query.mode if it.query and it.query.mode is not SearchMode.HYBRID else ""
        return url("./", q=it.text, mode=mode, root=root if prefix else "")
    return url("uses", name=it.text, path=prefix) if it.method == "usages" else ""


def _place(hit: Hit, prefix: str) -> str:
    line = hit.line or hit.start_line
    address = url("file", path=prefix + hit.path, line=line, at=f"L{line}")
    return f"<li><a href='{address}'>{safe(prefix + hit.path)}:{line}</a> <code>{safe(hit.symbol)}</code></li>"


_ABOUT = """<p class='dim'>What agents and commands asked of this index, kept in the memory of the process that has it
open, and nowhere else. Your own questions on this page are not kept. Tokens are of the answer within the budget of your
settings.</p>"""
