"""The embedding model is switched while processes search, and everything is killed once in the middle.

  switch.py [--chunks 20000] [--clients 4] [--seconds 10] [--to embedding.provider=ollama embedding.model=all-minilm]

A tree is indexed with the model that comes with CQM; clients search it all the time, with the options of before. Then
`cqm index` runs with another model: one of a scripted server on this machine that speaks OpenAI's protocol, or a real
one. When half of the files are done, kill -9 falls on that command and on the owner of the index; after a while
`cqm index` is run again, to the end. Prints for each phase the searches, how many failed, were empty and went without
some vectors, and the milliseconds that they took; and at each moment the generations on disk with their files.
"""

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from clients import PROGRAM, WORDS, end_owner, write_tree
from scripted_server import ScriptedServer

from cqm.index.disk.locations import index_folder
from cqm.index.generations.folders import current_name, manifest_path, names
from cqm.server.config.settings import load_settings
from cqm.server.owner.address import read_address

CLIENT = """
import json, sys, time
from pathlib import Path
from threading import Event, Thread
from cqm.chunkers.errors import CqmError
from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings
from cqm.server.owner.client import RemoteIndex
root, client, words, enough, seen = Path(sys.argv[1]), sys.argv[2], sys.argv[3:], Event(), []
Thread(target=lambda: (sys.stdin.read(), enough.set()), daemon=True).start()
with RemoteIndex.open(root, load_settings(root).index_options(root)) as index:
    while not enough.is_set():
        # No question is another client's: the cache of answers must not answer it.
        query = Query(f"{words[len(seen) % 16]} {words[len(seen) % 13]} {client}_{len(seen)}")
        begun = time.time()
        try:
            answer = index.search(query)
            kind = "found" if answer.hits else "empty"
            degraded = answer.degraded
        except CqmError as error:
            kind, degraded = "failed", str(error)
        seen.append([begun, time.time() - begun, kind, degraded])
        if len(seen) == 1:
            print(flush=True)
print(json.dumps(seen))
"""


@dataclass(slots=True)
class Switch:
    """An index that is searched.

    Attributes:
        root: of its tree.
        folder: of the index.
        to: the settings of the other model.
        phases: when each began, by its name; seconds since the epoch.
    """

    root: Path
    folder: Path
    to: Sequence[str]
    phases: dict[str, float] = field(default_factory=dict)

    def begin(self, phase: str) -> None:
        """Note a moment, when a phase begins, with the generations on disk."""
        self.phases[phase] = time.time()
        self.show(phase)

    def show(self, moment: str) -> None:
        """Print the generations that are on disk now."""
        serving = current_name(self.folder)
        there = [
            f"{name} with {files_in(self.folder, name):,} files{' serves' if name == serving else ''}"
            for name in sorted(names(self.folder), key=lambda name: name != serving)
        ]
        print(f"{moment}: {'; '.join(there)}", flush=True)

    def indexing(self) -> "subprocess.Popen[str]":
        """`cqm index` with the other model."""
        command = [str(PROGRAM), "index", str(self.root), *(part for it in self.to for part in ("--set", it))]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def wait_for_half(self) -> None:
        """Wait until a second generation holds half of the files of the first."""
        old = current_name(self.folder)
        enough = files_in(self.folder, old) / 2
        while not any(files_in(self.folder, name) > enough for name in names(self.folder) if name != old):
            time.sleep(0.1)


def files_in(folder: Path, name: str) -> int:
    """Return how many files a generation holds, as others see it that do not have it open."""
    try:
        with closing(sqlite3.connect(f"file:{manifest_path(folder, name)}?mode=ro", uri=True)) as manifest:
            return int(manifest.execute("SELECT count(*) FROM file WHERE state = 'indexed'").fetchone()[0])
    except sqlite3.OperationalError:
        # It is being made, or deleted.
        return 0


def switched(switch: Switch, seconds: float) -> None:
    """Change the model, with a kill in the middle."""
    switch.begin("before")
    time.sleep(seconds)
    switch.begin("model is switched")
    first = switch.indexing()
    switch.wait_for_half()
    switch.begin("all is killed")
    first.kill()
    first.communicate()
    address = read_address(switch.folder)
    if address:
        os.kill(address.pid, signal.SIGKILL)
    time.sleep(seconds)
    switch.begin("switched again")
    print(switch.indexing().communicate()[0], end="")
    switch.begin("after")
    time.sleep(seconds)
    switch.show("at the end")


def searched(switch: Switch, clients: int, seconds: float) -> list[list[float | str]]:
    """Return what clients saw during the whole of it."""
    command = [sys.executable, "-c", CLIENT, str(switch.root)]
    started = [
        subprocess.Popen([*command, str(n), *WORDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(clients)
    ]
    for client in started:
        if client.stdout:
            client.stdout.readline()
    switched(switch, seconds)
    return [row for client in started for row in json.loads(client.communicate()[0])]


def table(phases: dict[str, float], seen: Iterable[list[float | str]]) -> None:
    """Print what became of the searches, by the phase in which they began."""
    rows = sorted(seen)
    ends = [*list(phases.values())[1:], float("inf")]
    print(f"{'':22}{'s':>7}{'searches':>10}{'failed':>8}{'empty':>7}{'degraded':>10}{'p50 ms':>9}{'p95':>9}{'max':>9}")
    for (phase, begun), end in zip(phases.items(), ends, strict=True):
        within = [row for row in rows if begun <= float(row[0]) < end]
        took = sorted(float(row[1]) * 1000 for row in within)
        kinds = Counter(row[2] for row in within)
        length = (end if end < float("inf") else time.time()) - begun
        degraded = sum(bool(row[3]) for row in within)
        shown = "".join(f"{took[int(len(took) * share)]:9.1f}" for share in (0.5, 0.95, 0.999999)) if took else ""
        counts = f"{len(within):10,}{kinds['failed']:8}{kinds['empty']:7}{degraded:10,}"
        print(f"{phase:22}{length:7.0f}{counts}{shown}")
    for problem, count in Counter(str(row[3]) for row in rows if row[3]).most_common(5):
        print(f"{count:,} x {problem}")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--to", nargs="*", default=())
    arguments = parser.parse_args()
    server = ScriptedServer()
    scripted = ("embedding.provider=openai", "embedding.model=tiny", f"embedding.base_url={server.url}/v1")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        write_tree(root, arguments.chunks)
        os.environ["CQM_INDEX_HOME"] = str(Path(folder) / "indexes")
        switch = Switch(root, index_folder(root, load_settings(root).index_options(root)), arguments.to or scripted)
        print(subprocess.run([PROGRAM, "index", root], check=True, capture_output=True, text=True).stdout, end="")
        try:
            table(switch.phases, searched(switch, arguments.clients, arguments.seconds))
        finally:
            end_owner(switch.folder)
            server.close()


if __name__ == "__main__":
    main()
