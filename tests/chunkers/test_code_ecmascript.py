"""JavaScript, TypeScript and their JSX: what is a symbol, of which kind, and what stays together."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

ALONE = ChunkOptions(max_tokens=128, min_tokens=0)


def chunks_of(text: str, language: str = "tsx", options: ChunkOptions = ALONE) -> tuple[Chunk, ...]:
    return chunk(Document("fixture", text, language), options).chunks


def symbols(text: str, language: str = "tsx") -> list[str]:
    """Kind and name of each chunk, and what else it defines."""
    return [
        " ".join([piece.kind, piece.symbol, *(name for name in piece.defines if name != piece.symbol)]).strip()
        for piece in chunks_of(text, language)
    ]


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export const f = async (x: number) => x + 1;", "function f"),
        ("export default () => 1;", "function default"),
        ("export default function () { return 1; }", "function default"),
        ("export default class extends Base { a() {} }", "class default default.a"),
        ("export default function* named() { yield 1; }", "function named"),
        ("const a = 1, b = () => 2;", "function b a"),
        ("export const { one, two: other } = slice.actions;", "variable one"),
        ("const useTotal = useCallback((x) => x + 1, []);", "function useTotal"),
        ("const save = debounce((x) => {\n  send(x);\n}, 300);", "function save"),
        ("const handler = guarded(async (event) => {\n  return event;\n});", "function handler"),
        ("const names = users.map((user) => {\n  return user.name;\n});", "variable names"),
        ("const shop = (function () {\n  function buy() {}\n  return { buy };\n})();", "variable shop shop.buy"),
        ("const router = { get() {}, put: () => 1 };", "variable router router.get router.put"),
        ("const options = { a: 1, b: 'x' };", "variable options"),
        ("const store = new Store({ state: {}, get() {} });", "variable store store.get"),
        ("enum Color { Red, Green = 2 }", "enum Color Color.Red Color.Green"),
        ("abstract class A { abstract f(): void; get g() { return 1; } #h() {} }", "class A A.f A.g A.#h"),
        ("interface A { f(): void; g: string }", "interface A A.f A.g"),
        ("type A = { f(): void };", "type A"),
        ("namespace A.B { export function f() {} }", "namespace A.B A.B.f"),
        ("declare function f(x: string): void;", "function f"),
        ("declare const LIMIT: number;", "constant LIMIT"),
        ("import a = require('a');", "imports"),
        ("require('./setup');", "imports"),
        ("const a = await import('a');", "imports"),
        ("start().catch(console.error);", "statement"),
    ],
)
def test_each_form_of_a_definition_is_a_symbol(text: str, expected: str) -> None:
    assert symbols(text) == [expected]


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("module.exports = function () { return 1; };", "function module.exports"),
        ("module.exports = class Shop { buy() {} };", "class Shop Shop.buy"),
        ("exports.buy = function () { return 1; };", "function buy"),
        ("module.exports.LIMIT = 3;", "constant LIMIT"),
        ("exports.handler = guarded(async (event) => {\n  return event;\n});", "function handler"),
        ("Shop.prototype.buy = function () { return 1; };", "method Shop.buy"),
        ("app.get('/', function home(request, response) {\n  response.end();\n});", "function home"),
        ("it('buys', () => {\n  buy();\n});", "test buys"),
        ("it('buys \".\"', () => {\n  buy();\n});", 'test buys "."'),
        ("Deno.test('buys', () => {\n  buy();\n});", "test buys"),
        ("const found = text.test('x');", "variable found"),
    ],
)
def test_definitions_by_assignment_and_by_call_are_symbols(text: str, expected: str) -> None:
    assert symbols(text, "javascript") == [expected]


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("function Card() {\n  return <div/>;\n}", "component"),
        ("function Card({ open }) {\n  if (!open) return null;\n  return open && <div/>;\n}", "component"),
        ("const Card = () => <><div/></>;", "component"),
        (
            "const Card = memo(forwardRef<A, B>(function Card(props, ref) {\n  return <div ref={ref}/>;\n}));",
            "component",
        ),
        ("const Card = React.lazy(() => import('./card'));", "component"),
        ("class Card extends React.Component<Props> {\n  render() {\n    return <div/>;\n  }\n}", "component"),
        ("function card() {\n  return <div/>;\n}", "function"),
        ("function Card() {\n  const inner = () => <div/>;\n  return inner;\n}", "function"),
        ("class Card {\n  render() {\n    return 1;\n  }\n}", "class"),
    ],
)
def test_a_capitalised_function_or_class_that_gives_jsx_is_a_component(text: str, kind: str) -> None:
    (piece,) = chunks_of(text)
    assert (piece.kind, piece.symbol) == (kind, "card" if "function card" in text else "Card")


@pytest.mark.row("C1")
def test_members_of_a_component_that_is_a_class_are_methods() -> None:
    body = "".join(f"    log({number}, this.props.title);\n" for number in range(16))
    text = (
        f"class Card extends Component {{\n  load() {{\n{body}  }}\n\n  render() {{\n{body}    return <b/>;\n  }}\n}}\n"
    )
    chunks = chunks_of(text, options=ChunkOptions(apart=True))
    assert [(piece.kind, piece.symbol) for piece in chunks] == [
        ("component", "Card"),
        ("method", "Card.load"),
        ("method", "Card.render"),
    ]


@pytest.mark.row("C1")
def test_tests_are_named_after_the_groups_that_they_are_in() -> None:
    text = (
        "describe('cart', () => {\n  beforeEach(() => {\n    reset();\n  });\n\n"
        "  describe.each([1, 2])('with %d items', (count) => {\n    const cart = { items: count };\n\n"
        "    it.skip('is full', async () => {\n      expect(cart).toBeFull();\n    });\n  });\n});\n"
    )
    (piece,) = chunks_of(text, "typescript")
    assert (piece.kind, piece.symbol) == ("test", "cart")
    assert piece.defines == ("cart", "cart.beforeEach", "cart.with %d items", "cart.with %d items.is full")


@pytest.mark.row("C1")
def test_a_group_of_tests_over_the_limit_is_cut_between_its_tests_and_names_the_group_as_context() -> None:
    body = "".join(f"    expect(cart.item({number})).toBe({number});\n" for number in range(9))
    tests = "\n".join(f"  it('does {name}', () => {{\n{body}  }});\n" for name in ("one", "two", "three"))
    chunks = chunks_of(f"describe('cart', () => {{\n{tests}}});\n", "typescript")
    assert [piece.symbol for piece in chunks][-2:] == ["cart.does two", "cart.does three"]
    assert chunks[-1].context == "describe('cart', () =>"


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "typescript",
            "/** 1. */\nexport function f(x: A): void;\nexport function f(x: B): void;\nexport function f(x: any) {}\n",
        ),
        (
            "typescript",
            "class A {\n  /** One. */\n  f(x: string): void;\n\n  f(x: number): void;\n  f(x: any) {}\n}\n",
        ),
        (
            "python",
            "@overload\ndef f(x: int): ...\n\n\n@typing.overload\ndef f(x: str): ...\n\n\ndef f(x):\n    return x\n",
        ),
    ],
)
def test_overloads_are_one_chunk_with_the_function_that_implements_them(language: str, text: str) -> None:
    chunks = chunks_of(text, language, ChunkOptions(apart=True))
    overloaded = [piece for piece in chunks if piece.symbol.rpartition(".")[2] == "f"]
    assert len(overloaded) == 1
    assert overloaded[0].text.count("f(x") == 3


@pytest.mark.row("C1")
def test_decorators_stay_with_what_they_decorate() -> None:
    text = "const a = 1;\n\n@Component({ selector: 'x' })\nexport class A {\n  @Input() name: string;\n}\n"
    assert chunks_of(text, "typescript")[-1].text.startswith("@Component")


@pytest.mark.row("C1")
def test_top_level_code_that_fits_stays_whole() -> None:
    script = "if (process.argv[2]) {\n  const args = parse(process.argv);\n  run(args);\n} else {\n  help();\n}\n"
    text = f"import {{ run }} from './run';\n\n{script}\nfunction help() {{\n  print();\n}}\n"
    (piece,) = [piece for piece in chunks_of(text, "typescript") if "process.argv" in piece.text]
    assert script in piece.text


@pytest.mark.row("C1")
@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cpp", "TEST(Cart, Adds) {\n  add();\n}\nTEST_F(Shop, Sells) {\n  sell();\n}\n", ["Cart.Adds", "Shop.Sells"]),
        ("scala", 'class A extends Suite {\n  test("adds") {\n    add()\n  }\n}\n', ["A", "A.adds"]),
        ("ruby", 'RSpec.describe Cart do\n  it "adds" do\n    add\n  end\nend\n', ["Cart", "Cart.adds"]),
        ("elixir", 'describe "cart" do\n  test "adds" do\n    add()\n  end\nend\n', ["cart", "cart.adds"]),
        ("php", "<?php\nit('adds', function () {\n  add();\n});\n", ["adds"]),
        ("java", "class A {\n  int x, y = 2;\n}\n", ["A", "A.x", "A.y"]),
    ],
)
def test_tests_and_fields_of_other_languages_are_symbols_by_their_own_names(
    language: str, text: str, expected: list[str]
) -> None:
    assert [name for piece in chunks_of(text, language) for name in piece.defines] == expected
