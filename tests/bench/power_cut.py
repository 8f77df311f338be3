"""Cut the power of a machine that indexes, at any call to the file system: see `recording` and `disk_model`.

Usage: python tests/bench/power_cut.py [--cuts N] [--seed S] [--keep FOLDER]

A tree is indexed, its files are modified, created, renamed and deleted, the chunker's options change, the index is
compacted. After each cut the index has to open, to find nothing that its files did not say when they were indexed, and
to hold and find after one update what a fresh index does. It may have been built anew, where a cut fell into the first
seconds of a shard or left a part of it that Edge does not read; and scores may be others, by some per cent: Edge counts
the words of points that a cut took back, until the index is compacted. Both are counted.

Runs on Linux, with a C compiler.
"""

import argparse
import json
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from recording import Cut, build_shim, record

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, IndexOptions
from cqm.index.model.query import Query
from cqm.index.store.edge import EdgeStore

_CALLS = 12_000
"""About as many as the program below makes with one round."""
_QUESTIONS = ("compute_3", "adds seven to a value", "renamed")
_WORK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from power_cut import work
work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4]))
"""


class Outcome(NamedTuple):
    """All that came of a cut.

    Attributes:
        phase: how far the program was.
        wrong: what should not be; empty for nothing.
        damage: why the index was built anew; empty where it was not.
        is_moved: whether scores are others than those of a fresh index.
    """

    phase: str
    wrong: str
    damage: str = ""
    is_moved: bool = False


def options(home: Path, phase: str) -> IndexOptions:
    """Those of a phase of the work."""
    chunk = ChunkOptions(max_tokens=256) if phase >= "switch" else ChunkOptions()
    return IndexOptions(home=home, workers=1, chunk=chunk, cache=CacheOptions(enabled=False))


def _text(name: str, chosen: Random) -> str:
    parts = [f"def {name}_{part}(value):\n    return value + {chosen.randrange(10**6)}\n" for part in range(3)]
    return "\n\n".join([f"def {name}(value):\n    '''Adds {name} to a value.'''\n    return value\n", *parts])


def _edit(tree: Path, chosen: Random) -> None:
    """Modify, create, rename and delete files."""
    paths = sorted(tree.glob("*.py"))
    for path in chosen.sample(paths, 3):
        path.write_text(_text(path.stem, chosen))
    number = chosen.randrange(10**6)
    (tree / f"new_{number}.py").write_text(_text(f"new_{number}", chosen))
    old, gone = chosen.sample(paths, 2)
    old.rename(tree / f"renamed_{number}.py")
    gone.unlink()
    _note(tree)


def _note(tree: Path) -> None:
    """Keep what the files say now."""
    with tree.with_name("said").open("a") as said:
        said.writelines(f"{json.dumps((path.name, path.read_text()))}\n" for path in sorted(tree.iterdir()))


def work(place: Path, seed: int, rounds: int) -> None:
    """Return what is recorded: all that changes an index, in the folders `tree` and `home` below a place."""
    chosen, tree, home = Random(seed), place / "tree", place / "home"
    for phase in ("1 create", "2 edit", "switch", "then compact"):
        (place / "phase").write_text(phase)
        with Index.open(tree, options(home, phase)) as index:
            if phase == "then compact":
                index.compact()
            index.update()
            for _ in range(rounds):
                _edit(tree, chosen)
                index.update()
                if chosen.random() < 0.5:
                    index._lineage.serving.store.flush()


def cuts(place: Path, seed: int, count: int, rounds: int = 3) -> Iterator[Cut]:
    """Do the work in a folder and cut it.

    Parameters:
        place: an empty folder.
        seed: decides what the work does, where it is cut and what is left.
        count: how many cuts there are, about.
        rounds: of edits in each phase.
    """
    shim = build_shim(place)
    if shim is None:
        raise SystemExit("This wants Linux and a C compiler.")
    tree, home = place / "tree", place / "home"
    tree.mkdir()
    home.mkdir()
    for number in range(8):
        (tree / f"compute_{number}.py").write_text(_text(f"compute_{number}", Random(number)))
    _note(tree)
    command = [sys.executable, "-c", _WORK, str(place), str(seed), str(Path(__file__).parent), str(rounds)]
    yield from record(
        command,
        shim,
        home,
        [tree, place / "phase"],
        place / "cuts",
        Random(seed),
        _CALLS / count,
    )


def said_in(place: Path) -> Mapping[str, Sequence[str]]:
    """Every text that a file had while the work was done, by its path."""
    said = defaultdict(list)
    for line in (place / "said").read_text().splitlines():
        path, text = json.loads(line)
        said[path].append(text)
    return said


Fresh = dict[tuple[str, ...], Mapping[str, object]]
"""What fresh indexes hold, by the phase and the texts of their trees."""


def outcome_of(cut: Cut, place: Path, said: Mapping[str, Sequence[str]], fresh: Fresh) -> Outcome:
    """Open what a cut has left, ask it, and bring it up to date.

    Parameters:
        cut: which.
        place: where the work was done, and has ended.
        said: by `said_in`.
        fresh: what is known of fresh indexes; grows.
    """
    phase = (cut.place / "phase").read_text()
    tree, home = place / "tree", cut.place / "disk"
    shutil.rmtree(tree)
    shutil.copytree(cut.place / "tree", tree)
    try:
        with Index.open(tree, options(home, phase)) as index:
            damage = index.status().damage
            wrong = _wrong_texts(index, said)
            index.update()
            held = _held(index)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return Outcome(phase, f"{type(error).__name__}: {error}")
    expected = _expected(tree, phase, fresh)
    different = [name for name in held if held[name] != expected[name]]
    is_moved = "scores" in different
    wrong = wrong or ", ".join(f"other {name} than a fresh index" for name in different if name != "scores")
    return Outcome(phase, wrong, damage, is_moved)


def _expected(tree: Path, phase: str, fresh: Fresh) -> Mapping[str, object]:
    key = (phase, *(f"{path.name} {path.read_text()}" for path in sorted(tree.iterdir())))
    if key not in fresh:
        with TemporaryDirectory() as home, Index.open(tree, options(Path(home), phase)) as index:
            index.update()
            fresh[key] = _held(index)
    return fresh[key]


def _wrong_texts(index: Index, said: Mapping[str, Sequence[str]]) -> str:
    for question in _QUESTIONS:
        for hit in index.search(Query(question, limit=50)).hits:
            if not hit.text or not any(hit.text in text for text in said[hit.path]):
                return f"found what {hit.path} never said: {hit.text[:40]!r}"
    return ""


def _held(index: Index) -> dict[str, object]:
    generation = index._lineage.serving
    assert isinstance(generation.store, EdgeStore)
    rows = generation.manifest.chunks(generation.store.ids())
    answers = [index.search(Query(question, limit=50)).hits for question in _QUESTIONS]
    return {
        "points": {*generation.store.ids()},
        "chunks": {name: (row.path, row.start_line, row.digest, row.space) for name, row in rows.items()},
        "pending files": generation.manifest.pending(),
        "answers": [{(hit.path, hit.text) for hit in hits} for hits in answers],
        "scores": [[round(hit.score, 4) for hit in hits] for hits in answers],
    }


def main() -> None:
    """Cut as often as asked for and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a new folder for the cuts that are wrong")
    asked = parser.parse_args()
    found, rebuilt, moved, wrong = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        made = list(cuts(place, asked.seed, asked.cuts))
        said, fresh = said_in(place), Fresh()
        for cut in made:
            if asked.keep:
                shutil.copytree(cut.place, asked.keep / cut.place.name)
            outcome = outcome_of(cut, place, said, fresh)
            found[outcome.phase] += 1
            rebuilt[outcome.phase] += bool(outcome.damage)
            moved[outcome.phase] += outcome.is_moved
            wrong[outcome.phase] += bool(outcome.wrong)
            if outcome.wrong or outcome.damage:
                print(f"{cut.number:6} {cut.call[-70:]:70} {outcome.wrong or outcome.damage}", flush=True)
            elif asked.keep:
                shutil.rmtree(asked.keep / cut.place.name)
    print(f"\nseed {asked.seed}\n{'':16}{'cuts':>8}{'rebuilt':>9}{'scores':>8}{'wrong':>7}")
    for phase, count in found.items():
        print(f"{phase:16}{count:8}{rebuilt[phase]:9}{moved[phase]:8}{wrong[phase]:7}")


if __name__ == "__main__":
    main()
