import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

ALONE = ChunkOptions(max_tokens=128, min_tokens=0)


def chunks_of(text: str, language: str = "python", options: ChunkOptions = ALONE) -> tuple[Chunk, ...]:
    return chunk(Document("fixture", text, language), options).chunks


def chunk_with(part: str, chunks: tuple[Chunk, ...]) -> Chunk:
    found = [piece for piece in chunks if part in piece.text]
    assert len(found) == 1
    return found[0]


def statements(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}total_{number} = compute({number}) + offset\n" for number in range(count))


@pytest.mark.row("C1")
def test_a_comment_stays_with_the_function_below_it() -> None:
    chunks = chunks_of("x = 1\n\n# Adds.\n# Twice.\ndef add():\n    pass\n")
    assert chunk_with("def add", chunks).text == "# Adds.\n# Twice.\ndef add():\n    pass\n"


def test_a_doc_comment_stays_with_its_function_over_a_blank_line() -> None:
    chunks = chunks_of("int a;\n\n/**\n * Adds.\n */\n\nint add(void)\n{\n  return 1;\n}\n", "c")
    assert chunk_with("return 1", chunks).text.startswith("/**")


def test_an_ordinary_comment_over_a_blank_line_stays_apart() -> None:
    chunks = chunks_of("# Section.\n\ndef add():\n    pass\n")
    assert chunk_with("def add", chunks).text.startswith("def add")


def test_a_comment_at_the_end_of_a_block_that_is_about_what_follows_goes_with_it() -> None:
    chunks = chunks_of("[a]\nx = 1\n\n# About b.\n[b]\ny = 2\n", "toml")
    assert chunk_with("[b]", chunks).text == "# About b.\n[b]\ny = 2\n"


def test_a_trailing_comment_stays_in_its_line() -> None:
    chunks = chunks_of("def a():\n    return 1  # one\n\n\ndef b():\n    pass\n")
    assert chunk_with("return 1", chunks).text.endswith("# one\n")


def test_a_class_within_the_limit_is_one_chunk_that_defines_its_members() -> None:
    (piece,) = chunks_of("class A:\n    x = 1\n\n    def f(self):\n        pass\n\n    class B:\n        y = 2\n")
    assert (piece.kind, piece.symbol) == ("class", "A")
    assert piece.defines == ("A", "A.x", "A.f", "A.B", "A.B.y")


def test_a_larger_class_has_a_header_and_a_chunk_for_each_method_with_the_class_line_as_context() -> None:
    text = "class A(Base):\n    x = 1\n\n    def f(self):\n" + statements(8, " " * 8)
    text += "\n    @cache\n    def g(self):\n" + statements(8, " " * 8)
    header, first, second = chunks_of(text)
    assert (header.kind, header.symbol, header.context) == ("class", "A", "")
    assert (first.kind, first.symbol, first.context) == ("method", "A.f", "class A(Base):")
    assert (second.symbol, second.text.split("\n")[0]) == ("A.g", "    @cache")


def test_a_namespace_and_a_class_are_both_in_the_context_of_a_method() -> None:
    body = "".join(f"            total += Compute({number});\n" for number in range(15))
    text = f"namespace Shop\n{{\n    public class Cart\n    {{\n        void Sum()\n        {{\n{body}        }}\n"
    text += f"        void Count()\n        {{\n{body}        }}\n    }}\n}}\n"
    piece = chunk_with("void Count", chunks_of(text, "csharp"))
    assert piece.symbol == "Shop.Cart.Count"
    assert piece.context == "namespace Shop\n    public class Cart"


@pytest.mark.row("C3")
def test_a_function_over_the_limit_is_split_at_statements_and_each_part_names_its_signature() -> None:
    text = '@route("/")\ndef big(a: int) -> int:\n    """Adds."""\n' + statements(40) + "    return total_1\n"
    chunks = chunks_of(text)
    assert len(chunks) == 3
    assert {piece.symbol for piece in chunks} == {"big"}
    assert {piece.kind for piece in chunks} == {"function"}
    assert [piece.defines for piece in chunks] == [("big",), (), ()]
    assert [piece.context for piece in chunks] == ["", *["def big(a: int) -> int:"] * 2]
    assert max(piece.tokens for piece in chunks) < 2 * min(piece.tokens for piece in chunks)


def test_a_large_function_is_not_split_inside_of_its_inner_blocks_where_that_can_be_helped() -> None:
    block = "    if ready:\n" + statements(4, " " * 8)
    text = "def big():\n" + "\n".join([block] * 8)
    _, *others = chunks_of(text)
    assert len(others) > 1
    assert all(piece.text.startswith("    if ready:") for piece in others)


def test_a_function_that_fits_only_without_its_long_comment_stays_whole() -> None:
    comment = "".join(f"// The comment of line {number} says something.\n" for number in range(20))
    function = "function add(a, b) {\n" + statements(10, "  ") + "}\n"
    chunks = chunks_of(comment + function, "javascript")
    assert function in chunk_with("function add", chunks).text
    assert {piece.symbol for piece in chunks} == {"add"}


def test_functions_in_a_large_function_are_symbols_and_their_neighbours_are_not_lost() -> None:
    body = "".join(f"    console.log({number}, value);\n" for number in range(12))
    inner = "".join(f"  function {name}() {{\n{body}  }}\n" for name in ("one", "two"))
    text = "function make(value) {\n  const x = 1;\n" + inner + "}\n"
    chunks = chunks_of(text, "javascript")
    assert [piece.symbol for piece in chunks] == ["make", "make.one", "make.two"]
    assert chunks[1].context == "function make(value)"


def test_small_neighbours_are_packed_and_functions_of_the_least_size_stand_alone() -> None:
    small = "".join(f"def small_{number}():\n    pass\n\n\n" for number in range(11))
    large = "def large():\n" + statements(8) + "\n\ndef other():\n" + statements(8)
    chunks = chunks_of(small + large, options=ChunkOptions(max_tokens=512, min_tokens=64))
    assert [piece.symbol for piece in chunks] == ["small_0", "large", "other"]
    assert chunks[0].defines == tuple(f"small_{number}" for number in range(11))


def test_a_small_constant_goes_with_a_neighbour() -> None:
    text = "import os\n\nLIMIT = 3\n\n\ndef large():\n" + statements(8)
    (piece,) = chunks_of(text, options=ChunkOptions(max_tokens=512, min_tokens=64))
    assert (piece.symbol, piece.defines) == ("large", ("LIMIT", "large"))


@pytest.mark.row("C1")
def test_imports_are_a_chunk_of_their_own() -> None:
    imports = "".join(f"import java.util.List{number};\n" for number in range(40))
    body = "".join(f"    total += compute({number});\n" for number in range(30))
    text = f"package a;\n\n{imports}\nclass A {{\n  void f() {{\n{body}  }}\n}}\n"
    first, second = chunks_of(text, "java", ChunkOptions())
    assert (first.kind, first.symbol) == ("imports", "")
    assert second.symbol == "A"


@pytest.mark.parametrize(
    ("language", "text", "symbols"),
    [
        ("python", "if X:\n    def f(): pass\nelse:\n    def f(): pass\n", {"f"}),
        ("python", "try:\n    import a\nexcept ImportError:\n    def a(): pass\n", {"a"}),
        ("c", "#ifdef A\nint f(void) { return 1; }\n#endif\n", {"f"}),
        ("cpp", 'extern "C" {\nint f(void) { return 1; }\n}\n', {"f"}),
        ("javascript", "(function (root) {\n  function f() { return 1; }\n})(this);\n", {"f"}),
        ("javascript", "define(['a'], function (a) {\n  function f() { return 1; }\n});\n", {"f"}),
        ("javascript", "exports.f = async () => 1;\n", {"f"}),
        ("javascript", "export default { f() { return 1; }, g: () => 2 };\n", {"f", "g"}),
        ("typescript", "declare module 'm' {\n  function f(): void;\n}\n", {"m", "m.f"}),
        ("rust", "cfg_net! {\n    fn f() {}\n}\n", {"f"}),
        ("rust", "trait A {\n    reads! {\n        /// B\n        fn b(&self);\n    }\n}\n", {"A", "A.b"}),
        ("rust", "a::b! {\n    // C\n    #[d]\n    pub(crate) struct E<T> {\n        f: T,\n    }\n}\n", {"E"}),
        ("rust", "a! {\n mod b {\n  c! {\n   d! {\n    fn e() {}\n   }\n  }\n }\n}\n", {"b", "b.e"}),
        ("rust", "bitflags! {\n    struct F: u8 {\n        const A = 1;\n    }\n}\n", {"F"}),
        ("rust", "fn a() {\n    quote! {\n        fn #b() {}\n    }\n}\n", {"a"}),
        ("ruby", "private def f\nend\n", {"f"}),
    ],
)
def test_symbols_inside_of_conditions_and_wrappers_are_found(language: str, text: str, symbols: set[str]) -> None:
    assert {name for piece in chunks_of(text, language) for name in piece.defines} == symbols


def test_variables_of_callbacks_are_no_symbols() -> None:
    (piece,) = chunks_of("app.get('/', (request) => {\n  const x = 1;\n  return x;\n});\n", "javascript")
    assert piece.defines == ()


def test_clauses_of_one_function_are_one_chunk() -> None:
    text = "defmodule A do\n  def f(1), do: 1\n\n  def f(2), do: 2\n\n  def g(1), do: 1\nend\n"
    (piece,) = chunks_of(text, "elixir")
    assert piece.defines == ("A", "A.f", "A.g")


def test_a_header_of_cpp_is_read_as_cpp() -> None:
    chunks = chunks_of("#pragma once\nnamespace a {\nclass B {\n public:\n  void f() {}\n};\n}\n", "c")
    assert chunks[-1].defines == ("a", "a.B", "a.B.f")


def test_macros_around_declarations_do_not_hide_them() -> None:
    text = "LIB_BEGIN_NAMESPACE\nnamespace a {\nclass LIB_API B : public C {\n  void f() {}\n};\n}\nLIB_END_NAMESPACE\n"
    assert [piece.defines for piece in chunks_of(text, "cpp")] == [("a", "a.B", "a.B.f")]


def test_keys_of_data_are_named_by_their_path() -> None:
    scripts = ",\n".join(f'    "script-{number}": "run something {number}"' for number in range(8))
    text = f'{{\n  "name": "shop",\n  "scripts": {{\n{scripts}\n  }},\n  "nested": {{"deep": {{"key": 1}}}}\n}}\n'
    chunks = chunks_of(text, "json", ChunkOptions(max_tokens=96, min_tokens=0))
    assert "scripts.script-1" in chunk_with("script-1", chunks).defines
    assert "nested.deep.key" in chunk_with("deep", chunks).defines


@pytest.mark.row("C6")
def test_broken_code_keeps_its_definitions_and_says_how_many_lines_were_lost() -> None:
    text = "def first():\n    return 1\n\n)))) ((((\n\n\ndef second():\n    return 2\n"
    report = chunk(Document("broken.py", text), ALONE)
    assert {name for piece in report.chunks for name in piece.defines} >= {"first", "second"}
    assert report.warnings == ("1 line could not be parsed",)


@pytest.mark.row("C6")
def test_what_the_parser_cannot_finish_is_chunked_by_lines_with_a_warning() -> None:
    report = chunk(Document("endless.py", "\\\n" * 40_000))
    assert {piece.strategy for piece in report.chunks} == {"lines"}
    assert "took too long" in report.warnings[0]


@pytest.mark.row("C6")
@pytest.mark.parametrize(("language", "text"), [("java", "f(a<" * 1_000), ("c", "x(y)=" * 1_000)])
def test_what_would_crash_the_parser_is_chunked_by_lines_with_a_warning(language: str, text: str) -> None:
    report = chunk(Document("deep", text, language))
    assert {piece.strategy for piece in report.chunks} == {"lines"}
    assert "nested too deep" in report.warnings[0]


def test_tables_of_calls_are_not_taken_for_nesting() -> None:
    table = "".join(f"ENTRY(NAME_{number}, {number})\n" for number in range(2_000))
    report = chunk(Document("table.h", f"int before(void);\n\n{table}\n\nint after(void) {{ return 1; }}\n"))
    assert {"before", "after"} <= {name for piece in report.chunks for name in piece.defines}


def test_a_file_over_the_limit_for_parsing_is_chunked_by_lines() -> None:
    report = chunk(Document("large.py", "x = 1\n" * 100), ChunkOptions(max_parse_bytes=500))
    assert {piece.strategy for piece in report.chunks} == {"lines"}


def test_a_line_over_the_limit_is_cut_and_its_symbols_go_where_they_begin() -> None:
    text = "".join(f"function f{number}(){{return {number}}};" for number in range(60))
    chunks = chunks_of(text, "javascript")
    assert len(chunks) > 1
    for piece in chunks:
        assert all(piece.start <= text.index(f"function {name}()") < piece.end for name in piece.defines)
    assert {name for piece in chunks for name in piece.defines} == {f"f{number}" for number in range(60)}
