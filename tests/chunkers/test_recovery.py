"""Lines that a grammar cannot read take no neighbours with them."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.code.syntax import parse
from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.line_patterns import LinePatterns
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, Definition, Document
from cqm.chunkers.recovery.branches import blank
from cqm.chunkers.recovery.by_lines import outline_by_lines
from cqm.chunkers.recovery.reading import Read


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


KOTLIN_TYPE = """
fun shelf(
    title: @Composable (() -> Unit),
) {
    val shown = if (label != null) {
        footer?.let {
            Space(size = Modifier.width(gap))
        }
        Column(
            size = Modifier.weight(),
            place = Place.Middle,
        ) {
            Space(size = Modifier.width(gap))
        }
    }
}
private fun Modifier.opening(action: Action?): Modifier = if (action != null) {
}
"""


def test_an_annotation_before_a_type_in_parentheses_loses_no_line() -> None:
    report = chunk(Document("fixture", KOTLIN_TYPE, "kotlin"))
    assert report.warnings == ()
    assert {it.name for piece in report.chunks for it in piece.definitions} >= {"shelf", "Modifier.opening"}


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


@pytest.mark.parametrize("language", ["c", "cpp", "objc", "csharp", "swift"])
@pytest.mark.parametrize("rows", [(6, 6), (8, 9), (6, 10), (17, 19), (1, 22), (23, 23)])
def test_a_tree_made_from_one_with_other_rows_is_that_of_the_text_alone(language: str, rows: tuple[int, int]) -> None:
    read = grammar(*BY_NAME[language].grammar)
    before = f"{C_BRANCHES}/* \u00e4 \udcff */\n".encode("utf-8", "surrogateescape")
    lines = before.split(b"\n")
    after = b"\n".join(blank(it) if rows[0] <= row <= rows[1] else it for row, it in enumerate(lines))
    first, alone = parse(before, read), parse(after, read)
    assert first is not None
    assert alone is not None
    helped = parse(after, read, Read(before, first))
    assert helped is not None
    assert str(helped.root_node) == str(alone.root_node)
    assert [it.byte_range for it in helped.root_node.children] == [it.byte_range for it in alone.root_node.children]


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


def test_what_a_cast_of_csharp_points_at_costs_no_line() -> None:
    text = """ref partial struct Reader {
    public Reader(int a) { }
    unsafe void Copy(byte* to, byte* from) {
        *(int*)to = *(int*)from;
        var h = (*(uint*)from * 31u) >> 4;
    }
}
"""
    report = chunk(Document("a.cs", text))
    names = {it.name: it.kind for piece in report.chunks for it in piece.definitions}
    assert names == {"Reader": "struct", "Reader.Reader": "constructor", "Reader.Copy": "method"}
    assert not report.warnings


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


@pytest.mark.parametrize(
    "name", ["ABSL_EXCLUSIVE_LOCK_FUNCTION(mu_)", "MY_REQUIRES(a, b(c)) MY_NO_ANALYSIS", "FOO_NOEXCEPT"]
)
def test_attributes_by_macros_after_parameters_name_no_function(name: str) -> None:
    text = (
        f"class MY_LOCKABLE MY_API(1) Mutex {{\n public:\n  void Lock() {name} {{ run(); }}\n  int last() const;\n}};\n"
    )
    assert names_of(text, "cpp") == {"Mutex", "Mutex.Lock", "Mutex.last"}


def test_attributes_by_macros_in_other_places_lose_nothing() -> None:
    text = """
MY_EXPORT int first(struct a *b);
MY_CONST_INIT std::atomic<bool> ready{false};
int count MY_GUARDED_BY(mu) = 0;
void MY_ATTRIBUTE_NOINLINE second() {
  run();
}
int third() { return MY_VALUE; }
"""
    assert {"first", "ready", "count", "second", "third"} <= names_of(text, "cpp")


@pytest.mark.parametrize("blanks", [" ", "  ", "\t", " \t "])
def test_an_attribute_by_a_macro_may_stand_between_any_blanks(blanks: str) -> None:
    heads = [
        "int LIB_API one(void)",
        "char * LIB_CALL(2) two(int a)",
        "A_B int three(void)",
        "static LIB_X int four(void)",
    ]
    text = "\n".join(f"{head.replace(' ', blanks)}\n{{\n  return 0;\n}}\n" for head in heads)
    found = definitions_of(text + "int broken( {\n", "c")
    assert {(it.name, it.line) for it in found.values()} >= {("one", 1), ("two", 6), ("three", 11), ("four", 16)}
    assert not {"LIB_API", "LIB_CALL", "A_B", "LIB_X"} & {*found}


def test_types_in_capitals_and_templates_made_elsewhere_are_no_macros() -> None:
    text = """
extern template size_t try_find(size_t first,
                                ctrl_t* second,
                                size_t third);
static const YY_CHAR classes[2] = {1, 2};
constexpr auto MAX_SIZE = limit();
typedef BOOL (WINAPI *run_type)(int a);
MY_API int (*my_pointer)(const char *name) MY_ATTR;
bool inverted MY_DEPRECATED_MSG("Use two words instead.");
class View {
  DECLARE_FIELD(one, 1)
  DECLARE_FIELD(two, 2)
PRIVATE_UNLESS_TESTED:
  MY_API ~View();
  MY_DEPRECATED operator string_view<char>() const { return {}; }
  int last;
};
"""
    found = names_of(text, "cpp")
    assert {"classes", "MAX_SIZE", "run_type", "my_pointer", "inverted", "View", "View.~View", "View.last"} <= found
    assert "View.operator string_view<char>" in found
    assert not {"second", "third", "YY_CHAR", "limit", "int"} & found


def test_declarations_of_all_branches_are_told_even_of_a_file_with_errors() -> None:
    text = """
#if ONE
#include <one.h>
#endif
bad bad bad (;
#if ONE
int first() { return 1; }
#elif TWO
int second() { return 2; }
#else
template <typename T> int third() { return 3; }
#endif
int last() { return 4; }
"""
    assert {"first", "second", "third", "last"} <= names_of(text, "cpp")


PASCAL = """
unit Shapes;
interface
type
  TOld = class
    FSide: Integer;
  end deprecated;
  TShape = class
{$IFDEF FPC}
    procedure Draw(const AName: string); inline;
{$ELSE}
    procedure Draw([Body] AName: TName);
{$ENDIF}
  end;
implementation
{$IF DEFINED(FPC)}
procedure TShape.Draw(const AName: string);
begin
{$ELSE}
procedure TShape.Draw([Body] AName: TName);
begin
  Write('it''s ''' + AName + '''');
{$IFEND}
end;
{$IFDEF ONE}
function First: Integer; begin Result := 1; end;
{$ELSEIF TWO}
function Second: Integer; begin Result := 2; end;
{$ELSE}
function Third: Integer; begin Result := 3; end;
{$ENDIF}
end.
"""


def test_branches_hints_and_attributes_of_pascal_cost_no_declaration() -> None:
    found = {name.removeprefix("Shapes.") for name in names_of(PASCAL, "pascal")}
    assert {"TOld", "TOld.FSide", "TShape", "TShape.Draw", "First", "Second", "Third"} <= found


def test_a_package_of_delphi_and_files_of_units_are_read() -> None:
    text = (
        "package Core;\nrequires\n  rtl;\ncontains\n  Main in 'Main.pas' {Form},\n  Other in 'sub\\Other.pas';\nend.\n"
    )
    report = chunk(Document("Core.dpk", text, "pascal"))
    assert not report.warnings
    assert "Core" in {it.name for piece in report.chunks for it in piece.definitions}


def test_a_macro_over_two_rows_moves_no_definition_below_it() -> None:
    text = (
        "MY_INIT int* first MY_GUARDED_BY(\n    mutex()) MY_ALSO(b) = nullptr;\n\nint after(int a) {\n  return a;\n}\n"
    )
    after = definitions_of(text, "cpp")["after"]
    assert (after.first_line, after.end_line) == (4, 6)


@pytest.mark.parametrize("kind", ["class", "open class", "interface"])
def test_annotations_on_lines_of_their_own_do_not_hide_a_class(kind: str) -> None:
    text = (
        f'/** A service. */\n@Component\n@Named("a")\n{kind} UserService {{\n    fun load() {{}}\n}}\nfun last() {{}}\n'
    )
    found = names_of(text, "kotlin")
    assert found == {"UserService", "UserService.load", "last"}


def test_a_program_over_the_limit_is_parsed_in_parts() -> None:
    text = "".join(
        f"/* Doc {number}. */\nint f{number}(int a)\n{{\n  return {number};\n}}\n\n" for number in range(4_000)
    )
    report = chunk(Document("large.c", text), ChunkOptions(max_parse_bytes=100_000))
    assert {piece.strategy for piece in report.chunks} == {"code"}
    assert not report.warnings
    found = [it for piece in report.chunks for it in piece.definitions]
    assert [it.name for it in found] == [f"f{number}" for number in range(4_000)]
    lines = text.split("\n")
    assert all(it.name in lines[it.line - 1] and lines[it.end_line - 1] == "}" for it in found)
    assert all(piece.text == text[piece.start : piece.end] for piece in report.chunks)


def test_a_large_header_of_macros_alone_is_divided_too() -> None:
    text = "".join(f"#define F{number}(a) \\\n    g(a); \\\n    h(a)\n\n" for number in range(9_000))
    report = chunk(Document("large.h", text), ChunkOptions(max_parse_bytes=100_000))
    assert not report.warnings
    assert [it.name for piece in report.chunks for it in piece.definitions] == [f"F{n}" for n in range(9_000)]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("large.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n\n', "\n#ifdef __cplusplus\n}\n#endif\n"),
        ("large.cpp", "namespace n {\n\n", "\n}  // namespace n\n"),
    ],
)
def test_a_block_around_all_of_a_program_over_the_limit_is_divided_too(name: str, before: str, after: str) -> None:
    """Once such a header had no names at all."""
    inside = "".join(f"/* Doc {number}. */\nint f{number}(int a);\n\n" for number in range(9_000))
    report = chunk(Document(name, f"int first;\n{before}{inside}{after}"), ChunkOptions(max_parse_bytes=100_000))
    found = [it for piece in report.chunks for it in piece.definitions]
    assert {it.name for it in found} >= {"first", *(f"f{number}" for number in range(9_000))}
    assert not [it.name for it in found if it.is_guessed and it.name != "n"]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_macros_before_and_behind_a_type_take_no_declaration(language: str) -> None:
    text = (
        "\n/** Opens. */\nU_CAPI UCalendar* U_EXPORT2\nucal_open(const UChar* zone, int32_t length);\n"
        "\n/** Closes. */\nU_CAPI void U_EXPORT2\nucal_close(UCalendar *calendar);\n\nint after(void) { return 1; }\n"
    )
    assert names_of(text, language) == {"ucal_open", "ucal_close", "after"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class __TBB_OLD Error : public std::exception\n{\n  int f();\n};\n", {"Error", "Error.f"}),
        (
            "class A {\n  A* __TBB_API move() __TBB_override;\n  void raise() __TBB_override { throw 1; }\n};\n",
            {"A", "A.move", "A.raise"},
        ),
        (
            "class A {\n  __TBB_OLD_METHOD ~A();\n  typedef void (__TBB_OLD_FUNC *operation)(int);\n  int size;\n};\n",
            {"A", "A.~A", "A.operation", "A.size"},
        ),
        ("void ITTAPI __itt_pause(void);\nvoid ITTAPI __itt_resume(void);\n", {"__itt_pause", "__itt_resume"}),
        ("class A {\n  enum : id_type { none = 1, all };\n};\n", {"A", "A.none", "A.all"}),
        ("template<> __device__ half2 padd<half2>(const half2& a) {\n  return a;\n}\n", {"padd"}),
    ],
)
def test_macros_with_two_underscores_take_no_name_of_cpp(text: str, names: set[str]) -> None:
    """Once such a class was a function called after its base, and methods were called after the macro."""
    found = {it.name for piece in chunk(Document("a.h", text, "cpp")).chunks for it in piece.definitions}
    assert found == names


def test_what_cannot_be_read_between_functions_of_a_namespace_leaves_them() -> None:
    inside = "".join(
        f'KJ_TEST("no {number}") {{\n  KJ_IF_SOME(a, b) {{ run(a); }} else {{ }}\n}}\n\n'
        f"template <typename T>\nint f{number}(T a) {{\n  return a;\n}}\n\n"
        for number in range(20)
    )
    found = definitions_of(f"namespace n {{\n\n{inside}}}\n\nint last() {{ return 2; }}\n", "cpp")
    assert {"n", "last", *(f"n.f{number}" for number in range(20))} <= {*found}
    assert all(found[f"n.f{number}"].end_line - found[f"n.f{number}"].line == 2 for number in range(20))


def test_a_comment_behind_a_declaration_takes_no_part_over_the_limit() -> None:
    text = "".join(f"int f{number}(int a) {{ return {number}; }} // {'x' * 900}\n" for number in range(300))
    report = chunk(Document("large.c", text), ChunkOptions(max_parse_bytes=100_000))
    assert not [it for it in report.warnings if "parse" in it]
    found = [it.name for piece in report.chunks for it in piece.definitions]
    assert found == [f"f{number}" for number in range(300)]


def test_tables_of_patterns_in_strings_are_not_taken_for_nesting() -> None:
    table = "".join(f'  {{ "[[a-z[[(({number}", "]" }},\n' for number in range(600))
    before, after = "int before(void) { return 1; }\n", "int after(void) { return 2; }\n"
    text = f"{before}\nstatic struct t table[] = {{\n{table}}};\n\n{after}"
    report = chunk(Document("table.c", text))
    assert {"before", "table", "after"} <= {name for piece in report.chunks for name in piece.defines}
    assert not report.warnings


def test_what_may_crash_the_parser_takes_no_neighbours_with_it() -> None:
    text = f"int before(void) {{ return 1; }}\n\nint bad = {'(' * 3_000};\n\nint after(void) {{ return 2; }}\n"
    assert {"before", "after"} <= names_of(text, "c")


def test_lines_alone_tell_the_symbols_of_a_language_without_a_grammar() -> None:
    patterns = LinePatterns(
        (
            ("module", r"\s*Module (?P<name>\w+)"),
            ("function", r"\s*(?:Sub|Function) (?P<name>\w+)"),
        ),
        comment=r"\s*'",
        closing=r"\s*End\b",
        has_braces=False,
    )
    lines = [
        "Module Shop",
        "  ' A comment",
        "  Sub Buy()",
        "    Run()",
        "  End Sub",
        "",
        "  Function Sell()",
        "  End Function",
    ]
    [module] = outline_by_lines([*lines, "End Module", "Sub Main()", "End Sub"], 0, 10, patterns)[:1]
    assert (module.kind, module.name, module.first, module.last) == ("module", "Shop", 0, 8)
    assert [(it.name, it.first, it.last) for it in module.members] == [("Buy", 2, 4), ("Sell", 6, 7)]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.ps1", "function One {\n  )\n}\n\nfunction Two-Three {\n  ((\n}\n", {"One", "Two-Three"}),
        ("a.pl", "sub one {\n  my ($a = [;\n}\n\nsub two {\n  )\n}\n", {"one", "two"}),
        ("a.rb", "class A\n  def one(\n  def two\n  end\nend\n", {"A", "A.one"}),
        ("a.jl", "function one(\n  x = (\nend\n\nfunction two(x)\n", {"one", "two"}),
    ],
)
def test_a_function_in_what_the_grammar_cannot_read_is_told_by_its_line(path: str, text: str, names: set[str]) -> None:
    found = {it.name for part in chunk(Document(path, text)).chunks for it in part.definitions}
    assert names <= found


def test_a_match_with_flags_or_a_last_index_of_perl_costs_no_sub() -> None:
    text = "sub one {\n  if ($css =~ /\\G\\s*([>+~])/gco) { return @$tree[4 .. $#$tree] }\n}\n\nsub two { 1 }\n"
    found = [it for part in chunk(Document("a.pl", text)).chunks for it in part.definitions]
    assert [(it.name, it.is_guessed) for it in found] == [("one", False), ("two", False)]


def test_signs_other_than_slashes_around_letters_and_patterns_of_perl_cost_no_sub() -> None:
    text = (
        "sub one {\n  $uri =~ tr#\\\\#/# if ($win);\n  $uri .= '/' if ($uri =~ m#^[a-z]+://[^/]+$#i);\n"
        "  $last = $#list;\n}\n\nsub two { 1 }\n"
    )
    report = chunk(Document("a.pl", text))
    found = [it for part in report.chunks for it in part.definitions]
    assert (report.warnings, [(it.name, it.is_guessed) for it in found]) == ((), [("one", False), ("two", False)])


def test_markup_in_a_program_of_ocaml_costs_no_function() -> None:
    text = (
        "let page title =\n  <html>\n%   items |> List.iter begin fun it ->\n      <p class='a'><%s it %>, it's</p>\n"
        "%   end;\n\n  </html>\n\nlet last x =\n  x + 1\n\nlet text = {|\n<p>\n|}\n\nlet is_less a b =\n  a\n  <b\n"
    )
    report = chunk(Document("a.eml.ml", text))
    found = [(it.name, it.line, it.end_line) for part in report.chunks for it in part.definitions]
    assert report.warnings == ()
    assert found == [("page", 1, 2), ("last", 9, 10), ("text", 12, 14), ("is_less", 16, 18)]


def test_what_a_broken_text_tells_does_not_depend_on_the_texts_before_it() -> None:
    # The grammar of Jsonnet begins with an open string where the text before it had one.
    text = "'\nlocal title(name, suffix='') = name;\n{ extra: 'a', port: title('b') }\n"
    told = [definitions_of(text, "jsonnet") for _ in range(4)]
    assert all(it == told[0] for it in told)
    assert "title" in told[0]
