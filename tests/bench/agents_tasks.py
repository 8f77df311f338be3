"""Tasks of a day, made from git mirrors: each with the lines that an agent has to see.

CQM takes no part: definitions are found by patterns (`names.py`, `traces.py`) and Python's `ast`, uses by word search,
changed lines by `git blame`.
"""

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from names import PATTERNS, Defined, definitions
from traces import FUNCTIONS, SHAPES, call, foreign, functions

KINDS = ("find", "trace", "rename impact", "where used", "what changed")
TEXTS = {*PATTERNS, "tsx", "md", "rst", "txt", "pyi"}
"""Endings of files searched for words."""
_LANGUAGES = {"py": "python", "go": "go", "js": "javascript", "ts": "javascript", "java": "java", "rs": "rust",
              "rb": "ruby", "php": "php"}  # fmt: skip
_ASIDE = re.compile(r"(?i)test|spec|example|vendor|docs?/|node_modules|bench|change|history|\.github|sandbox")
_COMMENT = re.compile(r"^\s*(?:///?!?|#|\*|/\*\*?)\s?")
_UNDECIDED_SHAPES = {"webpack", "chrome", "firefox", "python_handling", "python_cause", "node_cause"}
"""Shapes that rewrite paths, or print several traces."""
_CALLERS = {ending: pattern for ending, pattern in FUNCTIONS.items() if ending in {"py", "go", "java", "php", "rb"}}
"""Functions of JavaScript are too often values, whose names no pattern tells."""
_MOST_COMMITS = 400
_SHOWN_LINES = 15


@dataclass(frozen=True, slots=True)
class Need:
    """A line to be seen; with the line that begins the function around it, or that function's name, if told."""

    path: str
    line: int
    head: int = 0
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A question of a kind about a tree; `name` is the identifier that it names, if any."""

    kind: str
    tree: Path
    text: str
    name: str
    needs: tuple[Need, ...]


class Texts(dict[str, list[str]]):
    """The lines of a tree's text files, by path."""

    def __init__(self, tree: Path) -> None:
        for file in sorted(it for it in tree.rglob("*") if ".git" not in it.relative_to(tree).parts):
            is_text = file.suffix.lstrip(".") in TEXTS and file.is_file() and not file.is_symlink()
            if is_text and file.stat().st_size < 400_000:
                self[file.relative_to(tree).as_posix()] = file.read_text("utf-8", "replace").split("\n")


def export(mirror: Path, tree: Path) -> None:
    """Check out a mirror's last commit, with its history."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", mirror, tree], check=True)


def tasks(mirror: Path, tree: Path, of: int, seed: int) -> Iterator[Task]:
    """Yield at most `of` tasks of each kind about a repository; the same for the same seed."""
    texts = Texts(tree)
    found = [it for it in definitions(tree) if it.path in texts and len(it.name) > 5]
    times = Counter(it.name.lower() for it in found)
    once = [it for it in found if times[it.name.lower()] == 1]
    Random(seed).shuffle(once)
    words = _by_word(texts, {it.name for it in once})
    makers = (
        _finds(tree, texts, once),
        _traces(tree, seed),
        _renames(tree, once, words),
        _uses(tree, texts, once, words),
        _changes(mirror, tree, texts, seed),
    )
    for made in makers:
        for _, task in zip(range(of), made, strict=False):
            yield task


def _by_word(texts: Texts, names: set[str]) -> dict[str, list[tuple[str, int]]]:
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            for name in names.intersection(re.findall(r"\w+", line)):
                places[name].append((path, number))
    return places


def _body(texts: Texts, it: Defined) -> tuple[Need, ...]:
    """Return the first lines of a definition, to the end that its indentation tells."""
    lines = texts[it.path]
    depth = len(lines[it.line - 1]) - len(lines[it.line - 1].lstrip())
    needs = [Need(it.path, it.line)]
    for number in range(it.line, min(len(lines), it.line + _SHOWN_LINES)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= depth and line.strip()[0] not in "{})]":
            break
        needs += [Need(it.path, number + 1)] if line.strip() else []
    return tuple(needs)


def _finds(tree: Path, texts: Texts, once: Sequence[Defined]) -> Iterator[Task]:
    """Ask by turns for a name, and by the first sentence of a definition's comment without its name."""
    described = ((it, _doc(texts, it)) for it in once)
    by_doc = ((it, doc) for it, doc in described if len(doc.split()) > 5)
    for named, (it, doc) in zip(once, by_doc, strict=False):
        yield Task("find", tree, doc, "", _body(texts, it))
        yield Task("find", tree, f"Where is {named.name} defined?", named.name, _body(texts, named))


def _doc(texts: Texts, it: Defined) -> str:
    lines = texts[it.path]
    if it.path.endswith(".py"):
        for node in ast.walk(ast.parse("\n".join(lines))):
            is_it = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == it.name
            if is_it and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                return _sentence(ast.get_docstring(node) or "", it.name)
        return ""
    above = it.line - 2
    while above >= 0 and _COMMENT.match(lines[above]):
        above -= 1
    return _sentence("\n".join(_COMMENT.sub("", line) for line in lines[above + 1 : it.line - 1]), it.name)


def _sentence(text: str, name: str) -> str:
    first = re.split(r"\n\s*\n|(?<=\w)\.(?=\s|$)", text.strip())[0]
    return " ".join(re.sub(rf"\b{re.escape(name)}\b", "", first).replace("*/", "").split())[:200]


def _traces(tree: Path, seed: int) -> Iterator[Task]:
    """Paste a trace; the lines of the two innermost frames of the project are needed."""
    known = [it for it in functions(tree) if it.path.rpartition(".")[2] in _LANGUAGES]
    if not known:
        return
    language = _LANGUAGES[Counter(it.path.rpartition(".")[2] for it in known).most_common(1)[0][0]]
    known = [it for it in known if _LANGUAGES[it.path.rpartition(".")[2]] == language]
    shapes = [it for it in SHAPES[language] if it.__name__ not in _UNDECIDED_SHAPES]
    random = Random(f"{seed}:{tree.name}")
    while True:
        frames = random.sample(known, min(4, len(known)))
        folder = random.choice(("/app/", "/usr/src/app/", ""))
        calls = [call(it, language, folder) for it in frames]
        calls.insert(random.randint(0, len(calls)), foreign(language, known, random))
        text = random.choice(shapes)(calls, "unexpected end of input", random)
        yield Task("trace", tree, text, "", tuple(Need(it.path, it.line) for it in frames[:2]))


def _renames(tree: Path, once: Sequence[Defined], words: dict[str, list[tuple[str, int]]]) -> Iterator[Task]:
    """Ask for each line with a name, of those with 5 to 60."""
    for it in once:
        if 5 <= len(words[it.name]) <= 60:
            needs = tuple(Need(path, line) for path, line in words[it.name])
            yield Task("rename impact", tree, f"Which lines change when {it.name} is renamed?", it.name, needs)


def _uses(tree: Path, texts: Texts, once: Sequence[Defined], words: dict[str, list[tuple[str, int]]]) -> Iterator[Task]:
    """Ask for the callers of a function with 3 to 15 calls, tests aside: each call and the function around it."""
    for it in reversed(once):
        needs = []
        for path, line in words[it.name]:
            text = texts[path][line - 1]
            pattern = _CALLERS.get(path.rpartition(".")[2])
            is_call = pattern and re.search(rf"\b{it.name}\(", text) and not re.match(pattern, text)
            if not is_call or _ASIDE.search(path) or _COMMENT.match(text) or (path, line) == (it.path, it.line):
                continue
            if around := _around(texts, path, line):
                needs.append(Need(path, line, around[-1][0], tuple(name for _, name in around)))
        if 3 <= len(needs) <= 15:
            yield Task("where used", tree, f"Which functions call {it.name}?", it.name, tuple(needs))


def _around(texts: Texts, path: str, line: int) -> list[tuple[int, str]]:
    """Return the first lines and names of the functions around a line, innermost last."""
    lines = texts[path]
    if path.endswith(".py"):
        nodes = ast.walk(ast.parse("\n".join(lines)))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return sorted(
            (it.lineno, it.name) for it in nodes if isinstance(it, kinds) and it.lineno <= line <= (it.end_lineno or 0)
        )
    found: list[tuple[int, str]] = []
    depth = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        if not text.strip() or len(text) - len(text.lstrip()) >= depth:
            continue
        if begun := re.match(_CALLERS[path.rpartition(".")[2]], text):
            found.insert(0, (number, begun["name"]))
        depth = len(text) - len(text.lstrip())
    return found


def _changes(mirror: Path, tree: Path, texts: Texts, seed: int) -> Iterator[Task]:
    """Tell a commit's subject; the longest run of lines left of it, of 3 to 40, is needed."""
    log = _git(mirror, "log", f"-{_MOST_COMMITS}", "--no-merges", "--format=%x00%H%x01%s", "--name-only")
    commits = []
    for entry in log.split("\0")[1:]:
        head, *paths = entry.strip().split("\n")
        commit, subject = head.split("\1", 1)
        kept = [it for it in paths if it in texts and it.rpartition(".")[2] in FUNCTIONS and not _ASIDE.search(it)]
        subject = re.sub(r"\s*\(?#\d+\)?|^\w+(?:\([\w, /-]*\))?!?: |^\[[^\]]*\]\s*", "", subject)
        if 1 <= len(kept) <= 3 and len(subject.split()) > 3:
            commits.append((commit, subject, kept))
    Random(seed).shuffle(commits)
    for commit, subject, kept in commits:
        blamed = {path: _git(mirror, "blame", "-s", "-l", "HEAD", "--", path) for path in kept}
        runs = [run for path, lines in blamed.items() for run in _runs(path, lines, commit)]
        longest = max(runs, key=len, default=[])
        if 3 <= len(longest) <= 40:
            needs = tuple(Need(path, line) for path, line in longest if texts[path][line - 1].strip())
            yield Task("what changed", tree, subject, "", needs)


def _runs(path: str, blamed: str, commit: str) -> Iterator[list[tuple[str, int]]]:
    run: list[tuple[str, int]] = []
    for number, line in enumerate(blamed.split("\n"), 1):
        if line.lstrip("^").startswith(commit[:39]):
            run.append((path, number))
        elif run:
            yield run
            run = []


def _git(mirror: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "--git-dir", mirror, *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")
