"""Prompts, which clients show as slash commands: a task in a few sentences, with facts of the index to begin from.

All of a prompt is one text, since some clients take only the first message. Lines of files in it are marked as data.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, InputRequiredResult
from pydantic import Field

from cqm.chunkers.errors import CqmError
from cqm.index.model.changes import ChangesQuery
from cqm.index.model.freshness import judged
from cqm.index.model.query import Query
from cqm.index.model.symbols import OutlineQuery
from cqm.server.answers.render import render_answer
from cqm.server.answers.status_text import freshness_text
from cqm.server.answers.symbols.changes import changes_text
from cqm.server.answers.symbols.outline import outline_text
from cqm.server.console import number, one_line
from cqm.server.mcp.client_roots import roots_or_question
from cqm.server.mcp.in_step import ToolContext, bring_in_step
from cqm.server.mcp.scope import OpenPath, Served
from cqm.server.mcp.tools import error_text

_MAP_TOKENS, _LINES_TOKENS = 1_500, 3_000
"""Tokens of the facts: a map of names, and lines of code."""
_MOST_SYMBOLS = 200
_FIRST_RESULTS = 5
_LONGEST_WORDS = 4_000
_FIRST_INDEX_SECONDS = 5.0
"""Longest wait for the first index of a folder; the agent's first search waits for the rest."""

_EXPLAIN = """\
Explain {subject} to me: its purpose, its main parts and how they work together, the way of one typical call through \
them, and where to look for what.

Base it on the code, not on names alone. Use CQM's tools before grep or reading whole files:
1. Begin with the map below; `outline` maps each folder or file that matters.
2. `search` in plain words for where it starts and where its main work is done.
3. `read` the symbols with most uses, and follow the typical call with `usages`.
Name places as path:line. Say which parts you did not look at."""

_FIND = """\
Find where this is: {what}
{doubt}
Use CQM's tools before grep or reading whole files. The first results are below; where they do not answer, call \
`search` with other words, a symbol or a message as it stands. `read` the best, and use `usages` for who calls it.
Answer with the places as path:line, the best first, and a sentence on each. Say so if it is not here."""

_REVIEW = """\
Review {subject}.

1. See the whole change with git (`git diff`, `git show`) if you can; `changes` tells which lines a commit changed, as \
they are now.
2. For each changed symbol call `usages`: find callers that rely on how it was, and the tests.
3. `search` for other code that does the same, and for documents that describe it.
4. Look for wrong results, unhandled errors, races, leaks, hostile input, missing tests. Leave style to the formatter.
Report what you found, the gravest first: path:line, why it is wrong, and a mending. Say what you did not check."""

_ONBOARD = """\
I am new to this repository{task}. Get me ready to work on it.

Use CQM's tools before grep or reading whole files: `search` in plain words ("how are the tests run", "where does it \
start"), `outline` for folders and files, `read` for symbols, `usages` for who calls them, `changes` for late work.
Tell me, with places as path:line:
1. its purpose, and the words it has for its things;
2. how to build, run and test it, as its own files say;
3. five to seven files to read first, in order, and why;
4. its conventions, and traps for newcomers;
5. {first}
Say what you could not find."""

_CUT_OFF = "(Some clients pass on only the first word: if this cannot be all of it, go by what I wrote, or ask me.)\n"


def add_prompts(server: MCPServer[Served]) -> None:
    """Add all prompts."""
    rows: tuple[tuple[Callable[..., object], str, str], ...] = (
        (explain, "Explain this repository", "Purpose, parts and main paths of the repository or a folder of it."),
        (find, "Find where", "Where something is implemented, configured, raised or explained."),
        (review, "Review what changed", "Review uncommitted work, a commit or a range, with callers and tests."),
        (onboard, "Onboard me", "A tour for newcomers: purpose, commands, files to read first, a first task."),
    )
    for prompt, title, description in rows:
        server.add_prompt(Prompt.from_function(prompt, title=title, description=description))  # type: ignore[arg-type]


async def explain(
    ctx: ToolContext,
    path: Annotated[str, Field(description="Folder or file; all of it without.")] = "",
) -> str | InputRequiredResult:
    """Explain a repository or a part of it, with the map of it."""
    path = _words(path)
    return await _with_facts(ctx, path, _EXPLAIN.format(subject=f"`{path}`" if path else "this repository"), _map)


async def find(
    ctx: ToolContext,
    what: Annotated[str, Field(description="A question, symbol, message or path.")],
) -> str | InputRequiredResult:
    """Find where something is, with the first results."""
    what = _words(what)
    text = _FIND.format(what=what, doubt="" if " " in what else _CUT_OFF)
    return await _with_facts(ctx, "", text, partial(_first_results, what))


async def review(
    ctx: ToolContext,
    what: Annotated[str, Field(description="Commit, branch, A..B or words of a message.")] = "",
) -> str | InputRequiredResult:
    """Review changes, with the lines of the commit."""
    what = _words(what)
    subject = f"the changes of {what}" if what else "my uncommitted changes or, if there are none, the newest commit"
    return await _with_facts(ctx, "", _REVIEW.format(subject=subject), partial(_changed, what))


async def onboard(
    ctx: ToolContext,
    task: Annotated[str, Field(description="What you are going to work on.")] = "",
) -> str | InputRequiredResult:
    """Introduce a newcomer, with the map of the repository."""
    task = _words(task)
    text = _ONBOARD.format(
        task=f", and will work on this: {task}{'' if ' ' in task else f' {_CUT_OFF.strip()}'}" if task else "",
        first="where to begin with that task." if task else "a small first task, and the places to change for it.",
    )
    return await _with_facts(ctx, "", text, _map)


async def _with_facts(
    ctx: ToolContext, path: str, text: str, facts: Callable[[OpenPath], str]
) -> str | InputRequiredResult:
    """Write a prompt and below it the state of the index, with facts as far as the index is there."""
    named = await roots_or_question(ctx, path or None)
    if isinstance(named, InputRequiredResult):
        return named
    served: Served = ctx.request_context.lifespan_context
    try:
        folders = served.guard.there(named)
        if not path and len(folders) > 1:
            listed = ", ".join(map(str, folders))
            return f"{text}\n\n{one_line(f'Several folders are open: {listed}. Give the tools the `path` of one.')}"
        at = await run_sync(served.open, path or None, named)
        opened = at.opened
        note = await bring_in_step(opened, served, None if opened.is_complete else _FIRST_INDEX_SECONDS, ctx)
        return f"{text}\n\n{await run_sync(_state, at)}\n{note}\n{await run_sync(facts, at)}"
    except CqmError as error:
        raise MCPError(INVALID_PARAMS, error_text(error)) from error


def _state(at: OpenPath) -> str:
    status, backlog = at.opened.index.status(), at.opened.backlog()
    counts = f"{number(status.files.get('indexed', 0), 'file')}, {number(status.chunks, 'chunk')}"
    fresh = freshness_text(judged(status.freshness, backlog.count, backlog.since))
    return one_line(f"From CQM's index of {status.root} ({counts}, {fresh}):")


def _map(at: OpenPath) -> str:
    index = at.opened.index
    found = index.outline(OutlineQuery(at.relative, _MOST_SYMBOLS))
    return outline_text(found, _MAP_TOKENS, root=str(index.root))


def _first_results(what: str, at: OpenPath) -> str:
    query = Query(text=what, limit=_FIRST_RESULTS)
    return render_answer(query, at.opened.index.search(query), _LINES_TOKENS, root=str(at.opened.index.root))


def _changed(what: str, at: OpenPath) -> str:
    return changes_text(at.opened.index.changes(ChangesQuery(what, at.relative)), _LINES_TOKENS)


def _words(given: str) -> str:
    """Clean a person's words to one line, without the quotes some clients leave around them or the first word."""
    return one_line(given[:_LONGEST_WORDS].strip().strip("\"'").strip())
