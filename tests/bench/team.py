"""A base of a team with changes over it beside a new index: do they answer alike, and what do they cost?

  team.py FOLDER [--rounds 3] [--edits 20] [--questions 200] [--seed 1]

FOLDER is published on a double of a Qdrant server, which is Edge behind HTTP in a thread of this process. A copy of it
takes the base. In each round some files are edited at random: lines deleted, doubled or moved to another file, files
deleted, renamed, put back. Then each question, a name or a sentence out of the code, is put to it and to a new index.
CPU is that of this process and its workers, so that of the double is in it; the costs alone are those without edits.
"""

import argparse
import random
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from qdrant_double import QdrantDouble

from cqm.index import Index, IndexOptions, Query
from cqm.index.model.options import CacheOptions, StoreOptions

NO_CACHE = CacheOptions(memory_mb=0)


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


@contextmanager
def told(what: str) -> Iterator[None]:
    begun = cpu()
    yield
    print(f"{what:28}{cpu() - begun:8.1f} s")


def sources(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.*") if path.is_file() and path.suffix in {".py", ".go", ".rs", ".md"})


def edit(root: Path, original: Path, chance: random.Random) -> None:
    path, other = chance.sample(sources(root), 2)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    some = lines[at : at + chance.randrange(1, 30)]
    match chance.randrange(6):
        case 0:
            path.write_text("".join([*lines[:at], *lines[at + len(some) :]]), encoding="utf-8")
        case 1:
            path.write_text("".join([*lines[:at], *some, *lines[at:]]), encoding="utf-8")
        case 2:
            with other.open("a", encoding="utf-8") as out:
                out.write("\n" + "".join(some))
        case 3:
            path.unlink()
        case 4:
            path.rename(path.with_name(f"moved_{chance.randrange(1000)}_{path.name}"))
        case _:
            back = chance.choice(sources(original)).relative_to(original)
            (root / back).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original / back, root / back)


def questions(root: Path, count: int, chance: random.Random) -> list[str]:
    """Lines of code and text with several words, and names."""
    lines = [line.strip() for path in sources(root) for line in path.read_text("utf-8", "replace").splitlines()]
    wordy = [line for line in lines if 4 <= len(line.split()) <= 14]
    names = [line.split("def ")[1].split("(")[0] for line in lines if line.startswith("def ")]
    return [*chance.sample(wordy, count - count // 3), *chance.choices(names or wordy, k=count // 3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, default in (("rounds", 3), ("edits", 20), ("questions", 200), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for name in ("first", "second"):
            shutil.copytree(asked.folder, place / name, copy_function=shutil.copy, symlinks=True)
        double = QdrantDouble(place / "double")
        ours = IndexOptions(cache=NO_CACHE, store=StoreOptions(url=double.url, only_bases=True))

        def at(home: str) -> IndexOptions:
            return replace(ours, home=place / home)

        with told("index"), Index.open(place / "first", at("a")) as index:
            index.update()
        with Index.open(place / "first", at("a")) as index:
            with told("publish, with the server"):
                done = index.publish("team")
            index.export(place / "index.cqm")
        size = (place / "index.cqm").stat().st_size
        print(
            f"{done.files:,} files, {done.chunks:,} chunks; "
            f"to take {done.size_bytes / 1e6:.2f} MB, as a snapshot {size / 1e6:.2f} MB"
        )
        with told("import"), Index.open(place / "second", at("c")) as index:
            index.restore(place / "index.cqm")
        with told("take, with the server"), Index.open(place / "second", at("b")) as index:
            index.take("team")
        for home in ("b", "c"):
            on_disk = sum(path.stat().st_blocks * 512 for path in (place / home).rglob("*") if path.is_file())
            print(f"on disk after {'take' if home == 'b' else 'import'}: {on_disk / 1e6:.1f} MB")
        with Index.open(place / "second", at("b")) as index:
            for number in range(asked.rounds):
                for _ in range(asked.edits):
                    edit(place / "second", place / "first", chance)
                index.update()
                compare(index, place, at(f"new{number}"), questions(place / "second", asked.questions, chance))
        double.close()


def compare(index: Index, place: Path, options: IndexOptions, asked: list[str]) -> None:
    same = agree = results = 0
    furthest = 0.0
    with Index.open(place / "second", options) as new:
        new.update()
        for text in asked:
            ours, theirs = (
                {(hit.path, hit.start_line, hit.end_line): hit.score for hit in it.search(Query(text)).hits}
                for it in (index, new)
            )
            same += [*ours] == [*theirs]
            agree += len(ours.keys() & theirs.keys())
            results += len(theirs)
            furthest = max([furthest, *(abs(ours[it] - theirs[it]) for it in ours.keys() & theirs.keys())])
    print(
        f"{len(asked)} questions: {same} with the same first ten in the same order, "
        f"{agree} of {results} results in both, scores at most {furthest:.1e} apart"
    )


if __name__ == "__main__":
    main()
