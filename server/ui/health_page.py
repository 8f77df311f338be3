"""The health of each index: its state as it changes, missing files with the reason, and the tree by size."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, starmap
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from cqm.chunkers.errors import CqmError
from cqm.index.model.freshness import judged
from cqm.index.model.query import SkipReason
from cqm.index.model.status import IndexState, IndexStatus
from cqm.server.answers.status_text import freshness_text, pace_text, running_line, size_text
from cqm.server.console import number
from cqm.server.owner.address import read_address
from cqm.server.page import safe
from cqm.server.times import ago
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, listed, notes, url
from cqm.server.ui.treemap import Sized, treemap
from cqm.server.workspace.workspace import OpenIndex

_MOST_LISTED = 100
_BAR = 160
_MOST_BARS = 12
_PAUSE_SECONDS, _CALM_SECONDS = 0.6, 4.2
"""Time between two looks while the index changes, and else."""
_GLANCE_SECONDS = 0.3
"""Time between looks whether the browser left."""
_STREAM_SECONDS = 120.0
"""The browser asks again after this time: a page left open holds no connection for ever."""
_MOST_FILES = 100_000
"""Files drawn: each takes half a kilobyte meanwhile."""
_GOOD = {IndexState.COMPLETE, IndexState.RUNNING}


def health_page(library: Library, _given: Mapping[str, str]) -> str:
    """Write the page of all indexes."""
    maps = "".join(
        f"<section class='card'><h2>{safe(name)} by size and language</h2><div data-load='{url('treemap', root=name)}' "
        f"aria-busy='true'><a href='{url('treemap', root=name)}'>Draw the tree</a></div></section>"
        for name in library.roots
    )
    state = f"<div data-events='events' data-page='health'>{health(library)}</div>"
    body = ["<h1>Health</h1>", state, maps, _lists(library)]
    return frame("Health · CQM", "health", body)


def health(library: Library) -> str:
    """Write the changing part of the page."""
    return "".join(_card(library, name) for name in library.roots)


async def health_events(library: Library, is_gone: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
    """Yield the changing part as server-sent events, whenever it is another one, until `is_gone`."""
    yield "retry: 1000\n\n"
    told, end = "", time.monotonic() + _STREAM_SECONDS
    while time.monotonic() < end and not await is_gone():
        now = await run_sync(health, library)
        if now != told:
            told = now
            one_line = now.replace("\n", " ")
            yield f"data: {one_line}\n\n"
        # Only of open ones: to open one would stop all requests, and may fail. The card shows why.
        indexes = map(library.workspace.opened, library.roots.values())
        is_busy = library.opening.is_set() or any(opened and opened.running_job() for opened in indexes)
        for _ in range(round((_PAUSE_SECONDS if is_busy else _CALM_SECONDS) / _GLANCE_SECONDS)):
            if await is_gone():
                return
            await anyio.sleep(_GLANCE_SECONDS)


def tree(library: Library, given: Mapping[str, str]) -> str:
    """Draw the files of an index; during the first index, those in scope, by names and sizes alone."""
    from cqm.index.status.status import read_sizes  # start-up time of servers, here and below

    name = given.get("root", "")
    opened = library.opened(name if name in library.roots else next(iter(library.roots)))
    held = read_sizes(opened.index.root, opened.index.options) if opened.is_complete else ()
    files = list(islice(starmap(Sized, held) if held else _in_scope(opened), _MOST_FILES))
    drawn = treemap(files)
    cut = f"<p class='dim'>Of the first {_MOST_FILES:,} files.</p>" if len(files) == _MOST_FILES else ""
    return f"{drawn}{cut}" if drawn else "<p class='dim'>There is no file to draw.</p>"


def _in_scope(opened: OpenIndex) -> Iterator[Sized]:
    from cqm.chunkers.detect import language_of
    from cqm.index.files.scan import scan

    found = scan(opened.index.root, opened.settings.scan_options())
    return (Sized(it.path, it.size, language_of(it.path)) for it in found if it.skip is None)


def _card(library: Library, name: str) -> str:
    try:
        opened = library.opened(name)
        backlog, status = opened.backlog(), opened.index.status()
    except CqmError as error:
        return f"<section class='card'><h2>{safe(name)}</h2>{notes([str(error)])}</section>"
    status = replace(status, freshness=judged(status.freshness, backlog.count, backlog.since))
    more = (("watch", safe(opened.watch_state())), ("owner's memory", _memory(Path(opened.index.folder))))
    told = notes(filter(None, [library.workspace.notice(library.roots[name])]))
    return status_card(status, f"{_work(opened, status)}{told}", more)


def status_card(status: IndexStatus, work: str = "", more: Iterable[tuple[str, str]] = ()) -> str:
    """Draw the state of an index.

    Parameters:
        work: the running work, and notes, as HTML.
        more: further facts, with HTML as values.
    """
    updated = f"{freshness_text(status.freshness)}, updated {ago(status.updated_at, now=time.time())}"
    good = "" if status.state in _GOOD else " unsure"
    return (
        f"<section class='card'><h2>{safe(status.root)}</h2>"
        f"<p><span class='sure{good}'>{safe(status.state.value)}</span> <span class='dim'>{safe(updated)}</span></p>"
        f"{work}{notes(_problems(status))}"
        f"<div class='halves'><div>{listed([*_facts(status), *more])}</div>"
        f"<div>{_bars('Chunks by language', status.languages)}{_bars('Left out, by reason', status.skipped)}</div>"
        "</div></section>"
    )


def _work(opened: OpenIndex, status: IndexStatus) -> str:
    """Show running work with its progress."""
    job = opened.running_job()
    done, total, line = 0, 0, ""
    if job:
        done, total, line = job.progress.done, job.progress.total, f"{job.progress.phase}: {pace_text(job.progress)}"
    elif status.running:
        now = status.running[0]
        done, total, line = now.done, now.total, running_line(now)
    if not line:
        return ""
    share = f" value='{done}' max='{total}'" if total else ""
    return f"<p class='work'><progress aria-label='Progress'{share}></progress> {safe(line)}</p>"


def _problems(status: IndexStatus) -> Iterator[str]:
    if not Path(status.root).exists():
        yield "This folder does not exist any more; the index is its last one. Bring it back or mount its disk."
    if status.damage:
        yield f"Damaged; the next update rebuilds it: {status.damage}"
    if status.unavailable:
        yield f"Not used; the next update makes another one: {status.unavailable}"
    if status.stopped:
        yield "The last update was cut short; the next one does the rest."
    if status.failed:
        yield f"{number(len(status.failed), 'file')} failed; they are listed below."
    yield from (f"{model.name}: {model.problem}" for model in status.models if model.problem)
    yield from (f"cache, {layer.name}: {layer.problem}" for layer in status.cache if layer.problem)


def _facts(status: IndexStatus) -> Iterator[tuple[str, str]]:
    yield "files", safe(", ".join(f"{count:,} {state}" for state, count in status.files.items()) or "none")
    yield "chunks", f"{status.chunks:,}"
    yield "vectors", safe(status.space or "none: searched by words")
    yield "wait for a model", f"{status.lacking:,}" if status.lacking else ""
    yield "models", safe(", ".join(model.name for model in status.models))
    yield "commit", safe(status.git_head[:10] if status.git_head else "")
    yield (
        "redacted",
        f"{number(status.redacted_secrets, 'secret')} in {number(status.redacted_files, 'file')}"
        if status.redacted_secrets
        else "",
    )
    for layer in status.cache:
        yield f"cache, {layer.name}", f"{layer.hits:,} found, {layer.misses:,} not, {size_text(layer.size_bytes)}"
    yield "on disk", size_text(status.size_bytes)
    yield "kept in", safe(status.location)


def _memory(folder: Path) -> str:
    """Return the resident memory of the process with the open index; empty if the system does not tell."""
    address = read_address(folder)
    try:
        told = Path(f"/proc/{address.pid}/status").read_text(encoding="ascii") if address else ""
    except (OSError, UnicodeDecodeError):
        return ""
    kilobytes = next((line.split()[1] for line in told.splitlines() if line.startswith("VmRSS:")), "")
    return f"{size_text(int(kilobytes) * 1024)}, process {address.pid}" if kilobytes and address else ""


def _bars(title: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    ordered = sorted(counts.items(), key=lambda it: -it[1])
    most = ordered[0][1] or 1
    rows = "".join(
        f"<tr><th scope='row'>{safe(name)}</th><td><svg class='bar' width='{_BAR}' height='10' aria-hidden='true'>"
        f"<rect class='for' y='1' width='{max(count / most * _BAR, 1):.1f}' height='8' rx='2'/></svg></td>"
        f"<td class='n'>{count:,}</td></tr>"
        for name, count in ordered[:_MOST_BARS]
    )
    rest = sum(count for _, count in ordered[_MOST_BARS:])
    rows += f"<tr><th scope='row' class='dim'>others</th><td></td><td class='n'>{rest:,}</td></tr>" if rest else ""
    return f"<h3>{title}</h3><div class='why'><table>{rows}</table></div>"


def _lists(library: Library) -> str:
    """List the files left out of the indexes, wholly or partly."""
    parts = []
    for name in library.roots:
        try:
            index = library.opened(name).index
            status, skipped, secrets = index.status(), index.skipped(), index.secrets()
        except CqmError:
            # Its card shows why.
            continue
        left_out = [it for it in skipped if it.reason != SkipReason.SECRET]
        whole = [it for it in skipped if it.reason == SkipReason.SECRET]
        redacted = [f"{it.path}:{found.line}: {found.kind}" for it in secrets for found in it.findings]
        rows = {
            "Failed": [f"{it.path}: {it.reason}" for it in status.failed],
            "Left out": [f"{it.path}: {it.reason}" for it in left_out],
            "Secrets": [*redacted, *(f"{it.path}: left out whole" for it in whole)],
        }
        parts += [_list(f"{title} in {name}", lines) for title, lines in rows.items() if lines]
    return "".join(parts)


def _list(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{safe(line)}</li>" for line in lines[:_MOST_LISTED])
    rest = f"<li class='dim'>{len(lines) - _MOST_LISTED:,} more</li>" if len(lines) > _MOST_LISTED else ""
    return (
        f"<details class='card'><summary>{safe(title)} <span class='tag'>{len(lines):,}</span></summary>"
        f"<ul class='plain'>{items}{rest}</ul></details>"
    )
