"""All that CQM costs on trees of several sizes, beside semble and ripgrep on the same trees, in one run.

semble runs from its own environment (`python -m venv S && S/bin/pip install semble==0.7.0`), whose interpreter is given
by `--semble`. Its weights cannot be had offline: it gets the vectors that the package wordllama has (256 dimensions,
32,000 words), so that the figures compare time and not quality. It indexes code alone, which is its default; CQM also
documents and settings, as it does by default. Both keep their index on disk. ripgrep looks for a plain word.

  speed.py TREE[+TREE...]... [--semble S/bin/python] [--columns first,peak,unchanged,one,switch,cold,warm]
           [--repeat 3] [--rest 40]

Trees joined by + are copied into one. Each figure is of the best of the repetitions, which alternate between systems.

  first      a new index, in a process of its own, its start included: seconds, processor seconds of all processes,
             blocks taken on disk, our time by stage
  peak       of the memory of its processes, in another run
  unchanged  such a process, when nothing has changed; one: when one file has; switch: when 500 files have
  cold       a process that opens the index and asks one question
  warm       distinct questions to a process that has it open (CQM's owner): p50 and p95, processor time of one; then
             the p50 of updates after an edit, and the memory of that process, at rest
"""

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from speed_machine import Cost, costs_of, room_of

HERE = Path(__file__).parent
COLUMNS = ("first", "peak", "unchanged", "one", "switch", "cold", "warm")
SWITCHED, QUESTIONS, EDITED = 500, 100, 10
SUFFIXES = {
    *(".py", ".js", ".ts", ".tsx", ".go", ".rs", ".rb", ".php", ".java", ".kt", ".scala", ".swift", ".cs"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".ex", ".hs", ".zig", ".lua", ".sh"),
}

MODEL = """
import sys
from pathlib import Path
from model2vec import StaticModel
from safetensors.numpy import load_file
from tokenizers import Tokenizer
package, out = Path(sys.argv[1]), sys.argv[2]
weights = next(iter(load_file(package / "weights" / "l2_supercat_256.safetensors").values())).astype("float32")
tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
StaticModel(weights, tokenizer).save_pretrained(out)
"""

Figures = dict[str, float]


@dataclass(frozen=True)
class System:
    """All that is measured: its name, interpreter and script, and its variables for an index in a folder."""

    name: str
    python: str
    script: Path
    variables: Mapping[str, str]
    home: str

    def costs(self, home: Path, step: str, *arguments: str, look: bool = False) -> tuple[Cost, dict[str, Any]]:
        """Do a step in a process of its own; its costs, and the figures that it prints."""
        command = [self.python, str(self.script), step, *arguments]
        # Installed programs have their bytecode; this is a checkout, whose bytecode the first run writes.
        variables = {**self.variables, self.home: str(home), "PYTHONDONTWRITEBYTECODE": ""}
        cost = costs_of(command, variables, look=look)
        return cost, json.loads(cost.output.splitlines()[-1])


def joined(trees: str, folder: Path) -> Path:
    """Copy trees into one; without Git's folder, so that no step is one of Git's."""
    for tree in map(Path, trees.split("+")):
        shutil.copytree(tree, folder / tree.name, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return folder


def sources_of(tree: Path) -> list[Path]:
    """Return the source files of a tree, shuffled the same way each time."""
    found = sorted(path for path in tree.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not found:
        sys.exit(f"{tree} has no sources to change and to ask about.")
    random.Random(17).shuffle(found)
    return found


def questions_of(files: Sequence[Path]) -> list[str]:
    """Make distinct questions of words of the tree, two of one file each."""
    asked: dict[str, None] = {}
    for file in [*files] * (QUESTIONS // max(len(files), 1) + 1):
        names = re.findall(r"[A-Za-z_]{5,30}", file.read_text(encoding="utf-8", errors="replace"))
        if len(asked) < QUESTIONS and names:
            first, second = random.Random(len(asked)).choices(names, k=2)
            asked[f"how does {first} {second}"] = None
    return list(asked)


def measured(system: System, tree: Path, home: Path, columns: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield the figures of a system for a tree, whose files are changed by it."""
    files, arguments = sources_of(tree), (str(tree),)
    questions = questions_of(files)
    cost, told = system.costs(home, "index", *arguments)
    yield from {"first s": cost.wall, "first CPU": cost.cpu}.items()
    yield from {"files": told["files"], "chunks": told["chunks"], "MB": told["bytes"] / 1e6}.items()
    yield "disk MB", room_of(home) / 1e6
    for stage, seconds in told["stages"].items():
        yield f": {stage} s", seconds
    if "peak" in columns:
        yield "peak MB", system.costs(home.with_name("other"), "index", *arguments, look=True)[0].peak / 1e6
    changed = {"unchanged": 0, "one": 1, "switch": SWITCHED}
    for column, count in changed.items():
        if column in columns:
            for file in files[:count]:
                with file.open("a", encoding="utf-8") as opened:
                    opened.write(f"\n# {column}\n")
            cost, told = system.costs(home, "index", *arguments)
            yield from {f"{column} s": cost.wall, f"{column} CPU": cost.cpu}.items()
    if "cold" in columns:
        costs = [system.costs(home, "ask", *arguments, json.dumps([question]))[0] for question in questions[:5]]
        yield "cold s", statistics.median(it.wall for it in costs)
        yield "cold CPU", statistics.median(it.cpu for it in costs)
    if "warm" in columns:
        edited = map(str, files[:EDITED])
        _, told = system.costs(home, "stay", *arguments, json.dumps(questions), *edited)
        times = sorted(told["times"])
        yield "warm p50 ms", statistics.median(times) * 1e3
        yield "warm p95 ms", times[int(len(times) * 0.95)] * 1e3
        yield "warm CPU ms", told["cpu"] / len(times) * 1e3
        yield "edit p50 ms", statistics.median(told["edits"]) * 1e3
        yield "resting MB", told["resting"] / 1e6


def table(name: str, found: Mapping[str, Mapping[str, float]]) -> None:
    """Print the figures of a tree: a line each, a column for each system, and our share of the first rival's."""
    systems = list(found)
    print(f"\n{name:24}{''.join(f'{system:>12}' for system in systems)}{'ratio':>8}")
    for row in dict.fromkeys(row for figures in found.values() for row in figures):
        figures = [found[system].get(row) for system in systems]
        shown = "".join(f"{'' if it is None else f'{it:.2f}':>12}" for it in figures)
        ratio = f"{figures[0] / figures[1]:8.2f}" if len(figures) > 1 and figures[0] and figures[1] else ""
        print(f"{row:24}{shown}{ratio}")
    sys.stdout.flush()


def searched(tree: Path) -> Figures:
    """Return what ripgrep takes for a plain word."""
    program = shutil.which("rg")
    if program is None:
        return {}
    cost = costs_of([program, "--count-matches", "return", str(tree)], {})
    return {"cold s": cost.wall, "cold CPU": cost.cpu}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--semble", help="interpreter of an environment with semble 0.7")
    parser.add_argument("--columns", default=",".join(COLUMNS), help=f"some of {', '.join(COLUMNS)}")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--rest", default="40", help="seconds before a resting process is looked at")
    asked = parser.parse_args()
    columns = asked.columns.split(",")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        ours = {"CQM_WATCH_ENABLED": "false", "CQM_INDEX_IDLE_SECONDS": "5", "SPEED_REST": asked.rest}
        # As an owner has it, which indexes for most.
        ours["OPENBLAS_NUM_THREADS"] = "1"
        systems = [System("cqm", sys.executable, HERE / "speed_cqm.py", ours, "CQM_INDEX_HOME")]
        if asked.semble:
            package = Path(find_spec("wordllama").submodule_search_locations[0])  # type: ignore[union-attr, index]
            subprocess.run([asked.semble, "-c", MODEL, str(package), f"{work}/model"], check=True)
            theirs = {"SPEED_MODEL": f"{work}/model", "HF_HUB_OFFLINE": "1", "SPEED_REST": asked.rest}
            script = HERE / "speed_semble.py"
            systems.append(System("semble", asked.semble, script, theirs, "SEMBLE_CACHE_LOCATION"))
        for trees in asked.trees:
            best: dict[str, Figures] = defaultdict(dict)
            for number in range(asked.repeat):
                for system in systems:
                    place = work / f"{system.name}-{number}"
                    tree = joined(trees, place / "tree")
                    for row, figure in measured(system, tree, place / "home", columns):
                        best[system.name][row] = min(figure, best[system.name].get(row, figure))
                    if system is systems[-1] and (found := searched(tree)):
                        best["ripgrep"] = found
                    shutil.rmtree(place)
            table("+".join(Path(tree).name for tree in trees.split("+")), best)


if __name__ == "__main__":
    main()
