"""`cqm savings`: tokens of clients' answers, beside those of the files behind the answers."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cqm.chunkers.tokens import estimate
from cqm.index.disk.beneath import opened_root, read_small_beneath
from cqm.index.disk.locations import index_folder, is_begun
from cqm.index.model.asked import AskedQuestion
from cqm.server.answers.render import render_answer
from cqm.server.config.settings import Settings
from cqm.server.console import emit, number, show
from cqm.server.owner.open import open_index
from cqm.server.times import ago

_MOST_BYTES = 4 << 20
"""Bytes counted of a file; nobody would read more."""


@dataclass(frozen=True, slots=True)
class Savings:
    """Tokens of the remembered searches of an index, and of reading the files instead.

    Attributes:
        searches: remembered, with results; those for all lines (exact, regex) are left out.
        since: time of the first, in seconds since the epoch; 0 for none.
        reply_tokens: of the answers within the budget of the settings.
        first_file_tokens: of the first result's file: the least to read.
        file_tokens: of all files with results, each once a search.
    """

    searches: int
    since: float
    reply_tokens: int
    first_file_tokens: int
    file_tokens: int


def savings(root: Path, settings: Settings, *, as_json: bool) -> int:
    """Print the searches remembered by the process with the open index; nothing is written to disk."""
    if is_begun(index_folder(root, settings.index_options(root))):
        with open_index(root, settings, remembered=False) as opened:
            found = savings_of(opened.asked(), opened.root, settings.server.token_budget)
    else:
        found = Savings(0, 0.0, 0, 0, 0)
    if as_json:
        emit({"root": str(root)} | asdict(found))
    else:
        show(_lines(str(root), found, now=time.time()))
    return 0


def savings_of(asked: Iterable[AskedQuestion], root: Path, budget: int) -> Savings:
    """Add up searches with results.

    Parameters:
        root: its folder or file; its files are read as they are now, and missing ones count nothing.
        budget: tokens of an answer.
    """
    searches = [(it, it.query, it.answer) for it in asked if it.query and it.answer and it.answer.hits]
    ranked = [(it, query, answer) for it, query, answer in searches if not query.mode.is_of_lines]
    sizes: dict[str, int] = {}
    replies = first = whole = 0
    for _, query, answer in ranked:
        paths = list(dict.fromkeys(hit.path for hit in answer.hits))
        for path in paths:
            if path not in sizes:
                sizes[path] = _tokens_of(root, path)
        replies += estimate(render_answer(query, answer, budget))
        first += sizes[paths[0]]
        whole += sum(sizes[path] for path in paths)
    return Savings(len(ranked), min((it.at for it, _, _ in ranked), default=0.0), replies, first, whole)


def _tokens_of(root: Path, path: str) -> int:
    folder = root if root.is_dir() else root.parent
    try:
        with opened_root(folder, lists=False) as opened:
            return estimate(read_small_beneath(opened, path, _MOST_BYTES).decode(errors="replace"))
    except OSError:
        return 0


def _lines(root: str, found: Savings, *, now: float) -> Iterator[str]:
    yield root
    if not found.searches:
        yield (
            "  no search with results is remembered: the process that has an index open keeps them, and they go with it"
        )
        return
    searches = f"{found.searches:,} search{'es' * (found.searches != 1)}"
    read = number(found.reply_tokens, "token")
    yield f"  {searches}, the first {ago(found.since, now=now)}; their answers: about {read}"
    for what, tokens in (
        ("the file of the first result alone", found.first_file_tokens),
        ("all files of the results", found.file_tokens),
    ):
        yield f"  reading {what}: about {number(tokens, 'token')}{_times(tokens, found.reply_tokens)}"


def _times(tokens: int, replies: int) -> str:
    return f", {tokens / replies:.1f} times as many" if replies else ""
