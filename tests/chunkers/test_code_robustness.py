import ast
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from gapless import assert_gapless
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import thinned

from cqm.chunkers import languages
from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages.table import BY_NAME, LANGUAGES
from cqm.chunkers.model import ChunkOptions, Document

FIXTURES = {path.stem: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "fixtures/code").iterdir()}
NAMES = sorted(FIXTURES)

OPTIONS = st.sampled_from(
    [
        ChunkOptions(),
        ChunkOptions(apart=True),
        ChunkOptions(max_tokens=64, min_tokens=0),
        ChunkOptions(max_tokens=64, min_tokens=64),
    ]
)


def check(text: str, language: str, options: ChunkOptions) -> None:
    """Chunks are in order and apart, hold all that is not blank, begin at lines, and keep the limit."""
    chunks = chunk(Document("fixture", text, language), options).chunks
    assert_gapless(text, chunks)
    for piece in chunks:
        assert piece.tokens <= options.max_tokens
        at_line = piece.start == 0 or text[piece.start - 1] == "\n"
        assert at_line or piece.start_line == piece.end_line


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """A fixture that was cut, spliced, mixed with another one or sprinkled with noise, and its language."""
    language = draw(st.sampled_from(NAMES))
    text = FIXTURES[language]
    first, second = (draw(st.integers(0, len(text))) for _ in range(2))
    other = FIXTURES[draw(st.sampled_from(NAMES))]
    noise = draw(st.text(alphabet="(){}[]<>\"'`\\#/*\0\r\n\t =é語😀", max_size=20))
    kind = draw(st.sampled_from(["cut", "splice", "mix", "noise"]))
    if kind == "cut":
        return text[first:second], language
    if kind == "splice":
        return text[:first] + text[second:], language
    return text[:first] + (other if kind == "mix" else noise) + text[first:], language


@pytest.mark.row("C6")
@given(case=damaged(), options=OPTIONS)
def test_damaged_code_of_any_language_is_chunked_without_a_gap(case: tuple[str, str], options: ChunkOptions) -> None:
    check(*case, options)


def test_swift_in_the_middle_of_toml_gives_no_chunks_that_overlap() -> None:
    toml, swift = FIXTURES["toml"], FIXTURES["swift"]
    place = toml.index("build-system]")
    check(toml[:place] + swift + toml[place:], "toml", ChunkOptions(max_tokens=64, min_tokens=0))


@pytest.mark.parametrize("language", NAMES)
@given(text=st.text(max_size=300), options=OPTIONS)
@settings(max_examples=settings.default.max_examples // 4)
def test_any_text_as_any_language_is_chunked_without_a_gap(language: str, text: str, options: ChunkOptions) -> None:
    check(text, language, options)


@pytest.mark.parametrize("language", NAMES)
def test_any_line_ends_lose_nothing(language: str) -> None:
    for ends in ("\n", "\r\n", "\r", "\n\r\n\r"):
        check("\ufeff" + FIXTURES[language].replace("\n", ends), language, ChunkOptions(max_tokens=64, min_tokens=16))


# More than any limit of a row, of nesting (400) and of operators (1,000), and than the interpreter's recursion.
EXTREMES = {
    "empty": "",
    "blank": "\n \n\t\n",
    "nuls": "\0" * 5_000,
    "open brackets": "[" * 3_000,
    "open braces": "{\n" * 2_000,
    "nested parentheses": "(" * 2_000 + ")" * 2_000,
    "open tags": "<a>" * 2_000,
    "nested classes": "class A {\n" * 1_000,
    "comment lines": "#\n" * 2_000,
    "open generics": "a<b<" * 2_000,
    "open parentheses": "%w(" * 2_000,
    "chain of arrows": "a<b>(c)=>" * 2_000,
    "nested lists": "- " * 1_000,
    "nested keys": "".join(" " * depth + "a:\n" for depth in range(420)),
    "one long line": "x " * 2_000,
    "one long word": "語" * 5_000,
}


# A test a language: a test a text would cost more than the texts do.
@pytest.mark.long
@pytest.mark.soak
@pytest.mark.parametrize(("at", "language"), [*enumerate(row.name for row in LANGUAGES)])
def test_extreme_text_is_chunked_without_a_gap(at: int, language: str) -> None:
    """Every second of them for each language; with `tests/run --soak` all."""
    for name in thinned([*EXTREMES], at, 2):
        try:
            check(EXTREMES[name], language, ChunkOptions())
        except Exception as error:
            error.add_note(f"of the text: {name}")
            raise


@pytest.mark.long
@pytest.mark.parametrize("language", ["javascript", "json", "python"])
def test_a_hundred_thousand_brackets_are_no_recursion(language: str) -> None:
    check("[\n" * 100_000 + "]" * 100_000, language, ChunkOptions())


@pytest.mark.long
def test_a_line_of_two_megabytes_is_chunked() -> None:
    check("a=1;" * 500_000, "javascript", ChunkOptions())


UNHURT = {"make", "batch", "ini", "commonlisp", "emacslisp", *(row.name for row in LANGUAGES if not row.rules)}


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.row("C6")
@pytest.mark.parametrize(("at", "language"), [*enumerate(row.name for row in LANGUAGES)])
def test_gigabytes_for_an_expression_of_thousands_of_operators(at: int, language: str) -> None:
    """Every second of them for each language; with `tests/run --soak` all."""
    for expression in thinned(("a => " * 6_000, ". P =" * 15_000, "a =\n" * 6_000, "a |" * 20_000), at, 2):
        report = chunk(Document("fixture", expression, language))
        # A row's masks may leave nothing of it to the parser, and rows without rules have none.
        assert "not parsed: nested too deep" in report.warnings or (language in UNHURT and not report.warnings)
        assert "".join(piece.text for piece in report.chunks) == expression


def test_a_thousand_lines_of_assignments_are_parsed() -> None:
    text = "".join(f"KEY_{number} = {number}\n" for number in range(2_000))
    report = chunk(Document("keys.py", text))
    assert not report.warnings
    assert report.chunks[0].defines[:2] == ("KEY_0", "KEY_1")


RARE = """
import random
from cqm.chunkers import languages
from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
draw = random.Random(1)
frames = ["${%s}", "$%s", "%s=1", "a=(%s)", "cat <<%s\\nx\\n", "<<%s", "x %s{1..2}", "[[ %s =~ %s ]]", "[ -f %s ]",
          "case %s in %s) ;; esac", "%s", "$((%s))", "${a%s}", "${a/%s/}", "${a:%s}", "{%s..%s}", "<<-%s\\n"]
for _ in range(12_000):
    name = chr(draw.randint(0x20000, 0x10FFFF)) * draw.randint(1, 3)
    text = draw.choice(frames).replace("%s", name) + draw.choice(["", "\\n", " x", "}"])
    chunks = chunk(Document("a.sh", text)).chunks
    assert "".join("".join(part.text for part in chunks).split()) == "".join(text.split())
"""


@pytest.mark.processes
def test_shell_scripts_with_rare_characters_crashed_the_process() -> None:
    """The grammar of Bash looks every character up in a table of 256: it ended three processes of four."""
    done = subprocess.run([sys.executable, "-c", RARE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


LAST_ANNOTATION = """
from cqm.chunkers import languages
from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
for text in ["val a: Int\\n@S", "val a = 1\\n@S(1, 2", "class A {\\n val a: Int\\n get() = 1\\n\\n @S", "val a\\n@[A"]:
    assert "".join(part.text for part in chunk(Document("a.kt", text)).chunks) == text
"""


@pytest.mark.processes
def test_kotlin_that_ends_in_an_annotation_never_came_to_an_end() -> None:
    """The grammar's scanner does not look for the end of the text, and no deadline ends it."""
    command = [sys.executable, "-c", LAST_ANNOTATION]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"class {'a' * 20_000}:\n" + "".join(f"    def b{n}(): pass\n" for n in range(2_000)), id="a.py"),
        pytest.param(f"[{'a' * 20_000}]\n" + "".join(f"b{n} = {n}\n" for n in range(5_000)), id="a.toml"),
        pytest.param("a." * 120_000 + "b = 1\n", id="dotted.toml"),
        pytest.param(f"{'a' * 20_000}:\n" + "".join(f"  b{n}: {n}\n" for n in range(5_000)), id="a.yaml"),
    ],
)
def test_a_name_of_any_length_around_all_chunks_was_repeated_in_each(text: str, request: pytest.FixtureRequest) -> None:
    chunks = chunk(Document(request.node.callspec.id, text)).chunks
    named = sum(len(it.symbol) + len(it.context) + sum(map(len, it.defines)) for it in chunks)
    assert named < 30 * len(text)
    assert "".join(it.text for it in chunks).replace("\n", "") == text.replace("\n", "")
    if len(chunks[-1].defines) > 1:
        assert chunks[-1].defines[-1].rpartition(".")[2].startswith("b")


def test_no_rule_of_a_language_asks_for_a_parent() -> None:
    # Rules see every node of a broken text. In a deep tree, `Node.parent` takes as long as the tree is deep, and with
    # some versions of the library it overflows the stack.
    # Functions of `Language.usage` see only what is around a name.
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(languages.__file__).parent.rglob("*.py")]
    functions = [it for tree in trees for it in ast.walk(tree) if isinstance(it, ast.FunctionDef | ast.Lambda)]
    asking = {getattr(it, "name", "lambda") for it in functions if ".parent" in ast.unparse(it)}
    usages = [getattr(row.usage, it.name) for row in BY_NAME.values() for it in fields(row.usage)]
    assert asking <= {it.__name__ for it in usages if callable(it)}
