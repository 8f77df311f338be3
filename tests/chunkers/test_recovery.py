"""What a grammar cannot read takes no neighbours with it."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Definition, Document


def definitions_of(text: str, language: str) -> dict[str, Definition]:
    """The definitions of a program by name; the text has no gap."""
    report = chunk(Document("fixture", text, language))
    assert "".join("".join(piece.text for piece in report.chunks).split()) == "".join(text.split())
    return {it.name: it for piece in report.chunks for it in piece.definitions}


def names_of(text: str, language: str) -> set[str]:
    return {*definitions_of(text, language)}


BODY = "\n".join(f"    val a{number} = {number}" for number in range(4))

KOTLIN = {
    "a name that ends with a digit after a keyword": "fun bad() {\n    val in1 = open()\n    in1.skip(1)\n}\n",
    "a guard of a type test": "fun bad(x: Any) = when (x) {\n    is String if x.isEmpty() -> 1\n    else -> 2\n}\n",
    "a context receiver": "context(c: Ctx)\nfun bad() {\n    c.run()\n}\n",
    "a string of several dollars": 'val bad = $$"""a $x $$y"""\n',
    "a keyword as the name of an argument": "fun bad() {\n    g(suspend = false)\n}\n",
}


@pytest.mark.parametrize("text", KOTLIN.values(), ids=KOTLIN)
def test_what_kotlins_grammar_cannot_read_leaves_its_neighbours(text: str) -> None:
    inside = "".join(f"    {line}\n" for line in text.splitlines())
    first = "class First {\n    fun one() {}\n}\n\nclass Second {\n    fun two() {}\n\n"
    program = f"{first}{inside}\n    fun three() {{}}\n}}\n\n{text}\nfun last() {{}}\n"
    found = names_of(program, "kotlin")
    assert {"First", "First.one", "Second", "Second.two", "Second.bad", "Second.three", "bad", "last"} <= found


C_BRANCHES = """
int before(void) { return 1; }

int chosen(int a)
{
#ifdef FAST
  if (a > 1) {
#else
  if (a > 2) {
#endif
    return 3;
  }
  return 4;
}

#ifdef WIDE
int wide(void) { return 5; }
#else
int narrow(void) { return 6; }
#endif

int after(void) { return 7; }
"""


@pytest.mark.parametrize("language", ["c", "cpp", "objc"])
def test_branches_that_each_open_a_brace_lose_no_function(language: str) -> None:
    found = definitions_of(C_BRANCHES, language)
    assert {"before", "chosen", "wide", "narrow", "after"} <= {*found}
    assert (found["chosen"].first_line, found["chosen"].end_line) == (4, 14)


def test_branches_of_swift_lose_no_method() -> None:
    text = """
struct Files {
    func first() {}

    func open(_ mode: Int) -> Int {
        switch mode {
        case 1:
            #if os(Linux)
            fallthrough
            #else
            return 1
            #endif
        default:
            return 2
        }
    }

    #if os(Linux)
    func linux() -> Int {
    #else
    func other() -> Int {
    #endif
        return 3
    }

    func last() {}
}
"""
    found = names_of(text, "swift")
    assert {"Files", "Files.first", "Files.open", "Files.linux", "Files.last"} <= found


def test_branches_of_csharp_lose_no_method() -> None:
    text = """
namespace Shop {
    class Cart {
        void First() { }
#if NET8
        void Add(int a) {
#else
        void Add(long a) {
#endif
            Run();
        }
        void Last() { }
    }
}
"""
    assert {"Shop.Cart.First", "Shop.Cart.Add", "Shop.Cart.Last"} <= names_of(text, "csharp")


@pytest.mark.parametrize(
    ("language", "bad", "fine"),
    [
        ("c", "int bad(int a) {\n  if (a) {\n    return 1;\n}\n", "int fine{0}(void) {{\n  return {0};\n}}\n"),
        ("kotlin", "fun bad(a: Int) {\n    if (a > 1) {\n        run()\n}\n", "fun fine{0}() {{\n    run()\n}}\n"),
        ("swift", "func bad(a: Int) {\n    if a > 1 {\n        run()\n}\n", "func fine{0}() {{\n    run()\n}}\n"),
    ],
)
def test_a_missing_brace_costs_its_own_function_alone(language: str, bad: str, fine: str) -> None:
    text = "\n".join([fine.format(0), fine.format(1), bad, fine.format(2), fine.format(3)])
    found = definitions_of(text, language)
    assert {"fine0", "fine1", "bad", "fine2", "fine3"} <= {*found}
    lines = text.split("\n")
    for number in range(4):
        it = found[f"fine{number}"]
        assert f"fine{number}" in lines[it.first_line - 1]
        assert it.end_line == it.first_line + 2


def test_a_guess_is_marked_and_true_symbols_are_not() -> None:
    bad = "class Bad : ??? {\n    fun two() {}\n}\n\nfun <<< worse(a: Int) {\n    run(\n}\n"
    text = f"class Fine {{\n    fun one() {{}}\n}}\n\n{bad}"
    found = definitions_of(text, "kotlin")
    assert not found["Fine.one"].is_guessed
    assert not found["Fine"].is_guessed
    assert found["Bad"].is_guessed


def test_nothing_in_an_error_inherits_a_name_from_what_stands_before() -> None:
    noise = "\n".join(f"@@ ]] )) {number} ((" for number in range(200))
    text = f"int before(void) {{\n  return 1;\n}}\n\n{noise}\n\nint after(void) {{\n  return 2;\n}}\n"
    report = chunk(Document("fixture.c", text, "c"))
    for piece in report.chunks:
        if "@@" in piece.text and "return" not in piece.text:
            assert piece.symbol == ""
    assert {"before", "after"} <= {name for piece in report.chunks for name in piece.defines}
