"""Training pairs: what comments, names and headings ask is answered by text that no longer holds it."""

import csv
import io
import re
import tarfile
import textwrap
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from code_pairs import code_pairs
from pairs import CAPS, distinct, package_pairs
from prose_pairs import prose_pairs
from question_packages import SOURCES, read
from sentences import Pair
from sources import SUFFIXES, texts
from spans_packages import PACKAGES

TRAINING = Path(__file__).parents[2] / "training"
TABLE = read(TRAINING / "packages.tsv")

DOC = "Gathers every parcel that travels beyond the northern border"
INNER = "Heavy cargo waits until tomorrow morning"


def slashes(head: str, language: str = "") -> str:
    """A documented function with a comment inside, in the way of C."""
    semicolon = "" if language in ("kotlin", "scala", "swift") else ";"
    body = (
        f"  sort(b){semicolon}\n  // {INNER}\n  wait(b){semicolon}\n  wait(b + 1){semicolon}\n\n  send(b){semicolon}\n"
    )
    return f"/** {DOC}. */\n{head} {{\n{body}}}\n"


CODE = {
    "bash": f"# {DOC}.\nfind_all() {{\n  sort b\n  # {INNER}\n  wait b\n  wait c\n\n  send b\n}}\n",
    "c": slashes("int find_all(int b)"),
    "cpp": slashes("int A::find_all(int b)"),
    "csharp": f"class A {{\n{slashes('int FindAll(int b)')}}}\n",
    "elixir": f'defmodule A do\n  @doc """\n  {DOC}.\n  """\n  def find_all(b) do\n    sort(b)\n    # {INNER}\n'
    "    wait(b)\n    wait(c)\n\n    send(b)\n  end\nend\n",
    "go": slashes("package a\n\nfunc FindAll(b int)").replace(f"/** {DOC}. */\npackage a\n", f"package a\n\n// {DOC}."),
    "haskell": f"-- | {DOC}.\nfindAll :: Int -> IO ()\nfindAll b = do\n  sort b\n  -- {INNER}\n  wait b\n  wait c\n\n"
    "  send b\n",
    "java": f"class A {{\n{slashes('int findAll(int b)')}}}\n",
    "javascript": slashes("export function findAll(b)"),
    "kotlin": slashes("fun findAll(b: Int)", "kotlin"),
    "lua": f"--- {DOC}.\nfunction M.find_all(b)\n  sort(b)\n  -- {INNER}\n  wait(b)\n  wait(c)\n\n  send(b)\nend\n",
    "php": f"<?php\n{slashes('function find_all($b)')}",
    "python": f'def find_all(b):\n    """{DOC}."""\n    sort(b)\n    # {INNER}\n    wait(b)\n    wait(c)\n\n'
    "    send(b)\n",
    "ruby": f"# {DOC}.\ndef find_all(b)\n  sort(b)\n  # {INNER}\n  wait(b)\n  wait(c)\n\n  send(b)\nend\n",
    "rust": slashes("fn find_all(b: i32)"),
    "scala": f"object A {{\n{slashes('def findAll(b: Int): Unit =', 'scala')}}}\n",
    "swift": slashes("func findAll(_ b: Int)", "swift"),
    "typescript": slashes("export function findAll(b: number)"),
}


def pairs_of(text: str, language: str, path: str = "src/a") -> dict[str, list[Pair]]:
    """The pairs of a file by their kinds."""
    found: dict[str, list[Pair]] = {kind: [] for kind in CAPS}
    for pair in code_pairs(text, language, "package", path):
        found[pair.kind].append(pair)
    return found


@pytest.mark.parametrize("language", sorted(SUFFIXES))
def test_a_doc_comment_asks_for_its_function_which_no_longer_has_it(language: str) -> None:
    (pair,) = pairs_of(CODE[language], language)["doc"]
    assert pair.question.rstrip(".") == DOC
    assert pair.symbol.lower().replace("_", "").endswith("findall")
    assert "send" in pair.text
    assert DOC not in pair.text


@pytest.mark.parametrize("language", sorted(SUFFIXES))
def test_a_comment_asks_for_the_lines_that_it_describes(language: str) -> None:
    (pair,) = pairs_of(CODE[language], language)["comment"]
    assert pair.question == INNER
    assert len(re.findall("wait", pair.text)) == 2
    assert "send" not in pair.text
    assert INNER not in pair.text


def test_bytes_are_no_docstring() -> None:
    assert not pairs_of(CODE["python"].replace('"""', 'b"""', 1), "python")["doc"]


def test_a_longer_doc_comment_asks_by_its_first_three_sentences_too() -> None:
    text = CODE["python"].replace(
        f"{DOC}.", f"{DOC}. None is lost. Some are late. Others are not.\n\n    :param b: one"
    )
    (pair,) = pairs_of(text, "python")["docfull"]
    assert pair.question.rstrip(".") == f"{DOC}. None is lost. Some are late"


def test_a_type_is_asked_for_without_the_doc_comments_of_its_members() -> None:
    head = 'class Depot:\n    """Keeps what nobody has collected yet."""\n\n    place = 1\n\n'
    indented = head + textwrap.indent(CODE["python"], "    ")
    (pair, _) = sorted(pairs_of(indented, "python")["doc"], key=lambda pair: pair.symbol != "Depot")
    assert pair.question.rstrip(".") == "Keeps what nobody has collected yet"
    assert "place = 1" in pair.text
    assert DOC not in pair.text


def test_a_function_that_is_asked_for_by_its_name_has_another_one() -> None:
    names = [f"load_parcels_{number}_again" for number in range(40)]
    text = "\n".join(f"def {name}(b):\n    sort(b)\n    return {name}\n" for name in names)
    found = pairs_of(text, "python")["name"]
    assert 0 < len(found) < len(names)
    for pair in found:
        assert pair.symbol == "_"
        assert pair.text.startswith("def _(b)")
        assert re.fullmatch(r"load parcels \d+ again", pair.question)


def test_a_test_is_asked_for_by_what_its_name_says() -> None:
    text = "def test_late_parcels_are_sent_again():\n    sort(1)\n    assert send(2)\n"
    (pair,) = pairs_of(text, "python", "tests/test_a.py")["test"]
    assert pair.question == "late parcels are sent again"


def test_a_file_is_asked_for_by_its_first_comment_that_is_no_licence() -> None:
    functions = "\n".join(f"int part_{letter}(int b)\n{{\n  return {letter};\n}}\n" for letter in "abcd")
    comments = "/* Copyright 2020 A. Person. */\n\n/* Weighs parcels and prints their labels. */\n"
    text = f"{comments}\n#include <a.h>\n\n{functions}"
    (pair,) = pairs_of(text, "c")["file"]
    assert pair.question.rstrip(".") == "Weighs parcels and prints their labels"
    assert pair.text.split("\n") == [f"int part_{letter}(int b)" for letter in "abcd"]


def test_a_comment_below_the_first_statement_is_not_of_the_file() -> None:
    functions = "\n".join(f"int part_{letter}(int b)\n{{\n  return {letter};\n}}\n" for letter in "abcd")
    assert not pairs_of(f"int a = 1;\n\n/* Weighs parcels and prints their labels. */\n\n{functions}", "c")["file"]


@pytest.mark.parametrize(
    "doc", ["TODO: make it faster one day", "@param b is one of those", "Short one", "见下文的说明"]
)
def test_what_is_no_sentence_asks_for_nothing(doc: str) -> None:
    assert not pairs_of(CODE["java"].replace(f"{DOC}.", doc), "java")["doc"]


DOCUMENT = """# Depot

## Sending late parcels

Late parcels go out with the first van. Nobody is told.

```python
send(late)
print("a van has left the yard")
```

The yard opens at six, and all vans have left the place an hour after that, whatever the weather is like outside then.
"""
REST = """Depot
=====

Sending late parcels
--------------------

Late parcels go out with the first van. Nobody is told. For example::

    send(late)
    print("a van has left the yard")

The yard opens at six, and all vans have left the place an hour after that, whatever the weather is like outside then.
"""


@pytest.mark.parametrize(("path", "text"), [("docs/a.md", DOCUMENT), ("docs/a.rst", REST)])
def test_headings_and_first_sentences_ask_for_what_stands_below_them(path: str, text: str) -> None:
    found = {pair.kind: pair for pair in prose_pairs(text, "package", path)}
    assert found["section"].question == "Sending late parcels"
    assert found["section"].symbol == "Depot"
    assert found["section"].text.startswith("Late parcels")
    assert found["lead"].question.rstrip(".") == "Late parcels go out with the first van"
    assert found["lead"].symbol == "Depot > Sending late parcels"
    assert "first van" not in found["lead"].text
    assert found["example"].text == 'send(late)\nprint("a van has left the yard")'


PAIR = Pair("doc", "package", "python", "a.py", "Sends all late parcels", "send", "def send(): pass")


def test_a_question_and_a_text_are_given_once() -> None:
    repeated = [
        PAIR,
        replace(PAIR, question="Sends  all late PARCELS.", text="other()"),
        replace(PAIR, question="Another way to say it", text="def send():\n    pass"),
    ]
    assert list(distinct(repeated)) == [PAIR]


@pytest.mark.parametrize("known", ["sends all late parcels", "def send():\n  pass"])
def test_what_figures_are_reported_of_is_no_pair(known: str) -> None:
    assert not list(distinct([PAIR], [known]))


def test_a_question_that_its_text_still_holds_is_no_pair() -> None:
    assert not list(distinct([replace(PAIR, text="# sends all late parcels\nsend()")]))


def test_a_package_gives_at_most_so_many_pairs_of_a_kind() -> None:
    files = [(f"a{number}.py", CODE["python"]) for number in range(CAPS["doc"] + 50)]
    kinds = [pair.kind for pair in package_pairs(files, "python", "package")]
    assert kinds.count("doc") == CAPS["doc"]


FILES = {
    "top/src/a.py": CODE["python"],
    "top/src/vendor/b.py": CODE["python"],
    "top/src/c_pb2.py": CODE["python"],
    "top/src/d.py": f"# Code generated by a tool. DO NOT EDIT.\n{CODE['python']}",
    "top/README.md": DOCUMENT,
    "top/e.js": CODE["javascript"],
    "top/bin/find": f"#!/usr/bin/env bash\n{CODE['bash']}",
    "top/bin/data": CODE["bash"],
}


def test_an_archive_gives_the_files_of_a_language_and_documents_that_people_wrote(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        for path, text in FILES.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    whole, folder, programs = texts(tmp_path / "a.tgz", [("python", ""), ("python", "src"), ("bash", "bin")])
    assert sorted(path for path, _ in whole) == ["README.md", "src/a.py"]
    assert [path for path, _ in folder] == ["a.py"]
    assert [path for path, _ in programs] == ["find"]


def test_a_wheel_gives_the_readme_in_its_metadata(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("a/b.py", CODE["python"])
        wheel.writestr("a.dist-info/METADATA", f"Name: a\nVersion: 1\n\n{DOCUMENT}")
    (found,) = texts(tmp_path / "a.whl", [("python", "")])
    assert dict(found) == {"a/b.py": CODE["python"], "README.md": DOCUMENT}


def test_no_package_is_one_that_the_benches_ask_about() -> None:
    asked = {(taken.registry, taken.name) for taken in SOURCES} | {(each.registry, each.name) for each in PACKAGES}
    assert not [taken for taken in TABLE if (taken.registry, taken.name) in asked]
    assert not {taken.sha256 for taken in TABLE} & {taken.sha256 for taken in SOURCES}


# Words that other projects have in their names as well.
COMMON = {"core", "framework", "json", "react"}


def tokens(name: str) -> str:
    return f"-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-"


def test_no_package_is_of_a_project_that_figures_are_reported_of() -> None:
    lines = (TRAINING / "exclude.txt").read_text("utf-8").splitlines()
    projects = [line for line in lines if not line.startswith("#")]
    assert len(projects) > 100
    names = {tokens(name) for line in projects for name in (line, line.partition("/")[2]) if name not in COMMON}
    assert not [taken.name for taken in TABLE for name in names if name in tokens(taken.name)]


def test_every_package_is_pinned_and_under_a_permissive_licence() -> None:
    with (TRAINING / "packages.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    permissive = re.compile(
        r"MIT|Apache|BSD|ISC|Zlib|BSL|Unlicense|CC0|BlueOak|PSF|OLDAP|WTFPL|FTL|TCL|TIDY|libtiff|ICU"
    )
    assert len({(row["registry"], row["name"]) for row in rows}) >= 400
    for row in rows:
        assert all(row[column] for column in ("language", "registry", "name", "version", "licence"))
        assert re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
        assert permissive.search(row["licence"])
    assert set(SUFFIXES) == {row["language"] for row in rows}
