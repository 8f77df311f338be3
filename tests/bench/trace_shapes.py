"""Shapes of stack traces of Python, JavaScript, Ruby and PHP, from calls.

A shape takes the calls, innermost first, a message and a random source, and returns the text a tool prints for them.
"""

import json
from collections.abc import Sequence
from random import Random

from trace_calls import Call, joined


def _python_frames(calls: Sequence[Call], prefix: str = "  ") -> str:
    return "\n".join(
        f'{prefix}File "{it.path}", line {it.line}, in {it.name}\n{prefix}  {it.code.strip() or "pass"}'
        + ("\n" + prefix + "  " + "^" * 9 if it.line % 3 == 0 else "")
        for it in reversed(calls)
    )


def python(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a plain traceback."""
    return joined("Traceback (most recent call last):", _python_frames(calls), f"ValueError: {message}")


def python_handling(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a traceback that another one precedes: the last was raised last."""
    other = _python_frames(calls[-2:])
    return joined(
        "Traceback (most recent call last):", other, "KeyError: 'host'", "",
        "During handling of the above exception, another exception occurred:", "",
        python(calls, message, random),
    )  # fmt: skip


def python_cause(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a traceback with its direct cause, which is printed first."""
    return joined(
        python(calls, message, random), "",
        "The above exception was the direct cause of the following exception:", "",
        "Traceback (most recent call last):", _python_frames(calls[-2:]), "RuntimeError: could not start",
    )  # fmt: skip


def python_group(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a group of exceptions, drawn as a tree."""
    return joined(
        "  + Exception Group Traceback (most recent call last):",
        '  |   File "/usr/lib/python3.11/asyncio/taskgroups.py", line 145, in __aexit__',
        "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)",
        "  +-+---------------- 1 ----------------",
        "    | Traceback (most recent call last):", _python_frames(calls, "    |   "), f"    | ValueError: {message}",
        "    +------------------------------------",
    )  # fmt: skip


def python_pytest(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what pytest prints with --tb=short."""
    frames = [f"{it.path}:{it.line}: in {it.name}\n    {it.code.strip()}" for it in reversed(calls)]
    return joined("_____ test_it _____", *frames, f"E   ValueError: {message}", "=== 1 failed in 0.12s ===")


def python_rich(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a traceback in a box."""
    frames = []
    for it in reversed(calls):
        frames += [f"│ {it.path}:{it.line} in {it.name}", "│", f"│ ❱ {it.line} │   {it.code.strip()}", "│"]
    return joined("╭──── Traceback (most recent call last) ────╮", *frames, "╰────╯", f"ValueError: {message}")


def python_ipython(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a traceback of a notebook."""
    frames = []
    for it in reversed(calls):
        frames += [f"File {it.path}:{it.line}, in {it.name}(self)", f"---> {it.line} {it.code.strip()}", ""]
    head = "ValueError                                Traceback (most recent call last)"
    return joined("-" * 75, head, *frames, f"ValueError: {message}")


def python_json(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a structured log with the traceback as one escaped text."""
    return json.dumps({"level": "error", "ts": 1709290800.1, "exc_info": python(calls, message, random)})


def node(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what node prints."""
    frames = [f"    at {it.whole} ({it.path}:{it.line}:{random.randint(3, 30)})" for it in calls]
    return joined(
        f"TypeError: {message}",
        *frames,
        "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    )


def node_thrown(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what node prints at an uncaught error, with the line before it."""
    it = calls[0]
    return joined(f"{it.path}:{it.line}", it.code, "    ^", "", node(calls, message, random), "", "Node.js v20.11.0")


def node_cause(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an error with its cause, which is printed after it."""
    outer = [f"    at {it.whole} ({it.path}:{it.line}:9)" for it in calls[-2:]]
    inner = [f"      at {it.whole} ({it.path}:{it.line}:9)" for it in calls]
    return joined(
        "Error: request failed",
        *outer,
        "    ... 3 lines matching cause stack trace ...",
        "{",
        f"  [cause]: TypeError: {message}",
        *inner,
        "}",
    )


def node_async(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace of modules: addresses of files, anonymous functions, aliases, minified chunks."""
    frames = [
        "    at async Promise.all (index 0)",
        "    at t.exports (/app/dist/main.4f3a2c.js:1:48211)",
        "    at new Promise (<anonymous>)",
    ]
    for it in calls:
        path = (
            it.path if it.path.startswith(("node:", "http")) else f"file://{it.path}" if it.path[:1] == "/" else it.path
        )
        frames.append(
            f"    at async {path}:{it.line}:11"
            if random.random() < 0.3
            else f"    at async Object.{it.name} [as handler] ({path}:{it.line}:7)"
        )
    return joined(f"UnhandledPromiseRejection: {message}", *frames)


def chrome(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace of a browser with a development server."""
    frames = [
        f"    at {it.name} (http://localhost:5173/{_short(it.path)}?t=1709290800123:{it.line}:17)" for it in calls
    ]
    return joined(f"Uncaught TypeError: {message}", *frames)


def firefox(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace of Firefox or Safari."""
    frames = [f"{it.name}@http://localhost:3000/{_short(it.path)}:{it.line}:17" for it in calls]
    return joined(f"TypeError: {message}", "[native code]", *frames, "@[native code]")


def webpack(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace through webpack's source maps."""
    frames = [
        f"    at {it.name} (webpack://my-app/./{_short(it.path)}?{random.randrange(4096):04x}:{it.line}:5)"
        for it in calls
    ]
    return joined(f"Error: {message}", *frames, "    at __webpack_require__ (webpack://my-app/webpack/bootstrap:19:1)")


def jest(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what jest prints."""
    at = calls[0].line
    code = [f"    {'>' if n == at else ' '} {n} | x({n})" for n in range(at - 2, at + 2)]
    frames = [f"      at {it.whole} ({it.path}:{it.line}:9)" for it in calls]
    return joined("  ● suite \u203a works", "", f"    {message}", "", *code, "        |     ^", "", *frames)


def vitest(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what vitest prints."""
    return joined(f"Error: {message}", *(f" \u276f {it.name} {it.path}:{it.line}:9" for it in calls))


def _short(path: str) -> str:
    for folder in ("/app/", "/usr/src/app/"):
        path = path.removeprefix(folder)
    return path.replace("\\", "/").lstrip("/")


def ruby(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what Ruby prints."""
    first, *others = calls
    return joined(
        f"{first.path}:{first.line}:in `{first.name}': {message} (NoMethodError)",
        *(f"\tfrom {it.path}:{it.line}:in `block in {it.name}'" for it in others),
    )


def ruby_34(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what Ruby 3.4 prints."""
    first, *others = calls
    return joined(
        f"{first.path}:{first.line}:in '{first.owner}#{first.name}': {message} (ArgumentError)",
        *(f"\tfrom {it.path}:{it.line}:in '{it.owner}#{it.name}'" for it in others),
    )


def ruby_26(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what Ruby 2.6 prints on a terminal: the innermost call last."""
    first, *others = calls
    frames = [f"\t{n:2}: from {it.path}:{it.line}:in `{it.name}'" for n, it in reversed([*enumerate(others, 1)])]
    return joined(
        "Traceback (most recent call last):",
        *frames,
        f"{first.path}:{first.line}:in `{first.name}': {message} (NoMethodError)",
    )


def rails(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return what a web application logs."""
    return joined(f"NoMethodError ({message}):", "  ", *(f"{it.path}:{it.line}:in `{it.name}'" for it in calls))


def rspec(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a failing example of rspec."""
    return joined(
        "  1) App works",
        f"     Failure/Error: {calls[0].code.strip()}",
        "",
        "     NoMethodError:",
        f"       {message}",
        *(f"     # {it.path}:{it.line}:in `{it.name}'" for it in calls),
    )


def php(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return an uncaught exception."""
    first, *others = calls
    frames = [f"#{n} {it.path}({it.line}): {it.owner}->{it.name}(Array, 'text')" for n, it in enumerate(others)]
    return joined(
        f"PHP Fatal error:  Uncaught InvalidArgumentException: {message} in {first.path}:{first.line}",
        "Stack trace:",
        *frames,
        f"#{len(frames)} {{main}}",
        f"  thrown in {first.path} on line {first.line}",
    )


def laravel(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a line of a log with its trace."""
    first, *others = calls
    frames = [f"#{n} {it.path}({it.line}): {it.owner}->{it.name}()" for n, it in enumerate(others)]
    return joined(
        f'[2024-03-01 12:00:01] production.ERROR: {message} {{"userId":7,'
        f'"exception":"[object] (TypeError(code: 0): {message} at {first.path}:{first.line})',
        "[stacktrace]",
        *frames,
        '"}',
    )


def xdebug(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return Xdebug's table, innermost call last."""
    first = calls[0]
    rows = [
        f"    0.{n:04}     {393 * n}   {n}. {it.owner}->{it.name}() {it.path}:{it.line}"
        for n, it in enumerate(reversed(calls), 1)
    ]
    return joined(f"PHP Warning:  {message} in {first.path} on line {first.line}", "PHP Stack trace:", *rows)


def symfony(calls: Sequence[Call], message: str, random: Random) -> str:
    """Return a trace of a console command."""
    return joined(
        f"In {calls[0].file} line {calls[0].line}:",
        "",
        f"  {message}",
        "",
        "Exception trace:",
        f"  at {calls[0].path}:{calls[0].line}",
        *(f" {it.owner}->{it.name}() at {it.path}:{it.line}" for it in calls[1:]),
    )
