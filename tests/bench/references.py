"""Ask for the references of symbols: are all lines told that a word search finds, and are their kinds right?

    python tests/bench/references.py TREES [--of 20] [--home DIR] [--jedi TREE]

TREES has a folder for each repository. Of each, names of definitions are drawn, found by a pattern for each language,
and its ten most frequent identifiers. All pages of references together must be the lines with the word in the files
that the index knows. With `--jedi` the calls and other uses in Python are compared with those that jedi resolves
(`pip install jedi`).
"""

import argparse
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from names import definitions

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.uses import SymbolUses

Place = tuple[str, int]
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")
_FREQUENT = 10


def main() -> None:
    """Ask, and print a row for each tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--of", type=int, default=20, help="names of a repository")
    parser.add_argument("--only", default="", help="repositories, separated by commas")
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "cqm-references")
    parser.add_argument("--jedi", action="store_true")
    options = parser.parse_args()
    trees = [
        it for it in sorted(filter(Path.is_dir, options.trees.iterdir())) if it.name in options.only or not options.only
    ]
    print("tree                names  by word    told  lacking  beyond  zero  by words   ms (median, most)")
    total: Counter[str] = Counter()
    for tree in trees:
        with Index.open(tree, IndexOptions(home=options.home, workers=2)) as index:
            index.update()
            total += _row(index, tree, options.of)
            if options.jedi:
                _compare_with_jedi(index, tree, options.of)
    recall = (total["word"] - total["lacking"]) / max(1, total["word"])
    print(f"{total['names']} names, {total['word']} lines: recall {recall:.4f}, {total['zero']} told as nothing")


def _row(index: Index, tree: Path, of: int) -> Counter[str]:
    texts = dict(_texts(index, tree))
    counts: Counter[str] = Counter()
    seconds = []
    for name in _drawn(tree, texts, of):
        started = time.perf_counter()
        pages = list(_pages(index, name))
        seconds.append((time.perf_counter() - started) / len(pages))
        told, wanted = _told(pages), set(_by_word(texts, name))
        totals = sum(pages[0].totals.values())
        counts.update(names=1, word=len(wanted), told=len(told), lacking=len(wanted - told), beyond=len(told - wanted))
        counts.update(zero=bool(wanted) and not totals, by_word=pages[0].by_word)
        if wanted != told or totals != len(told):
            print(f"  {name}: {totals} told, {sorted(wanted - told)[:3]} lacking, {sorted(told - wanted)[:3]} beyond")
    times = f"{statistics.median(seconds) * 1000:8.0f} {max(seconds) * 1000:8.0f}" if seconds else ""
    print(
        f"{tree.name:18} {counts['names']:6} {counts['word']:8} {counts['told']:7} {counts['lacking']:8}"
        f" {counts['beyond']:7} {counts['zero']:5} {counts['by_word']:9}  {times}"
    )
    return counts


def _texts(index: Index, tree: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of each file that the index knows."""
    left_out = {it.path for it in index.skipped()} | {it.path for it in index.status().failed}
    with index._lineage.reading() as serving:  # the API lists no files
        paths = serving.manifest.paths()
    for path in paths:
        if path not in left_out:
            yield path, (tree / path).read_bytes().decode("utf-8", "replace").split("\n")


def _drawn(tree: Path, texts: Mapping[str, list[str]], of: int) -> list[str]:
    defined = sorted({it.name for it in definitions(tree) if it.path in texts})
    counts = Counter(name for lines in texts.values() for line in lines for name in _IDENTIFIER.findall(line))
    frequent = [name for name, _ in counts.most_common(_FREQUENT)]
    return list(dict.fromkeys([*random.Random(7).sample(defined, min(of, len(defined))), *frequent]))


def _pages(index: Index, name: str) -> Iterator[SymbolUses]:
    cursor = ""
    while True:
        page = index.usages(name, 1000, cursor)
        yield page
        cursor = page.next_cursor
        if not cursor:
            return


def _told(pages: list[SymbolUses]) -> set[Place]:
    defined = ((it.path, it.line) for it in (*pages[0].definitions, *pages[0].namesakes) if it.line)
    return {*defined, *((it.path, it.line) for page in pages for it in page.references)}


def _by_word(texts: Mapping[str, list[str]], name: str) -> Iterator[Place]:
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            if name in line and pattern.search(line):
                yield path, number


def _compare_with_jedi(index: Index, tree: Path, of: int) -> None:
    """Print how many of the lines of each kind jedi resolves to the definition, and how many of jedi's are told."""
    import jedi  # only here: it is no dependency

    project = jedi.Project(tree)
    of_kind: defaultdict[str, Counter[str]] = defaultdict(Counter)
    found = [it for it in definitions(tree) if it.path.endswith(".py")]
    times = Counter(it.name for it in found)
    found = [it for it in found if times[it.name] == 1]
    for it in random.Random(7).sample(found, min(of, len(found))):
        line = (tree / it.path).read_text().split("\n")[it.line - 1]
        script = jedi.Script(path=tree / it.path, project=project)
        resolved = script.get_references(it.line, line.index(it.name))
        wanted = {(ref.module_path.relative_to(tree).as_posix(), ref.line) for ref in resolved if ref.module_path}
        pages = list(_pages(index, it.name))
        for ref in (ref for page in pages for ref in page.references if ref.path.endswith(".py")):
            sure = "" if ref.is_sure else ", perhaps"
            of_kind[f"{ref.kind}{sure}"].update(told=1, right=(ref.path, ref.line) in wanted)
        of_kind["all of jedi's"].update(told=len(wanted), right=len(wanted & _told(pages)))
    for kind, of_it in sorted(of_kind.items()):
        print(f"  {kind:24} {of_it['right']:6} of {of_it['told']:6}  {of_it['right'] / max(1, of_it['told']):.3f}")


if __name__ == "__main__":
    main()
