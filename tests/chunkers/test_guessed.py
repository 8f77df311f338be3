"""Languages without rules of their own get symbols that are guessed, and say so."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.code.outline import Place, outline
from cqm.chunkers.code.source import source_of
from cqm.chunkers.code.syntax import parse
from cqm.chunkers.detect import language_of
from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.guessed import without_grammar
from cqm.chunkers.languages.guessed.rules import GuessedRules
from cqm.chunkers.languages.model import Language
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, Document

# The same names with the grammar of the extra and without.
TEXTS = {
    "a.thrift": (
        "struct User {\n  1: string name\n}\n\nservice Users {\n  User find(1: i32 id),\n}\n",
        {"User": 1, "Users": 5, "Users.find": 6},
    ),
    "a.prisma": ("model User {\n  id Int @id\n}\n\nenum Role {\n  ADMIN\n}\n", {"User": 1, "Role": 5}),
    "a.smithy": ('$version: "2"\nnamespace a\n\nstructure User {\n  name: String\n}\n', {"User": 4}),
    "a.fish": ("function greet\n  echo hi\nend\n", {"greet": 1}),
    "a.purs": ("module A where\n\ndata Role = Admin\n\nadd :: Int -> Int\nadd x = x\n", {"Role": 3, "add": 5}),
    "a.rego": ("package a\n\nallow {\n  input.x\n}\n", {"allow": 3}),
    "a.pp": ("class apache {\n  $a = 1\n}\n", {"apache": 1}),
    "a.bicep": ("param name string\n", {"name": 1}),
    "a.v": ("module main\n\nstruct User {\n\tname string\n}\n\nfn main() {\n}\n", {"User": 3, "main": 7}),
    "a.feature": ("Feature: Pay\n\n  Scenario: with a card\n    Given a card\n", {"Pay": 1, "Pay.with a card": 3}),
    "a.awk": ("function add(a, b) {\n  return a + b\n}\n", {"add": 1}),
    "a.res": (
        "module Cart = {\n  type line = int\n\n  let total = (a, b) => a + b\n}\n",
        {"Cart": 1, "Cart.line": 2, "Cart.total": 4},
    ),
    "a.lean": ("theorem add_zero (n : Nat) : n + 0 = n := rfl\n", {"add_zero": 1}),
    "a.patch": ("diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n", {"x.py": 1}),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("is_installed", [True, False], ids=["grammar", "lines"])
def test_names_are_guessed_with_the_grammar_of_the_extra_and_without(
    name: str, is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, wanted = TEXTS[name]
    language = language_of(name, text)
    if not is_installed:
        row = without_grammar(BY_NAME[language])
        monkeypatch.setattr("cqm.chunkers.code.program.BY_NAME", {**BY_NAME, language: row})
    found = [it for part in chunk(Document(name, text)).chunks for it in part.definitions]
    assert wanted.items() <= {it.name: it.line for it in found}.items()
    assert all(it.is_guessed for it in found)


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        (
            "java",
            "import a.B;\n/** Doc. */\nclass A {\n  int x;\n  A() {}\n  void run(int y) {}\n}\n",
            ["class A", "property A.x", "constructor A.A", "method A.run"],
        ),
        ("go", "package a\n\ntype T struct {\n\tX int\n}\n\nfunc (t T) Run() {}\n", ["type T", "method Run"]),
        (
            "rust",
            "use a::B;\nmod m {\n    pub struct S { x: u8 }\n    fn f() {}\n}\n",
            ["module m", "struct m.S", "property m.S.x", "function m.f"],
        ),
    ],
)
def test_rules_for_any_grammar_know_symbols_by_the_types_of_nodes(language: str, text: str, wanted: list[str]) -> None:
    where = BY_NAME[language].grammar
    tree = parse(text.encode(), grammar(*where))
    assert tree is not None
    row = Language("any", where, GuessedRules({}), is_guessed=True)
    waiting = outline([tree.root_node], Place(), row, source_of(text, text.encode(), ChunkOptions()))
    found = []
    while waiting:
        mark = waiting.pop(0)
        assert mark.is_guessed
        found += [f"{mark.kind} {mark.name}"] if mark.name else []
        waiting[:0] = mark.members
    assert found == wanted
