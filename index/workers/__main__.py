"""`python -P -m cqm.index.workers fork|work now|later DESCRIPTOR READABLE`: fork workers as the parent asks, or be one.

The rules for secrets are loaded now, or later: before the first fork after the parent has asked for them. The forking
process has one thread and has loaded the parsers: a worker is ready in milliseconds, with shared memory. It ends with
its parent, and its workers with it.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys

from cqm.index.workers.wire import END, FORK, LOAD, REPLY, REQUEST

_LOADED = (
    "cqm.chunkers.chunking",
    "cqm.chunkers.contents.guess",
    "cqm.index.update.prepare",
    "cqm.index.secrets.redaction",
    "cqm.index.workers.worker",
    "tree_sitter",
    "markdown_it",
    "mdit_py_plugins.front_matter",
    "charset_normalizer",
    "identify.extensions",
)
"""Imported before the first fork; a worker loads other modules when it needs them."""

_LAST_STANDARD_STREAM = 2

_OBJECTS = 50_000
"""New objects between two collections, about 5 MB."""


def serve(control: socket.socket) -> socket.socket | None:
    """Fork workers until the parent is gone; return in a worker its connection, and at the end None."""
    workers: set[int] = set()
    while True:
        request, descriptors, *_ = socket.recv_fds(control, REQUEST.size, 1)
        if len(request) < REQUEST.size:
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            return None
        what, pid = REQUEST.unpack(request)
        if what == FORK:
            pid = os.fork()
            if not pid:
                control.close()
                return socket.socket(fileno=descriptors[0])
            os.close(descriptors[0])
            workers.add(pid)
            control.sendall(REPLY.pack(pid))
        elif what == LOAD:
            _load_rules()
            control.sendall(REPLY.pack(0))
        elif what == END and pid in workers:
            workers.discard(pid)
            # It is not waited for yet, so the number is still its own.
            os.kill(pid, signal.SIGKILL)
            control.sendall(REPLY.pack(os.waitpid(pid, 0)[1]))


def _load_rules() -> None:
    from cqm.index.secrets.tokens import load_rules

    load_rules()
    gc.collect()
    gc.freeze()


def main() -> None:
    """Load the parsers, and serve."""
    # A connection would get the number of a closed standard stream (`2>&-`), and be lost when a new worker closes its
    # standard streams.
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD_STREAM:
        pass
    os.close(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    what, rules, descriptor, folders = sys.argv[1:]
    if sys.platform == "win32":
        opened = socket.fromshare(sys.stdin.buffer.read())
    else:
        opened = socket.socket(fileno=int(descriptor))
    readable: list[str] = json.loads(folders)
    # Loaded modules have hardly a cycle, and looking for one takes a tenth of the loading time.
    gc.disable()
    for name in _LOADED:
        importlib.import_module(name)
    # A collection in a worker would write to every shared object. Chunking makes many objects but hardly a cycle, so
    # collections are rare.
    gc.freeze()
    gc.enable()
    gc.set_threshold(_OBJECTS)
    if rules == "now":
        _load_rules()
    connection = serve(opened) if what == "fork" else opened
    if connection is not None:
        from cqm.index.workers.worker import work_until_closed

        with contextlib.suppress(OSError):
            work_until_closed(connection, readable, is_forked=what == "fork")
        os._exit(0)


if __name__ == "__main__":
    main()
