"""Roles of files, read from their paths: test, example, documentation ..."""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from cqm.index.text.terms import stems


@dataclass(frozen=True, slots=True)
class Role:
    """A role of files in a repository.

    Attributes:
        name: shown as the part of a score.
        factor: up to 1. Its logarithm times a learned weight is added to scores, unless the question asks for the role.
        paths: pattern of the paths with this role.
        asked_by: pattern of the words asking for it, such as "tests"; None if none do.
    """

    name: str
    factor: float
    paths: re.Pattern[str]
    asked_by: re.Pattern[str] | None = None


def _folders(names: str) -> str:
    return rf"(^|/)({names})/"


_TEST_FOLDERS = _folders(
    r"([\w-]*[-_])?tests?|unittests?|specs?|__tests__|testing|test[-_]?data|fixtures?|__?mocks?_?_?|e2e|[\w-]+Tests?"
)
_TEST_FILES = (
    r"(^|/)(test_[^/]*|conftest\.py|[^/]*[._-](test|tests|spec|specs|e2e)\.[^/]+"
    r"|[^/]*[a-z](Test|Tests|TestCase|Spec|IT)\.(java|kts?|scala|cs|swift|php|groovy|cpp|mm?|hs))$"
)

TEST, DOCUMENT = "test", "documentation"

# The first match is the file's role. Questions are often about tests without saying so, and documents answer many
# without being asked for.
ROLES = (
    Role(
        TEST,
        0.7,
        re.compile(f"{_TEST_FOLDERS}|{_TEST_FILES}"),
        re.compile(r"tests?|specs?|testing|fixtures?|mock(s|ing)?"),
    ),
    Role(
        "example",
        0.7,
        re.compile(_folders(r"examples?|samples?|demos?|tutorials?|bench(mark)?s?|benches|playground"), re.IGNORECASE),
        re.compile(r"examples?|samples?|demos?|tutorials?|benchmarks?|benches"),
    ),
    Role(
        DOCUMENT,
        0.8,
        re.compile(
            r"\.(md|mdx|rst|txt|adoc|markdown)$|(^|/)(changelog|changes|history|licen[cs]e|copying|notice|authors)[^/]*$"
            rf"|{_folders('docs?')}",
            re.IGNORECASE,
        ),
        re.compile(r"readme|docs?|documentation|changelog|licen[cs]e|guide|install(ation|ing)?"),
    ),
    Role(
        "configuration",
        0.85,
        re.compile(
            r"\.(json|ya?ml|toml|xml|html?|css|cfg|ini|properties|gradle|sbt|cmake|csproj|sln|props|targets)$"
            r"|(^|/)(\.[^/]+|Makefile[^/]*|CMakeLists\.txt|Dockerfile[^/]*)$",
            re.IGNORECASE,
        ),
        re.compile(r"config(uration)?|settings?|json|ya?ml|toml|xml|html|css|docker(file)?|makefile|workflows?|ci"),
    ),
    Role(
        "legacy",
        0.85,
        re.compile(
            _folders(r"legacy|deprecated|_?compat|old|vendor(ed)?|third[-_]?party|contrib|generated|gen"), re.IGNORECASE
        ),
        re.compile(r"legacy|deprecated|compat(ib\w+)?|old|vendor(ed)?|third|contrib|generated"),
    ),
    Role("declarations", 0.9, re.compile(r"\.d\.[cm]?ts$"), re.compile(r"declarations?|typings?")),
    Role("re-export", 0.85, re.compile(r"(^|/)(__init__\.py|index\.[cm]?[jt]sx?|mod\.rs|package-info\.java)$")),
)


_PACKAGES = re.compile(r"((?:^|/)(?:main|\w+Main)/(?:java|kotlin|scala|groovy)/).*/")
"""Folders of packages; their names tell no role: `src/main/java/org/springframework/samples/` has a program."""


@lru_cache(maxsize=1 << 14)
def role_of(path: str, *, is_generated: bool = False) -> Role | None:
    """Look up the role of a file; None for plain source.

    Parameters:
        path: relative to the root.
        is_generated: whether a tool wrote it. A test or example keeps its role; anything else is generated.
    """
    folders = _PACKAGES.sub(r"\1", path)
    role = next((role for role in ROLES if role.paths.search(folders)), None)
    return GENERATED if is_generated and (role is None or role.name not in _ASIDE) else role


IN_TESTS = ROLES[0]
_ASIDE = frozenset({TEST, "example"})
_TEST_OF_PYTHON = re.compile(r"(?:\w*Tests?\w*\.)?test_\w+")
_TEST_MODULE = re.compile(r"(?:^|\.)(?:\w+_)?tests?\.")


def is_test(language: str, kind: str, symbol: str) -> bool:
    """Whether a chunk tests the program in its own file: Zig's `test "adds"`, Rust's `tests.adds`."""
    if kind == "test":
        return True
    if language == "python":
        # A class named so may be the program, such as a TestClient, and a method `test_connection` of any other class.
        return _TEST_OF_PYTHON.fullmatch(symbol) is not None
    return language == "rust" and _TEST_MODULE.search(f"{symbol}." if kind == "module" else symbol) is not None


GENERATED = Role(
    "generated", 0.7, re.compile(r"(?!)"), re.compile(r"generated|(java|api|type|rust|scala)docs?|doxygen")
)
"""Code written by a tool, by its note or name, and pages made of a program's comments, by the kind of their chunks:
handwritten text answers better."""

SUPERSEDED = Role("superseded", 0.8, re.compile(r"(?:^|/)(v(\d{1,3}))(?=/)", re.IGNORECASE))
"""Its pattern matches the folder of a version. Files in it have this role if a later version is beside it."""


def superseded(paths: Collection[str], words: frozenset[str]) -> frozenset[str]:
    """Select the paths in the folder of a version with a later one beside it: "v1/a.py" if there is "v2/b.py".

    Parameters:
        paths: relative to the root; versions are looked for among them only.
        words: of the question, stemmed; a version it names is not superseded.
    """
    versions = {path: found for path in paths if (found := _versions_in(path))}
    latest: defaultdict[str, int] = defaultdict(int)
    for folder, _, number in chain.from_iterable(versions.values()):
        latest[folder] = max(latest[folder], number)
    return frozenset(
        path
        for path, found in versions.items()
        if any(number < latest[folder] and not words.issuperset(stems(name)) for folder, name, number in found)
    )


@lru_cache(maxsize=1 << 14)
def _versions_in(path: str) -> tuple[tuple[str, str, int], ...]:
    """Return the folders of versions in a path: the text before each, its name, and its number."""
    return tuple((path[: it.start(1)], it[1], int(it[2])) for it in SUPERSEDED.paths.finditer(path))
