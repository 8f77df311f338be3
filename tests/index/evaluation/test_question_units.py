"""Questions are made of doc comments and comments, by one rule for all languages; the code no longer has them."""

import json
import re

import pytest
from question_packages import SOURCES, Taken
from question_set import SUFFIXES, split_of, stripped
from question_units import FUNCTIONS, Source

DOC = "Gathers every parcel that travels beyond the northern border."
INNER = "Heavy cargo waits until tomorrow morning"


def braces(assigned: str = "int a", name: str = "a", condition: str = "(a > 1)") -> str:
    """A body with a comment, in the way of C."""
    rest = f"    if {condition} {{\n        {name} = 2;\n    }}\n\n    return {name};\n}}\n"
    return f"{{\n    {assigned} = 1;\n\n    // {INNER}\n{rest}"


JAVADOC = f"/**\n * {DOC}\n *\n * @param b is one\n */\n"
XML = f"/// <summary>\n/// {DOC}\n/// </summary>\n"
CODE = {
    "c": f"/* {DOC} */\nint find(int b)\n{braces()}",
    "cpp": f"namespace n {{\n/// {DOC}\ntemplate <class T>\nint A<T>::find(int b)\n{braces()}}}\n",
    "csharp": f"class A {{\n{XML}[Pure]\nint Find(int b)\n{braces()}}}\n",
    "go": f"package a\n\n// Find {DOC}\nfunc Find(b int) int {braces('var a', condition='a > 1')}",
    "java": f"class A {{\n{JAVADOC}@Override\nint find(int b) {braces()}}}\n",
    "javascript": f"/** {DOC} */\nexport function find(b) {braces('let a')}",
    "kotlin": f"class A {{\n{JAVADOC}fun find(b: Int): Int {braces('var a')}}}\n",
    "php": f"<?php\nclass A {{\n{JAVADOC}function find($b) {braces('$a', '$a', '($a > 1)')}}}\n",
    "python": f"""def find(b):
    \"\"\"{DOC}

    More.
    \"\"\"
    a = 1

    # {INNER}
    if a > 1:
        a = 2

    return a
""",
    "ruby": f"""class A
  # {DOC}
  def find(b)
    a = 1

    # {INNER}
    if a > 1
      a = 2
    end

    a
  end
end
""",
    "rust": f"impl A {{\n/// {DOC}\n///\n/// More.\n#[inline]\nfn find(b: i32) -> i32 {braces('let mut a')}}}\n",
    "swift": f"extension A {{\n/// {DOC}\nfunc find(b: Int) -> Int {braces('var a')}}}\n",
    "typescript": f"class A {{\n{JAVADOC}find(b: number) {braces('let a')}}}\n",
}


def test_every_language_of_the_set_is_tried_here() -> None:
    assert CODE.keys() == SUFFIXES.keys() == {taken.language for taken in SOURCES}
    assert CODE.keys() <= FUNCTIONS.keys()


@pytest.mark.parametrize("language", CODE)
def test_a_doc_comment_and_a_comment_become_questions_that_the_code_without_them_answers(language: str) -> None:
    taken = Taken(language, "npm", "pack", "1", "MIT", "", "")
    lines, asked = stripped(CODE[language], taken, f"pack/a{SUFFIXES[language][0]}")
    assert {each.kind: each.text for each in asked} == {"doc": DOC, "comment": INNER}
    left = "\n".join(lines)
    assert DOC not in left
    assert INNER not in left
    spans = {each.kind: "\n".join(lines[each.start - 1 : each.end]) for each in asked}
    assert "find" in spans["doc"].lower()
    assert "return" in spans["doc"] or language == "ruby"
    assert len(spans["comment"].split("\n")) == (2 if language == "python" else 3)
    assert re.match(r"\s*if ", spans["comment"])


@pytest.mark.parametrize("language", CODE)
def test_only_whole_rows_of_comments_go(language: str) -> None:
    taken = Taken(language, "npm", "pack", "1", "MIT", "", "")
    lines, _ = stripped(CODE[language], taken, "pack/a")
    gone = [line for line in CODE[language].split("\n") if line not in lines]
    assert all(re.match(r'\s*(//|/?\*|#|"""|More|$)', line) for line in gone)


def test_functions_carry_the_names_of_what_holds_them() -> None:
    names = {language: [each.name for each in Source(code, language).functions()] for language, code in CODE.items()}
    assert names["rust"] == names["swift"] == names["kotlin"] == names["ruby"] == ["A.find"]
    assert names["cpp"] == ["n.A.find"]


def test_all_questions_of_a_package_are_in_one_half_and_each_language_has_both() -> None:
    halves = {language: {split_of(each.key) for each in SOURCES if each.language == language} for language in SUFFIXES}
    assert all(each == {"train", "held-out"} for each in halves.values())


def test_a_question_is_apart_when_no_word_of_it_names_its_target() -> None:
    (doc, *_) = stripped(CODE["python"], Taken("python", "pypi", "pack", "1", "MIT", "", ""), "pack/a.py")[1]
    assert json.loads(doc.line())["apart"] is True
    (doc, *_) = stripped(CODE["python"], Taken("python", "pypi", "pack", "1", "MIT", "", ""), "pack/parcels.py")[1]
    assert json.loads(doc.line())["apart"] is False
