"""Many processes on one index at once: none fails because another is there."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from cqm.index.disk.locations import index_folder
from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions

pytestmark = pytest.mark.usefixtures("forked_programs")

SEARCHING, INDEXING = 4, 2
"""Clients; `tests/bench/crowd.py` has any number of them."""
CALLS = 20

CLIENT = """
import sys
from pathlib import Path
from cqm.index.model.query import Query
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.server.owner.client import RemoteIndex

root, home, role, number, calls = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
options = IndexOptions(home=home, workers=1, embedding=EmbeddingOptions(provider="none"))
with RemoteIndex.open(root, options, idle_seconds=1) as index:
    for call in range(calls):
        if role == "search":
            assert index.search(Query(f"compute_{call % 40}")).hits, call
            index.usages(f"compute_{call % 40}")
        else:
            path = root / f"client_{number}" / f"module_{call % 7}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"def client_{number}_call_{call}():\\n    return {call}\\n")
            index.update(None if call % 10 == 0 else [path])
            found = index.search(Query(f"client_{number}_call_{call}")).hits[0]
            assert f"call_{call}(" in found.text, (call, found)
        print(call, flush=True)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    for number in range(40):
        (root / f"module_{number}.py").write_text(f"def compute_{number}(value):\n    return value * {number}\n")
    return root


def options(home: Path) -> IndexOptions:
    return IndexOptions(home=home, workers=1, embedding=EmbeddingOptions(provider="none"))


def start(tree: Path, home: Path, role: str, number: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", CLIENT, str(tree), str(home), role, str(number), str(CALLS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(tree: Path, home: Path) -> set[str]:
    with Index.open(tree, options(home)) as index:
        index.update()
        return set(index._lineage.serving.store.ids())


@pytest.mark.parametrize("kills", [0, 3])
def test_many_clients_work_at_once_also_while_their_owner_is_killed(tree: Path, tmp_path: Path, kills: int) -> None:
    home = tmp_path / "home"
    with Index.open(tree, options(home)) as index:
        index.update()
    folder = index_folder(tree, options(home))
    with ExitStack() as running:
        roles = ["search"] * SEARCHING + ["index"] * INDEXING
        clients = [running.enter_context(start(tree, home, role, number)) for number, role in enumerate(roles)]
        for kill in range(kills):
            wait_for_call(clients[-1], (kill + 1) * CALLS // (kills + 1))
            os.kill(json.loads((folder / "owner.address").read_text(encoding="utf-8"))["pid"], signal.SIGKILL)
        outcomes = [outcome(client) for client in clients]
    assert outcomes == [(0, "")] * len(clients)
    with FileLock(folder / "owner.lock", timeout=240):
        pass
    assert stored(tree, home) == stored(tree, tmp_path / "fresh")


def wait_for_call(client: "subprocess.Popen[str]", call: int) -> None:
    assert client.stdout
    while (line := client.stdout.readline()) and int(line) < call:
        pass


def outcome(client: "subprocess.Popen[str]") -> tuple[int, Any]:
    _, said = client.communicate()
    return client.returncode, said
