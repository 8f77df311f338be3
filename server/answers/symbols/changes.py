"""Commits and their changed lines, as text within a token budget."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import inf

from cqm.index.model.changes import ChangedBy, ChangedLines, Changes
from cqm.server.answers.budget import clipped, tokens_of_lines
from cqm.server.answers.names import path_name, place, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import number, one_line, visible

_ASIDE = {"test", "documentation"}
"""Roles of files shown by name only, without lines, if the commit changed others too."""
_MOST_BESIDE = 4
"""Further commits listed after the meant one."""
_MOST_FILES = 10
"""Most further changed files to name."""
_NAMES_SHARE = 0.2
"""Share of the budget for names of files and commits without lines."""
_ID_DIGITS = 10
_LONGEST_SUBJECT = 200
_DEEPEN = "`git fetch --unshallow` brings older commits."
_SHALLOW = f"This clone is shallow: older commits are not in it. {_DEEPEN}"


def changes_text(changes: Changes, token_budget: int | None = None, *, start: int = 0, mark: str = "") -> str:
    """Write commits: the meant first one with its lines, by place and symbol; the others a line each.

    Parameters:
        token_budget: tokens of the whole text; None for any number. Lines without room are only named.
        start: place of the first commit among the newest, from 0.
        mark: prefix of CQM's lines, where lines of files may stand above; a new one when empty.
    """
    budget = inf if token_budget is None else float(token_budget)
    if not changes.commits:
        shallow = f" {_SHALLOW}" if changes.is_shallow else ""
        return f"No commit's message has a word of {one_line(changes.what)!r}. Search for it in other words.{shallow}\n"
    if not changes.is_found:
        mark = mark or new_mark(it.subject for it in changes.commits)
        return clipped("\n".join(_listed(changes, budget, start, mark)) + "\n", budget)
    first, *others = changes.commits
    mark = mark or new_mark([*(it.text for it in changes.parts), *(it.subject for it in changes.commits)])
    until = [f"{mark} {one_line(changes.what)} up to:"] if ".." in changes.what.strip(".") else []
    # The subject of a commit is as much a stranger's as the lines of it.
    head = [explain_mark(mark), *until, _commit_line(first)]
    tail = []
    if changes.is_edge:
        tail.append(f"{mark} This clone is shallow and ends with it: what it changed is not known. {_DEEPEN}")
    if changes.gone:
        tail.append(f"{mark} {number(changes.gone, 'line')} of it {'are' if changes.gone > 1 else 'is'} not there now.")
    if beside := _beside(changes):
        tail.append(f"{mark} It also changed {beside}.")
    if others:
        tail += [f"{mark} Others like it:", *map(_commit_line, others[:_MOST_BESIDE])]
    shown, named = _shared_out(changes.parts, budget - tokens_of_lines([*head, *tail]), budget, mark)
    return clipped("\n".join([*head, *shown, *named, *tail]) + "\n", budget)


def _beside(changes: Changes) -> str:
    """Name the changed files without present lines: "app.py (+0 -2), tox.ini (+1 -1) and 3 more"."""
    shown = {part.path for part in changes.parts}
    files = [f"{path_name(it.path)} (+{it.added} -{it.removed})" for it in changes.files if it.path not in shown]
    more = len(files) - _MOST_FILES + changes.changed - len(changes.files)
    return ", ".join(files[:_MOST_FILES]) + (f" and {number(more, 'more file')}" if more > 0 else "")


def _listed(changes: Changes, budget: float, start: int, mark: str) -> Iterator[str]:
    head = [explain_mark(mark)]
    if changes.what:
        says = f"No commit's message says much of {one_line(changes.what)!r}."
        shallow = f" {_SHALLOW}" if changes.is_shallow else ""
        head = [f"{says} Ask with the id of one, or search.{shallow}", *head]
    yield from head
    left, following = budget - tokens_of_lines(head), changes.next_cursor
    for count, line in enumerate(map(_commit_line, changes.commits)):
        left -= tokens_of_lines([line])
        if left < tokens_of_lines([f'{mark} More commits: ask again with cursor "1000".']) and count:
            # Those of a question come on one page.
            following = "" if changes.what else str(start + count)
            break
        yield line
    if changes.is_shallow and not (following or changes.what):
        yield f"{mark} {_SHALLOW}"
    if following:
        yield f'{mark} More commits: ask again with cursor "{following}".'


def _shared_out(parts: Sequence[ChangedLines], room: float, budget: float, mark: str) -> tuple[list[str], list[str]]:
    """Return blocks of the fitting lines, and the names of the other parts."""
    has_source = any(it.role not in _ASIDE for it in parts)
    names_room = min(_NAMES_SHARE * budget, tokens_of_lines([*map(_head, parts)])) if len(parts) > 1 else 0.0
    lines_room, shown, named = room - names_room, [], []
    for part in parts:
        block = "\n".join([f"{mark} {_head(part)}", *visible(part.text).split("\n")])
        is_aside = has_source and part.role in _ASIDE
        if not is_aside and (tokens := tokens_of_lines([block])) <= lines_room:
            lines_room -= tokens
            room -= tokens
            shown.append(block)
        else:
            named.append(_head(part))
    kept = []
    for name in named:
        room -= tokens_of_lines([name])
        if room < tokens_of_lines([f"{mark} Named only: and 100 more."]):
            break
        kept.append(name)
    more = [f"{mark} and {len(named) - len(kept)} more"] if len(kept) < len(named) else []
    return shown, [f"{mark} Named only:", *kept, *more] if named else []


def _head(part: ChangedLines) -> str:
    symbol = f"  {symbol_name(part.symbol)} ({one_line(part.kind)})" if part.symbol else ""
    lines = (part.start_line, part.end_line) if part.end_line > part.start_line else (part.start_line,)
    return f"{place(part.path, *lines)}{symbol}"


def _commit_line(commit: ChangedBy) -> str:
    day = datetime.fromtimestamp(commit.at, UTC).date().isoformat()
    return f"{commit.id[:_ID_DIGITS]}  {day}  {one_line(commit.subject)[:_LONGEST_SUBJECT]}"
