"""Make questions from commit messages: what a commit says, asked of the snapshot before it; the changed lines answer.

Usage: python tests/bench/question_commits.py --mirrors DIR --work DIR [--back N] [--cap N]
Then:  cqm eval DIR/commits.jsonl DIR/commits

DIR of --mirrors holds git repositories, bare or not, as OWNER+NAME/repo; REPOSITORIES pins where each history ends.
None of them is in the development benchmark. One snapshot of each, N commits back (half its history at most), serves
all questions about it: a commit after it is asked about when every file of code that it changes was until then as in
the snapshot, so that the changed lines are lines of the snapshot. Where lines are only added, those around them answer.
Changes of tests and documents answer nothing. A commit says what the code becomes, not what it is: these questions are
harder than the others, and are reported apart, as category "commit".
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from question_set import _TESTS, SUFFIXES, split_of
from question_units import Source
from spans_set import WORDS, stems

_MOST_FILES, _MOST_TARGETS, _NEAR = 3, 6, 5
_SUBJECT = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:|\[[^\]]*\]|[\w/.-]+:)\s+|\s*\(?#\d+\)?$")
_NOISE = re.compile(
    r"\b(merge|bump|release|version|revert|typo|changelog|readme|docs?|tests?|ci|lint|format|spelling|copyright|rename"
    r"|dependabot|upgrade|deprecat\w*|cleanup|clean up|refactor\w*|workflow|github)\b",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


class Repository(NamedTuple):
    """A repository, its language, and the commit where its history ends."""

    name: str
    language: str
    end: str


class Place(NamedTuple):
    """Lines of a file in the snapshot."""

    path: str
    start: int
    end: int


REPOSITORIES = (
    Repository("HypothesisWorks/hypothesis", "python", "41004301f02bcb35b7953518ed16705c4cf0211c"),
    Repository("networkx/networkx", "python", "cfc6b79fc53f583aa15a79b2187ae30bd4f480ed"),
    Repository("ReactiveX/rxjs", "typescript", "54796b38a57e6309f9861e174737479bb3f63f61"),
    Repository("ramda/ramda", "javascript", "612d6a09d27f6ce19713c2eaf4592f9b9001c398"),
    Repository("cli/cli", "go", "44ee17760709bedf1cad7e452e61751489b81a33"),
    Repository("uber-go/zap", "go", "5b81b37b81b8e2ed447a6f57991e372ee4fa5c8f"),
    Repository("alacritty/alacritty", "rust", "bdb72b32eeb074e3a0b8559d8ccac458237474a3"),
    Repository("rust-itertools/itertools", "rust", "af6d17d3f4a963c087e81b327b957966e1169ff5"),
    Repository("apache/commons-io", "java", "d83aeb6f4774aee75d857b29fb6cd89132c9a91b"),
    Repository("GoogleContainerTools/jib", "java", "fb949e2676afbbd7dd7a1ef61e20251931325654"),
    Repository("square/okio", "kotlin", "4164f2976ac7174f3d35d52150e8ffbdbe0acbec"),
    Repository("serilog/serilog", "csharp", "60935b4d7abad71cf6157b45a10f5c3c65ead527"),
    Repository("nikic/PHP-Parser", "php", "fbd47f7ebcbb450138d92642a0a53b72a5285dda"),
    Repository("ruby/rake", "ruby", "474500ab2eec41ef28068e18e30f84fa412a098f"),
    Repository("libgit2/libgit2", "c", "0551dfd4ad989b6a3d5683c0d4cf326c6efef929"),
    Repository("tree-sitter/tree-sitter", "c", "74b7d0c951ebdab16a8a4d64e7cf81e56046408a"),
    Repository("gabime/spdlog", "cpp", "62302019babd8fdf63c1c6dc4c9faa48d441a7f0"),
    Repository("ClickHouse/clickhouse-cpp", "cpp", "e44e9d4a75afe99918ca98c32d6e8dfc86500a42"),
    Repository("WasmEdge/WasmEdge", "cpp", "d516c5d663de9cc275a284ffe4585526d164cca2"),
    Repository("apple/swift-collections", "swift", "f425dffd5bf70fe2a880c5eb6568bbdcade9f4f5"),
)


def git(repo: Path, *arguments: str) -> str:
    """Return what a command of git prints."""
    run = subprocess.run(["git", "-C", repo, *arguments], capture_output=True, check=True)
    return run.stdout.decode("utf-8", "replace")


def questions(repository: Repository, repo: Path, back: int, tree: Path) -> Iterator[dict[str, object]]:
    """The questions about a repository, whose snapshot is written to a folder."""
    line = git(repo, "rev-list", "--first-parent", repository.end).split()
    snapshot = line[min(back, len(line) // 2)]
    commits = git(repo, "rev-list", "--no-merges", f"{snapshot}..{repository.end}").split()
    shutil.rmtree(tree, ignore_errors=True)
    check_out(repo, snapshot, tree)
    for commit in reversed(commits):
        subject = asked(git(repo, "show", "--no-patch", "--format=%s", commit).strip())
        places = list(changed(repo, snapshot, commit, repository.language)) if subject else []
        if 0 < len(places) <= _MOST_TARGETS:
            yield {
                "id": f"{repository.name}-{commit[:10]}", "query": subject, "tree": repository.name,
                "language": repository.language, "category": "commit", "split": split_of(repository.name),
                "apart": not stems(subject) & names_of(tree, places, repository.language),
                "targets": [place._asdict() for place in places],
            }  # fmt: skip


def check_out(repo: Path, snapshot: str, tree: Path) -> None:
    """Write the files of a commit to a folder, but those whose content the repository lacks, as a partial one does."""
    rows = [row.split("\t", 1) for row in git(repo, "ls-tree", "-r", "-z", snapshot).split("\0") if row]
    paths = {path: meta.split()[2] for meta, path in rows if " blob " in meta}
    names = "".join(f"{name}\n" for name in paths.values()).encode()
    command = ["git", "-C", str(repo), "cat-file", "--batch"]
    output = BytesIO(subprocess.run(command, input=names, capture_output=True, check=True).stdout)
    for path in paths:
        head = output.readline().split()
        if head[1] != b"missing":
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(output.read(int(head[2]) + 1)[:-1])


def asked(subject: str) -> str:
    """The subject of a commit without its prefix and number; empty when it is no question."""
    text = _SUBJECT.sub("", _SUBJECT.sub("", subject)).strip()
    is_question = len(text.split()) in WORDS and text.isascii() and not _NOISE.search(subject) and len(stems(text)) > 2
    return text if is_question else ""


def changed(repo: Path, snapshot: str, commit: str, language: str) -> Iterator[Place]:
    """The lines of the snapshot that a commit changes; none unless its files of code were as in the snapshot."""
    names = git(repo, "diff", "--name-status", "--no-renames", f"{commit}^", commit).splitlines()
    rows = [row.split("\t", 1) for row in names]
    code = [(status, path) for status, path in rows if Path(path).suffix in SUFFIXES[language]]
    code = [(status, path) for status, path in code if not _TESTS.search(path)]
    is_known = all(status == "M" and is_same(repo, snapshot, commit, path) for status, path in code)
    if not is_known or not 1 <= len(code) <= _MOST_FILES:
        return
    for _, path in code:
        yield from hunks(path, git(repo, "diff", "--unified=0", "--no-color", f"{commit}^", commit, "--", path))


def is_same(repo: Path, snapshot: str, commit: str, path: str) -> bool:
    """Whether a file was in the snapshot as it is before the commit."""
    listed = [git(repo, "ls-tree", tree, "--", path) for tree in (snapshot, f"{commit}^")]
    return bool(listed[0]) and listed[0] == listed[1]


def hunks(path: str, diff: str) -> list[Place]:
    """The old lines of a diff; those that are near to each other as one place."""
    places: list[Place] = []
    for first, count in _HUNK.findall(diff):
        start, length = int(first), int(count or 1)
        place = Place(path, max(start, 1), start + length - 1 if length else start + 1)
        if places and place.start - places[-1].end <= _NEAR:
            place = Place(path, places.pop().start, place.end)
        places.append(place)
    return places


def names_of(tree: Path, places: Sequence[Place], language: str) -> set[str]:
    """The words of the paths, and of the functions that hold the lines."""
    words: set[str] = set()
    for place in places:
        functions = Source((tree / place.path).read_text("utf-8", "replace"), language).functions()
        holding = [one.name for one in functions if one.first < place.end and place.start - 1 <= one.last]
        words |= stems(f"{place.path} {' '.join(holding)}")
    return words


def main() -> None:
    """Make the set and tell what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--back", type=int, default=400)
    parser.add_argument("--cap", type=int, default=40)
    given = parser.parse_args()
    lines = []
    for repository in REPOSITORIES:
        owner, name = repository.name.split("/")
        tree = given.work / "commits" / name
        repo = given.mirrors / f"{owner}+{name}" / "repo"
        found = list(questions(repository._replace(name=name), repo, given.back, tree))
        found.sort(key=lambda each: hashlib.sha256(str(each["id"]).encode()).hexdigest())
        lines += found[: given.cap]
        print(f"{name:20} {repository.language:12} {min(len(found), given.cap):4} of {len(found)}", flush=True)
    (given.work / "commits.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
