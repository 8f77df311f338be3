"""Indexing speed, query latency and peak memory, ours beside semble's, on the same trees in the same run.

semble runs from its own environment (`python -m venv S && S/bin/pip install semble==0.7.0`), whose interpreter is given
by `--semble`. Its weights cannot be had offline: it gets the static vectors that CQM embeds with (256 dimensions,
32,000 words), so that the figures compare time and not quality.

  speed.py TREE... [--semble S/bin/python] [--queries FILE.jsonl] [--workers N]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = """
import json, os, resource, sys, time
from pathlib import Path
from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.index.model.options import IndexOptions
tree, home, queries, workers = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
started, cpu = time.perf_counter(), time.process_time()
with Index.open(tree, IndexOptions(home=home, workers=workers)) as index:
    done = index.update()
    first = time.perf_counter() - started
    spent = time.process_time() - cpu + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index.search(Query(queries[0]))
    times = []
    for query in queries:
        t = time.perf_counter(); index.search(Query(query)); times.append(time.perf_counter() - t)
    t = time.perf_counter(); again = index.update(); again_s = time.perf_counter() - t
    assert again.embedded == 0 and again.bytes_read == 0
print(json.dumps(dict(wall=first, cpu=spent, memory=memory, chunks=done.chunks_written, bytes=done.bytes_read,
                      files=done.added, times=times, again=again_s)))
"""

SEMBLE = """
import json, os, resource, sys, time
from pathlib import Path
tree, model, queries = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
started, cpu = time.perf_counter(), time.process_time()
from semble import SembleIndex
index = SembleIndex.from_path(tree, model_path=model)
first, spent = time.perf_counter() - started, time.process_time() - cpu
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
index.search(queries[0])
times = []
for query in queries:
    t = time.perf_counter(); index.search(query); times.append(time.perf_counter() - t)
stats = index.stats
print(json.dumps(dict(wall=first, cpu=spent, memory=memory, chunks=len(index.chunks), times=times,
                      bytes=sum(len(c.content.encode()) for c in index.chunks),
                      files=len({c.file_path for c in index.chunks}))))
"""

MODEL = """
import sys
from importlib.util import find_spec
from pathlib import Path
from model2vec import StaticModel
from safetensors.numpy import load_file
from tokenizers import Tokenizer
package, out = Path(sys.argv[1]), sys.argv[2]
weights = next(iter(load_file(package / "weights" / "l2_supercat_256.safetensors").values())).astype("float32")
tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
StaticModel(weights, tokenizer).save_pretrained(out)
"""

QUESTIONS = (
    "where is the request parsed",
    "connection pool and time-outs",
    "error handling of invalid input",
    "how are options validated",
    "write a response body",
    "parse_header",
    "retry with back-off",
    "serialize an object to JSON",
)


def run(python: str, script: str, *arguments: str, environment: dict[str, str] | None = None) -> dict[str, object]:
    """Run a measuring script in a process of its own and read the figures it prints."""
    done = subprocess.run(
        [python, "-c", script, *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})},
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{python} failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def row(name: str, tree: Path, figures: dict) -> str:
    """One line of the table."""
    times = sorted(figures["times"])
    p50, p95 = (times[min(int(len(times) * share), len(times) - 1)] * 1e3 for share in (0.5, 0.95))
    size = figures["bytes"] / 1e6
    return (
        f"{tree.name:20s} {name:7s} {figures['files']:6d} {size:6.2f} {figures['chunks']:7d} {figures['wall']:7.2f} "
        f"{figures['cpu']:7.2f} {size / figures['wall']:6.2f} {figures['chunks'] / figures['wall']:8.0f} "
        f"{p50:7.1f} {p95:7.1f} {figures['memory'] / 1024:7.0f} {figures.get('again', float('nan')):7.3f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--semble", help="interpreter of an environment with semble 0.7")
    parser.add_argument("--queries", type=Path, help="JSON lines with a query each; default: a few of general kind")
    parser.add_argument("--workers", default="0")
    arguments = parser.parse_args()
    queries = list(QUESTIONS) * 5
    if arguments.queries:
        queries = [json.loads(line)["query"] for line in arguments.queries.read_text().splitlines()]
    print(
        "tree                 system   files     MB  chunks  wall s   cpu s"
        "   MB/s chunks/s  p50 ms  p95 ms peak MB again s"
    )
    with tempfile.TemporaryDirectory() as work:
        if arguments.semble:
            from importlib.util import find_spec

            package = Path(find_spec("wordllama").submodule_search_locations[0])  # type: ignore[union-attr, index]
            subprocess.run([arguments.semble, "-c", MODEL, str(package), f"{work}/model"], check=True)
        for number, tree in enumerate(arguments.trees):
            ours = run(sys.executable, OURS, str(tree), f"{work}/{number}", json.dumps(queries), arguments.workers)
            print(row("cqm", tree, ours), flush=True)
            if arguments.semble:
                environment = {"XDG_CACHE_HOME": f"{work}/cache{number}", "HF_HUB_OFFLINE": "1"}
                theirs = run(
                    arguments.semble, SEMBLE, str(tree), f"{work}/model", json.dumps(queries), environment=environment
                )
                print(row("semble", tree, theirs), flush=True)


if __name__ == "__main__":
    main()
