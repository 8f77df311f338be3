"""`cqm usages`, `outline`, `read` and `changes`, once their options are read."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from cqm.index.model.changes import ChangesQuery
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.index.model.uses import UsesQuery
from cqm.server.cli.progress import bring_up_to_date
from cqm.server.config.usual import AskedSettings
from cqm.server.console import emit
from cqm.server.owner.open import OpenedIndex, open_index

Found = TypeVar("Found")


def usages(query: UsesQuery, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring the index up to date, and list definitions and references of a symbol."""
    from cqm.server.answers.symbols.usages import usage_text  # start-up time, here and below

    return _tell(
        lambda opened: opened.usages(query.name, query.limit, query.cursor, query.groups, query.depth),
        lambda found: usage_text(found, start=int(query.cursor or 0)),
        root,
        settings,
        as_json=as_json,
    )


def outline(query: OutlineQuery, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring the index up to date, and list the symbols of a file, or the most used ones of a folder."""
    from cqm.server.answers.symbols.outline import outline_text

    budget = settings.server.token_budget
    text = partial(outline_text, token_budget=budget, root=str(root))
    return _tell(lambda opened: opened.outline(query), text, root, settings, as_json=as_json)


def read(query: ReadQuery, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring the index up to date, and print a symbol, lines or a file."""
    from cqm.server.answers.symbols.reading import reading_text

    text = partial(reading_text, token_budget=settings.server.token_budget)
    asked = replace(query, tokens=settings.server.token_budget)
    return _tell(lambda opened: opened.read(asked), text, root, settings, as_json=as_json)


def changes(query: ChangesQuery, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring the index up to date, and print commits and the lines changed by the first one."""
    from cqm.server.answers.symbols.changes import changes_text

    return _tell(
        lambda opened: opened.changes(query),
        lambda found: changes_text(found, settings.server.token_budget, start=int(query.cursor or 0)),
        root,
        settings,
        as_json=as_json,
    )


def _tell(
    ask: Callable[[OpenedIndex], Found],
    text: Callable[[Found], str],
    root: Path,
    settings: AskedSettings,
    *,
    as_json: bool,
) -> int:
    """Bring the index up to date, ask it, and print the results."""
    with open_index(root, settings) as opened:
        bring_up_to_date(opened)
        found = ask(opened)
    if as_json:
        emit(found)
    else:
        sys.stdout.write(text(found))
    return 0
