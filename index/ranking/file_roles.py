"""What part a file plays, by its path: source, test, example, documentation ..."""

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Role:
    """A part that files play in a repository.

    Attributes:
        name: of the role.
        factor: up to 1. Its logarithm, times a learned weight, is added to a score unless the question asks for it.
        paths: pattern of the paths that play it.
        asked_by: pattern of the words by which a question asks for it; None for no such words.
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

# The first role that a path matches is the file's. Questions are often about tests without saying so, and documents
# answer many that do not ask for them.
ROLES = (
    Role(
        "test",
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
        "documentation",
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


@lru_cache(maxsize=1 << 14)
def role_of(path: str) -> Role | None:
    """The role of a file, by its path relative to the root; None for plain source."""
    return next((role for role in ROLES if role.paths.search(path)), None)
