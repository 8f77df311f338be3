"""A question about the project itself is answered by the file for it, one with other words by code."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Confidence, Query, SearchMode

pytestmark = pytest.mark.processes

SOURCE = '''def check_license_{n}(header):
    """Run the license check: which licence, dependencies, tests and release a file has."""
    return header.license


def build_release_{n}(version):
    """Build what is run, tested and released: the latest version, its changes, who maintains it."""
    return version
'''
FILES = {
    **{f"src/part_{n}.py": SOURCE.format(n=n) for n in range(6)},
    "src/inject.py": "def inject_dependencies(target):\n    '''Dependencies are injected.'''\n    return target\n",
    "src/__main__.py": "from part_0 import build_release_0\n\nbuild_release_0('1')\n",
    "LICENSE": "Copyright the authors.\n\nPermission is granted, free of charge, to any person.\n",
    "CHANGELOG.md": "# News\n\nAll of it.\n\n## 2.1.0\n\n- Boxes open.\n\n## 2.0.0\n\n- Boxes close.\n",
    "CONTRIBUTING.md": "# Helping\n\nBe kind.\n\n## Trying it\n\nRun `pytest -q` in the root.\n",
    "SECURITY.md": "Write to the address below.\n",
    "CODEOWNERS": "* @ann @bob\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  all:\n    runs-on: linux\n    steps:\n      - run: pytest\n",
    "pyproject.toml": '[project]\nname = "boxes"\nrequires-python = ">=3.11"\ndependencies = ["attrs>=23"]\n\n'
    "[tool.ruff]\nline-length = 100\n",
    "docs/requirements.txt": "sphinx==7.1\n",
    "examples/box/pyproject.toml": '[project]\nname = "box"\nrequires-python = ">=3.7"\ndependencies = ["boxes"]\n',
    "Dockerfile": "FROM python:3.12\nCOPY . .\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("project"), FILES) as opened:
        yield opened


def first_path(index: Index, question: str) -> str:
    return index.search(Query(question)).hits[0].path


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("license", "LICENSE"),
        ("what license is this project under?", "LICENSE"),
        ("where is the CI configured", ".github/workflows/ci.yml"),
        ("which workflow runs on every push", ".github/workflows/ci.yml"),
        ("what are the dependencies of this project and their versions", "pyproject.toml"),
        ("which versions of Python are supported", "pyproject.toml"),
        ("how do I run the tests", "CONTRIBUTING.md"),
        ("where is the changelog", "CHANGELOG.md"),
        ("what changed in the last release", "CHANGELOG.md"),
        ("which linter is used", "pyproject.toml"),
        ("how is the docker image built", "Dockerfile"),
        ("who maintains this project", "CODEOWNERS"),
        ("contribution guidelines", "CONTRIBUTING.md"),
        ("how do I report a vulnerability", "SECURITY.md"),
        ("entry point", "src/__main__.py"),
    ],
)
def test_a_question_about_the_project_is_answered_by_its_file(index: Index, question: str, path: str) -> None:
    answer = index.search(Query(question))
    assert answer.hits[0].path == path
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    "question",
    ["license header check", "where are dependencies injected", "build the latest version", "run the license check"],
)
def test_a_question_with_other_words_is_about_code(index: Index, question: str) -> None:
    assert first_path(index, question).startswith("src/")


def test_the_latest_release_is_the_first_in_the_changelog(index: Index) -> None:
    hit = index.search(Query("what is new in the latest release")).hits[0]
    assert "2.1.0" in hit.text


def test_the_root_comes_before_examples_and_folders_of_documents(index: Index) -> None:
    paths = [hit.path for hit in index.search(Query("what does this project depend on")).hits]
    assert paths.index("pyproject.toml") < paths.index("docs/requirements.txt")
    assert paths.index("pyproject.toml") < paths.index("examples/box/pyproject.toml")


def test_without_such_a_file_an_answer_is_never_sure(tmp_path: Path) -> None:
    with indexed_tree(tmp_path, {path: text for path, text in FILES.items() if path.startswith("src/")}) as index:
        for question in ("what license is this project under", "what changed in the last release", "CI configuration"):
            assert index.search(Query(question)).confidence is not Confidence.HIGH


def test_the_name_of_a_symbol_is_a_name(tmp_path: Path) -> None:
    own = {"src/box.py": "def license(box):\n    return box.terms\n"}
    with indexed_tree(tmp_path, FILES | own) as index:
        assert first_path(index, "license") == "src/box.py"


def test_a_filter_leaves_out_the_files_of_the_project(index: Index) -> None:
    hits = index.search(replace(Query("what license is this project under"), include=("src/**",))).hits
    assert all(hit.path.startswith("src/") for hit in hits)


def test_meaning_alone_knows_no_names_of_files(index: Index) -> None:
    answer = index.search(Query("license", mode=SearchMode.SEMANTIC))
    assert all("exact" not in hit.parts for hit in answer.hits)
