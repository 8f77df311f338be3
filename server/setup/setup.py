"""`cqm setup`: plan, show, ask, write, check."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from cqm.server.config.project_root import is_project, is_too_wide, project_root
from cqm.server.console import emit, say, show
from cqm.server.setup.checking import Check, check
from cqm.server.setup.clients import CLIENTS, Client, ConfigFile, client
from cqm.server.setup.command import folder_variables, other_variables, serve_command
from cqm.server.setup.edit_text import PARAGRAPH
from cqm.server.setup.files import RefusedError
from cqm.server.setup.formats import Format, snippet
from cqm.server.setup.machine import Machine
from cqm.server.setup.plan import Action, Change, Spot, apply, planned

_MOST_LINES = 40
"""Shown of a change."""

_NO_ROOT = "{root} is no project, and this client needs one: give --root FOLDER"

_WORDS = {
    Action.CREATE: ("would be made", "made"),
    Action.ADD: ("would get an entry", "entry added"),
    Action.UPDATE: ("would get a newer entry", "entry updated"),
    Action.REMOVE: ("would lose the entry", "entry removed"),
    Action.RESTORE: ("would be as it was", "as it was before"),
    Action.DISCARD: ("keeps no copy by cqm setup", "copy by cqm setup deleted"),
    Action.DELETE: ("would be deleted", "deleted; cqm setup had made it"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `cqm setup`.

    Attributes:
        clients: names; all found ones when empty.
        project: write files of the project in the working folder, not the user's.
        remove: undo.
    """

    clients: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()
    project: bool = False
    instructions: bool = False
    remove: bool = False
    replace: bool = False
    with_variables: bool = True
    yes: bool = False
    dry_run: bool = False
    checks: bool = True
    as_json: bool = False


def setup(asked: Asked, machine: Machine, here: Path) -> int:
    """Connect CQM to clients, or undo it; 1 when a file could not be changed, or a client does not connect."""
    root = project_root(here)
    if asked.project and not asked.remove and is_too_wide(root):
        raise click.UsageError(f"{root} is no project. Run this in the folder of a project.")
    rows = [client(name) for name in asked.clients] or [row for row in CLIENTS if is_found(row, machine)]
    if not asked.as_json:
        show(_found_lines(rows, machine))
    servers = planned([*_servers(rows, asked, machine, root)], removes=asked.remove, replaces=asked.replace)
    texts = planned([*_texts(rows, asked, machine, root)], removes=asked.remove, replaces=asked.replace)
    if asked.remove:
        texts = [change for change in texts if change.action is not Action.UNCHANGED]
    _show_plan(servers, asked)
    _tell_variables(asked, machine, servers)
    changes = [*servers] if _agreed(servers, "Write these files?", asked) else []
    is_declined = not changes and any(change.action.writes for change in servers)
    if not (asked.remove or asked.instructions or (_is_asking(asked) and not is_declined)):
        texts = []
    _show_plan(texts, asked)
    if texts and _agreed(texts, "Write these paragraphs for agents, too?", asked):
        changes += texts
    plan = [*servers, *texts]
    problems = list(_applied(changes, asked))
    checks = list(_checked(rows, servers, asked, machine, root)) if not problems and not asked.dry_run else []
    if asked.as_json:
        emit(_as_object(plan, changes, problems, checks, asked))
    is_refused = any(change.action is Action.REFUSED for change in plan)
    return 1 if problems or is_refused or any(found.connects is False for found in checks) else 0


def is_found(row: Client, machine: Machine) -> bool:
    """Whether a client is installed: its program is on the path, or its folder is there."""
    return bool(machine.program(row.programs)) or any(machine.path(folder).is_dir() for folder in row.folders)


def _servers(rows: Iterable[Client], asked: Asked, machine: Machine, root: Path) -> Iterator[Spot]:
    """List the places of entries of servers."""
    for row in rows:
        config = row.project if asked.project else row.user
        if config is None:
            continue
        needs_root = row.starts_elsewhere and not asked.project and not asked.roots
        is_known = needs_root and is_project(root) and not is_too_wide(root)
        roots = (root,) if is_known else asked.roots
        command = serve_command(roots, is_shared=asked.project)
        if asked.project and not asked.roots:
            command += config.arguments
        with_variables = asked.with_variables and not asked.project
        entry = config.shape(command, folder_variables(machine.variables) if with_variables else {})
        file = _file(config, machine, root if asked.project else None)
        bounds = (root,) if asked.project else (machine.home,)
        lacks = _NO_ROOT.format(root=root) if needs_root and not is_known else ""
        yield Spot(row.name, "server", file, config.path, config.form, entry, bounds, lacks)


def _file(config: ConfigFile, machine: Machine, root: Path | None) -> Path:
    if root:
        candidates = [root / file for file in config.files]
    elif config.on_windows and machine.platform == "win32":
        candidates = [machine.path(config.on_windows)]
    else:
        candidates = [machine.path(file) for file in config.files]
    return next((file for file in candidates if file.exists()), candidates[0])


def _texts(rows: Iterable[Client], asked: Asked, machine: Machine, root: Path) -> Iterator[Spot]:
    """List the places of paragraphs for agents, each file once."""
    seen = set()
    for row in rows:
        named = row.project_instructions if asked.project else row.instructions
        file = root / named if asked.project else machine.path(named)
        if named and file not in seen:
            seen.add(file)
            bounds = (root,) if asked.project else (machine.home,)
            yield Spot(row.name, "instructions", file, ("cqm",), Format.TEXT, {"text": PARAGRAPH}, bounds)


def _found_lines(rows: Sequence[Client], machine: Machine) -> Iterator[str]:
    if not rows:
        yield f"No client found. Name one with --client: {', '.join(row.id for row in CLIENTS)}."
        return
    missing = [row.name for row in rows if not is_found(row, machine)]
    yield f"Clients: {', '.join(row.name for row in rows)}."
    if missing:
        yield f"Not found on this machine: {', '.join(missing)}."


def _show_plan(changes: Sequence[Change], asked: Asked) -> None:
    if not asked.as_json:
        show(line for change in changes for line in _plan_lines(change, removes=asked.remove))


def _plan_lines(change: Change, *, removes: bool) -> Iterator[str]:
    """Tell of a change, with the lines which come and go; no other line of the file is shown, it may hold keys."""
    words = _WORDS.get(change.action, (str(change.action),))[0]
    if change.action in {Action.UNCHANGED, Action.KEPT}:
        words = change.detail
    elif change.detail:
        words += f": {change.detail}" if change.action is Action.REFUSED else f" ({change.detail})"
    yield f"{change.spot.client}: {change.spot.file} {words}"
    if change.action.writes:
        yield from _difference(change.before or b"", change.after or b"")
    elif change.action is Action.REFUSED and change.spot.entry and not (change.spot.lacks or removes):
        yield "  Paste this there yourself:"
        pasted = snippet(change.spot.entry, change.spot.form, change.spot.path)
        yield from (f"    {line}" for line in pasted.splitlines())


def _difference(before: bytes, after: bytes) -> Iterator[str]:
    """List removed and added lines between the first and the last difference."""
    old, new = (data.decode("utf-8", errors="replace").splitlines() for data in (before, after))
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    lines = [f"  - {line}" for line in old[start : len(old) - end]]
    lines += [f"  + {line}" for line in new[start : len(new) - end]]
    yield f"  line {start + 1}"
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"  ... and {len(lines) - _MOST_LINES} more lines"


def _tell_variables(asked: Asked, machine: Machine, servers: Sequence[Change]) -> None:
    left = other_variables(machine.variables)
    if left and not (asked.as_json or asked.remove) and any(change.action.writes for change in servers):
        say(f"Not written, since they may hold keys: {' '.join(left)}. Set these options in your cqm.yml.")


def _is_asking(asked: Asked) -> bool:
    return not (asked.yes or asked.dry_run or asked.as_json) and sys.stdin.isatty() and sys.stderr.isatty()


def _agreed(changes: Sequence[Change], question: str, asked: Asked) -> bool:
    """Whether to write: as an option says, else as the user answers."""
    if asked.dry_run or not any(change.action.writes for change in changes):
        return False
    if asked.yes:
        return True
    if not _is_asking(asked):
        raise click.UsageError("Writing needs a confirmation on a terminal. Give --yes to write, or --dry-run to look.")
    return click.confirm(question, err=True)


def _applied(changes: Sequence[Change], asked: Asked) -> Iterator[str]:
    """Write changes and tell of each; yield problems. One does not keep the others."""
    for change in changes:
        if not change.action.writes:
            continue
        try:
            apply(change)
        except (RefusedError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            problem = f"{change.spot.file}: not written: {why}"
            say(problem)
            yield problem
        else:
            if not asked.as_json:
                show([f"{change.spot.client}: {change.spot.file}: {_WORDS[change.action][1]}"])


def _checked(
    rows: Iterable[Client], servers: Sequence[Change], asked: Asked, machine: Machine, root: Path
) -> Iterator[Check]:
    """Have each client with an entry try it, if its program can."""
    if asked.remove or not asked.checks:
        return
    ready = {it.spot.client for it in servers if it.action.writes or it.action is Action.UNCHANGED}
    for row in rows:
        program = machine.program(row.programs)
        if row.name not in ready:
            continue
        if program and row.check:
            folder = root if asked.project else machine.home
            found = check(row.name, [program, *row.check], folder, is_project=asked.project)
            if not asked.as_json:
                show([f"{row.name}: `{found.command}` says: {found.said}"])
            yield found
        if row.note and not asked.as_json:
            show([f"{row.name}: {row.note}"])


def _as_object(
    changes: Sequence[Change],
    agreed: Sequence[Change],
    problems: Sequence[str],
    checks: Sequence[Check],
    asked: Asked,
) -> dict[str, object]:
    """Make the object for programs. It holds the entry, never other parts of the file."""
    return {
        "changes": [
            {
                "client": change.spot.client,
                "kind": change.spot.kind,
                "file": str(change.spot.file),
                "action": str(change.action),
                "detail": change.detail,
                "entry": {} if asked.remove else change.spot.entry,
            }
            for change in changes
        ],
        "written": bool(agreed) and not problems,
        "problems": list(problems),
        "checks": list(checks),
    }
