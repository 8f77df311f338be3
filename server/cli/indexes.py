"""`cqm list`, `remove`, `compact`, and the commands carrying indexes. Each command returns an exit code."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cqm.chunkers.errors import CqmError
from cqm.index.disk.size import size_on_disk
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.status import IndexEntry
from cqm.index.remote.variables import process_variables
from cqm.index.status.catalogue import all_indexes, entry, foreign_index, indexes_of, remove_index
from cqm.server.answers.status_text import entry_lines, size_text, summary_lines
from cqm.server.cli.progress import bring_up_to_date, interruptible, progress_shown, settled
from cqm.server.config.usual import AskedSettings
from cqm.server.console import emit, number, say, show
from cqm.server.errors import SharingError
from cqm.server.owner.connect import dismiss, users
from cqm.server.owner.open import open_index

if TYPE_CHECKING:
    from cqm.index.model.outcomes import Exported, Published
    from cqm.server.bulk.listed import Repository
    from cqm.server.bulk.work import Made, Plan


def list_indexes(roots: Sequence[Path], settings: AskedSettings, *, as_json: bool) -> int:
    """Show all indexes, or those of some roots; 1 when one of these has none."""
    options = _options(settings)
    entries, without = _found(roots, options) if roots else ([*map(_entry, all_indexes(options))], 0)
    if as_json:
        emit({"indexes": entries, "size_bytes": sum(found.size_bytes for found in entries)})
        return 1 if without else 0
    for found in entries:
        show(entry_lines(found))
    show([f"{number(len(entries), 'index', 'indexes')}, {size_text(sum(found.size_bytes for found in entries))}"])
    return 1 if without else 0


def remove(roots: Sequence[Path], settings: AskedSettings, *, asks: bool, as_json: bool) -> int:
    """Delete the indexes of some roots; without roots, those of all missing roots. 1 when one stays.

    Parameters:
        settings: name the home of indexes and the store.
        asks: have the user confirm on a terminal.
    """
    options = _options(settings)
    if roots:
        entries, problems = _found(roots, options)
    else:
        entries, problems = [found for found in map(_entry, all_indexes(options)) if not found.root_exists], 0
    if entries and asks and not _confirmed(entries):
        return 1
    removed = [found for found in entries if _removed(found, options)]
    if as_json:
        emit({"removed": removed})
    else:
        show(f"{found.root}: index deleted, {size_text(found.size_bytes)}" for found in removed)
    return 1 if problems or len(removed) < len(entries) else 0


def compact(root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Rewrite an index without the space of deleted chunks, and report the space gained."""
    with open_index(root, settings, adopts=True) as opened:
        before = size_on_disk(opened.folder)
        opened.compact()
    after = size_on_disk(opened.folder)
    if as_json:
        emit({"root": str(root), "before_bytes": before, "after_bytes": after})
    else:
        show([f"{root}: {size_text(before)} before, {size_text(after)} now"])
    return 0


def export(root: Path, file: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring an index up to date, write it to a file, and report its contents."""
    with open_index(root, settings, adopts=True) as opened:
        bring_up_to_date(opened)
        found = opened.export(file.parent.resolve() / file.name)
    if as_json:
        emit(found)
        return 0
    show([f"{found.file}: {_held(found)}", *_commit(found), f"sha256 {found.sha256}"])
    return 0


def restore(file: Path, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Take an index from a file, bring it up to date, and print a summary."""
    return _begun_anew(root, settings, lambda opened, **asked: opened.restore(file, **asked), as_json=as_json)


def publish(name: str, root: Path, keep: int, settings: AskedSettings, *, as_json: bool) -> int:
    """Bring an index up to date, write it to the server as a base, and report its contents."""
    from cqm.index.store.bases import SharedBase  # start-up time, here and below

    # Fail before the work if the name or the address cannot be used.
    SharedBase(name, settings.store_options(), process_variables()).close()
    with open_index(root, settings, adopts=True) as opened:
        bring_up_to_date(opened)
        found = opened.publish(name, keep=keep)
    if as_json:
        emit(found)
        return 0
    deleted = [f"deleted {number(len(found.deleted), 'older base')}"] if found.deleted else []
    show([f"{found.name}: {_held(found)} to take it", *_commit(found), f"collection {found.collection}", *deleted])
    return 0


def take(name: str, root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Have an index stand on a base of the team, bring it up to date, and print a summary."""
    return _begun_anew(root, settings, lambda opened, **asked: opened.take(name, **asked), as_json=as_json)


def _begun_anew(root: Path, settings: AskedSettings, begin: Callable[..., UpdateSummary], *, as_json: bool) -> int:
    """Replace an index by a method of its own, and print a summary."""
    opening = open_index(root, settings, adopts=True)
    with opening as opened, interruptible() as cancelled, progress_shown() as report:
        summary = settled(begin(opened, report=report, cancelled=cancelled), cancelled, anew=True)
    if as_json:
        emit(summary)
    else:
        show(summary_lines(str(root), summary))
    return 1 if summary.failed or summary.dropped else 0


def _held(found: "Exported | Published") -> str:
    return f"{number(found.files, 'file')}, {number(found.chunks, 'chunk')}, {size_text(found.size_bytes)}"


def _commit(found: "Exported | Published") -> list[str]:
    return [f"commit {found.commit}"] if found.commit else []


def bulk(listed: "Sequence[Repository]", plan: "Plan", engine: str, *, as_json: bool) -> int:
    """Make snapshots of repositories, and tell of each as it is done; 1 when one failed."""
    from cqm.server.bulk.bulk import make_snapshots

    def report(made: "Made") -> None:
        if as_json:
            emit(made)
        elif made.error:
            say(f"{made.name}: {made.error}")
        else:
            how = "kept" if made.kept else f"{made.seconds:.1f} s"
            show([f"{made.file}: {number(made.files, 'file')}, {number(made.chunks, 'chunk')}, {how}"])

    made = make_snapshots(listed, plan, report, engine)
    failed = sum(bool(it.error) for it in made)
    if not as_json:
        show([f"{number(len(made) - failed, 'snapshot')}, {failed:,} failed"])
    return 1 if failed else 0


def _options(settings: AskedSettings) -> IndexOptions:
    """Options naming the home of indexes and the server with parts of them; others don't matter here."""
    return IndexOptions(home=settings.index.home, store=settings.store_options())


def _found(roots: Iterable[Path], options: IndexOptions) -> tuple[list[IndexEntry], int]:
    """Find the indexes of some roots; report roots without one, and count them."""
    entries: list[IndexEntry] = []
    without = 0
    for root in roots:
        real = root.expanduser().resolve()
        folders = indexes_of(real, options)
        entries += map(_entry, folders)
        if foreign := foreign_index(real):
            say(foreign)
        if not folders:
            say(f"{root} has no index.")
            without += 1
    return entries, without


def _entry(folder: Path) -> IndexEntry:
    """Describe an index, with the users of its owner instead of the owner itself."""
    found = entry(folder)
    try:
        through_owner = users(folder)
    except SharingError as error:
        say(str(error))
        return found
    return found if through_owner is None else replace(found, in_use_by=through_owner)


def _confirmed(entries: Iterable[IndexEntry]) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("Deleting needs a confirmation on a terminal. Give --yes to delete without one.")
    for found in entries:
        say(*entry_lines(found))
    return click.confirm("Delete these indexes?", err=True)


def _removed(found: IndexEntry, options: IndexOptions) -> bool:
    """Delete an index; report a failure and return False."""
    try:
        dismiss(Path(found.location))
        remove_index(Path(found.location), options, process_variables())
    except CqmError as error:
        say(f"{found.root}: {error}")
        return False
    return True
