"""Files of several languages: every part is cut by its own, at its place in the file."""

import json
from pathlib import Path

import pytest
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

FIXTURES = Path(__file__).parent / "fixtures" / "embedded"

# First and last line, kind and symbol of each chunk when nothing is packed and the limit is 96 tokens.
EXPECTED = {
    "Blog.astro": """
        1-3 imports Blog
        5-7 interface Props
        9-9 variable tag
        11-15 function posts
        17-19 variable found
        21-30 template Blog
        32-35 function remember
        36-37 statement Blog
    """,
    "Counter.razor": """
        1-4 template Counter
        6-6 template Counter
        7-9 template Counter
        10-11 template Counter
        13-27 code Counter
    """,
    "Counter.svelte": """
        1-2 constant LIMIT
        4-7 function clamp
        9-11 imports Counter
        13-16 variable start
        18-20 statement Counter
        22-26 function increment
        28-30 template Counter
        32-41 template Counter
        43-50 rule section
    """,
    "UserCard.vue": """
        1-7 interface User
        9-11 imports UserCard
        13-18 variable props
        20-20 variable editing
        21-26 function initials
        28-39 function save
        41-42 statement UserCard
        44-46 template UserCard
        47-47 template UserCard
        48-51 template UserCard
        52-54 template UserCard
        56-60 rule .card
        62-67 rule @media (max-width: 40rem)
        69-71 key en
        72-74 key ja
    """,
    "_helpers.tpl": """
        1-4 template shop.name
        6-13 template shop.labels
    """,
    "ci.yml": """
        1-1 key on
        2-19 key jobs
    """,
    "deploy.yml.j2": """
        1-3 key name
        4-7 key scale
        8-12 key servers
        13-14 key logging
    """,
    "legacy-list.vue": """
        1-5 template legacy-list
        7-8 imports legacy-list
        10-15 component legacy-list
        16-18 method data
        19-31 component legacy-list
        32-42 component legacy-list
    """,
    "page.html": """
        1-1 template
        2-2 template
        4-9 macro card
        11-11 block title
        13-13 block content
        14-18 block content
        19-22 rule .card
        23-24 variable users
        25-28 function find
        29-31 block content
        32-32 block content
    """,
    "playbook.yml": """
        1-10 key [Web servers]
    """,
    "show.blade.php": """
        1-3 block title
        5-14 block content
        16-16 template
        17-21 function ready
        22-22 template
    """,
    "tables.sql.jinja": """
        1-8 table {{ schema }}.orders
        9-14 table order_items
    """,
    "users.hbs": """
        1-4 template row
        6-12 template
    """,
    "users.html.erb": """
        1-4 block title
        6-10 function badge
        12-15 template
        16-25 template
        27-32 function remember
    """,
}


def chunks_of(path: str, text: str, options: ChunkOptions = ChunkOptions()) -> tuple[Chunk, ...]:  # noqa: B008 - frozen
    """The chunks, after a look at what is promised of all of them."""
    chunks = chunk(Document(path, text), options).chunks
    assert_gapless(text, chunks)
    assert all(it.start_line <= one.first_line <= it.end_line for it in chunks for one in it.definitions)
    return chunks


def definitions_of(path: str, text: str) -> dict[str, tuple[str, int]]:
    """Kind and line of each definition."""
    return {it.name: (it.kind, it.line) for part in chunks_of(path, text) for it in part.definitions}


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def line_of(text: str, part: str) -> int:
    return text.count("\n", 0, text.index(part)) + 1


def test_every_fixture_has_its_expected_chunks() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_several_languages_is_cut_at_the_symbols_of_each(name: str) -> None:
    chunks = chunks_of(name, fixture(name), ChunkOptions(max_tokens=96, min_tokens=0))
    told = [f"{it.start_line}-{it.end_line} {it.kind} {it.symbol}".strip() for it in chunks]
    assert told == [line.strip() for line in EXPECTED[name].strip().split("\n")]


@pytest.mark.parametrize(
    ("name", "symbol", "kind", "line"),
    [
        ("UserCard.vue", "UserCard", "component", "<!-- A card"),
        ("UserCard.vue", "User", "interface", "export interface User"),
        ("UserCard.vue", "save", "function", "async function save"),
        ("UserCard.vue", "size", "property", "size?: number"),
        ("UserCard.vue", "initials", "function", "const initials"),
        ("UserCard.vue", ".card", "rule", ".card {"),
        ("legacy-list.vue", "LegacyList", "component", "name: 'LegacyList'"),
        ("legacy-list.vue", "limit", "property", "limit: {"),
        ("legacy-list.vue", "visible", "method", "visible() {"),
        ("legacy-list.vue", "open", "method", "open(item) {"),
        ("legacy-list.vue", "close", "function", "close: function"),
        ("Counter.svelte", "clamp", "function", "export function clamp"),
        ("Counter.svelte", "start", "variable", "export let start"),
        ("Counter.svelte", "doubled", "variable", "$: doubled"),
        ("Counter.svelte", "increment", "function", "const increment"),
        ("users.html.erb", "title", "block", "<% content_for"),
        ("users.html.erb", "badge", "function", "<%\n  def badge"),
        ("users.html.erb", "remember", "function", "function remember"),
        ("tables.sql.jinja", "{{ schema }}.orders", "table", "CREATE TABLE {{ schema"),
        ("tables.sql.jinja", "order_items", "table", "CREATE TABLE order_items"),
        ("_helpers.tpl", "shop.name", "template", '{{- define "shop.name"'),
        ("_helpers.tpl", "shop.labels", "template", '{{- define "shop.labels"'),
        ("page.html", "card", "macro", "{% macro card"),
        ("page.html", "content", "block", "{% block content"),
        ("page.html", "find", "function", "function find"),
        ("page.html", ".wide", "rule", ".wide {"),
        ("Counter.razor", "Counter", "component", "@page"),
        ("Counter.razor", "Limit", "property", "public int Limit"),
        ("Counter.razor", "Increment", "method", "private async Task Increment"),
        ("Counter.razor", "Reset", "method", "private Task Reset"),
        ("show.blade.php", "content", "block", "@section('content')"),
        ("ci.yml", "build", "job", "build:"),
        ("ci.yml", "Run all tests", "step", "- name: Run all"),
        ("ci.yml", "retry", "function", "retry() {"),
        ("ci.yml", "publish", "job", "publish:"),
        ("playbook.yml", "Install the proxy", "task", "- name: Install"),
        ("playbook.yml", "Copy certificates", "task", "name: Copy"),
        ("users.hbs", "row", "template", "{{#*inline"),
        ("Blog.astro", "posts", "function", "async function posts"),
        ("Blog.astro", "Props.tag", "property", "tag?: string"),
        ("Blog.astro", "remember", "function", "function remember"),
    ],
)
def test_symbols_of_a_component_have_their_own_names_kinds_and_lines(
    name: str, symbol: str, kind: str, line: str
) -> None:
    text = fixture(name)
    assert definitions_of(name, text)[symbol] == (kind, line_of(text, line))


def test_the_options_of_a_component_are_no_symbols() -> None:
    names = definitions_of("legacy-list.vue", fixture("legacy-list.vue"))
    assert not {"methods", "computed", "watch", "props", "default"} & names.keys()


def test_a_component_is_named_after_its_file_or_the_folder_of_an_index() -> None:
    text = "<template><p>Hello</p></template>\n"
    assert definitions_of("src/Menu.vue", text) == {"Menu": ("component", 1)}
    assert definitions_of("src/Menu/index.vue", text) == {"Menu": ("component", 1)}


def test_the_runes_of_svelte_are_props() -> None:
    text = "<script>\n  let { title, size = 2, ...rest } = $props();\n</script>\n<h1>{title}</h1>\n"
    names = definitions_of("Title.svelte", text)
    assert {"title", "size"} <= names.keys()


def test_the_parts_of_a_component_tell_their_languages() -> None:
    chunks = chunks_of("UserCard.vue", fixture("UserCard.vue"), ChunkOptions(max_tokens=96, min_tokens=0))
    assert {it.language for it in chunks} == {"vue"}
    assert {"typescript", "css", "json", "vue"} <= {it.metadata.content_type for it in chunks}


def test_a_template_is_cut_at_elements_and_tells_the_components_it_uses() -> None:
    rows = "".join(
        f'<div class="row" id="r{n}">\n<UserCard :n="{n}" />\n<p>{"text " * 40}</p>\n</div>\n' for n in range(20)
    )
    chunks = chunks_of("List.vue", f"<template>\n<main>\n{rows}</main>\n</template>\n", ChunkOptions(max_tokens=200))
    assert len(chunks) > 5
    assert all(it.text.lstrip().startswith(("<template>", "<div", "</main>")) for it in chunks)
    assert all(it.tokens <= 260 for it in chunks)
    assert any("UserCard" in it.metadata.facts["components"] for it in chunks)


def test_blocks_of_svelte_stay_whole_where_they_fit() -> None:
    block = "{#if n > 1}\n<p title={`a > b ${n}`}>many</p>\n{:else}\n<p>one</p>\n{/if}\n"
    text = f"<main>\n{block * 40}</main>\n"
    chunks = chunks_of("Many.svelte", text, ChunkOptions(max_tokens=128))
    assert all(it.text.count("{#if") == it.text.count("{/if}") for it in chunks)


def test_a_script_that_is_being_typed_has_its_symbols() -> None:
    text = "<template><p/></template>\n<script>\nfunction load() {\n  return 1\n}\n"
    assert definitions_of("A.vue", text)["load"] == ("function", 3)


def test_blocks_of_a_template_tell_their_last_line() -> None:
    found = {it.name: it for part in chunks_of("page.html", fixture("page.html")) for it in part.definitions}
    lines = fixture("page.html").split("\n")
    assert lines[found["card"].end_line - 1] == "{% endmacro %}"
    assert lines[found["content"].end_line - 1] == "{% endblock %}"


def test_data_written_by_a_template_have_their_keys() -> None:
    chunks = chunks_of("deploy.yml.j2", fixture("deploy.yml.j2"))
    names = {name for it in chunks for name in it.defines}
    assert {"name", "scale.replicas", "servers", "logging.level"} <= names


def test_a_page_with_a_script_has_its_functions_and_its_headings() -> None:
    body = "\n".join(f"function load{n}(id) {{\n  return fetch('/items/' + id + '?{n}');\n}}\n" for n in range(60))
    text = f"<h1>Shop</h1>\n<p>Welcome.</p>\n<script type='module'>\n{body}</script>\n<h2>Cart</h2><p>Empty.</p>\n"
    chunks = chunks_of("shop.html", text)
    names = {it.name: it for part in chunks for it in part.definitions}
    assert names["load7"].kind == "function"
    assert text.split("\n")[names["load7"].line - 1].startswith("function load7")
    assert {"Shop"} <= {name for it in chunks for name in it.metadata.headings}
    assert any(it.metadata.content_type == "javascript" and it.metadata.source_type == "code" for it in chunks)


def test_a_page_of_documentation_with_a_small_script_stays_documentation() -> None:
    text = "<h1>Guide</h1><p>" + "Some words. " * 40 + "</p><script>run()</script>\n"
    assert {it.metadata.source_type for it in chunks_of("guide.html", text)} == {"documentation"}


def test_pages_of_mdx_define_what_they_export_outside_of_fences() -> None:
    fence = "```js\nexport function shown() {}\n```\n"
    code = "export function Badge({ text }) {\n  return <b>{text}</b>;\n}\n\nexport const limit = 3;\n"
    text = f"import X from 'x';\n\n# Guide\n\n{fence}\n{code}\nMore about it.\n"
    assert definitions_of("guide.mdx", text) == {"Badge": ("component", 9), "limit": ("variable", 13)}
    assert definitions_of("guide.md", text) == {}


def test_shell_functions_of_a_dockerfile_are_symbols() -> None:
    text = "FROM a AS b\nRUN set -e; \\\n  greet() { echo; }; greet\nRUN <<EOF\nbuild_all() {\n  make\n}\nEOF\n"
    assert definitions_of("Dockerfile", text) == {
        "b": ("stage", 1),
        "greet": ("function", 3),
        "build_all": ("function", 5),
    }


OBJECTIVE_CPP = """#import "A.h"
namespace app {
template <typename T> class Box {
 public:
  T value() const { return value_; }
};
}
@protocol Later;
@interface Row : NSObject
- (void)show;
@end
@implementation Row {
  std::vector<NSNumber *> _items;
}
- (void)show {
  const auto first = [_items.front() description];
  for (const auto &it : _items) { NSLog(@"%@", it); }
}
- (Row *)copy NS_RETURNS_RETAINED
{
  return [[Row alloc] initWith:std::vector<NSNumber *>()];
}
@end
"""


@pytest.mark.parametrize("path", ["row.mm", "row.h"])
def test_objective_cpp_is_read_by_the_grammars_of_both_languages(path: str) -> None:
    chunks = chunks_of(path, OBJECTIVE_CPP)
    assert {it.language for it in chunks} == {"objc"}
    found = [(it.name, it.kind, it.line) for part in chunks for it in part.definitions]
    assert found == [
        ("app", "namespace", 2),
        ("app.Box", "class", 3),
        ("app.Box.value", "method", 5),
        ("Row", "class", 9),
        ("Row.show", "method", 10),
        ("Row", "class", 12),
        ("Row.show", "method", 15),
        ("Row.copy", "method", 19),
    ]


def test_services_and_resources_are_symbols() -> None:
    compose = "services:\n  web:\n    image: a\n  db:\n    image: b\n"
    assert definitions_of("compose.yml", compose) == {"web": ("service", 2), "db": ("service", 4)}
    resource = "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n"
    assert definitions_of("service.yaml", resource) == {"shop": ("service", 4)}
    gitlab = "stages: [test]\nunit:\n  script:\n    - make\n"
    assert definitions_of(".gitlab-ci.yml", gitlab) == {"unit": ("job", 2)}


def test_other_data_have_no_such_symbols() -> None:
    assert definitions_of("values.yaml", "jobs:\n  one: 1\nname: x\n") == {}


def test_tagged_strings_define_operations_fragments_and_tables() -> None:
    script = (
        "const A = gql`\n  query AllUsers {\n    users { ...UserName }\n  }\n  fragment UserName on User { n }\n`\n"
    )
    names = definitions_of("queries.ts", script)
    assert names["AllUsers"] == ("query", 2)
    assert names["UserName"] == ("fragment", 5)
    ruby = (
        "class A\n  def up\n    execute <<~SQL\n      CREATE TABLE IF NOT EXISTS orders (id int)\n    SQL\n  end\nend\n"
    )
    assert definitions_of("setup.rb", ruby)["orders"] == ("table", 4)


def test_a_string_without_a_tag_defines_nothing() -> None:
    assert "orders" not in definitions_of("a.js", "const a = `create table orders (id int)`\n")


def test_code_cells_of_a_notebook_have_their_symbols_in_spite_of_magics() -> None:
    cells = [
        "%load_ext autoreload\n!pip install x\nfiles = !ls\n\ndef load(path):\n    return path\n",
        "%%time\nclass Model:\n    def fit(self):\n        return 1\n",
        "%%bash\ndeploy() {\n  echo\n}\n",
        "%%javascript\nfunction draw() {\n  return 2\n}\n",
    ]
    written = [
        {"cell_type": "code", "source": it.splitlines(keepends=True), "outputs": [], "metadata": {}} for it in cells
    ]
    metadata = {"language_info": {"name": "python"}}
    text = json.dumps({"cells": written, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    names = definitions_of("a.ipynb", text)
    assert {"load", "Model", "Model.fit", "deploy", "draw"} == names.keys()
    assert all(name.rpartition(".")[2] in text.split("\n")[line - 1] for name, (_, line) in names.items())


WORDS = st.sampled_from(
    [
        *(
            "<script>",
            "<script lang='ts'>",
            "</script>",
            "<template>",
            "</template>",
            "<style>",
            "</style>",
            "---",
            "\n",
        ),
        *(
            "function f() {}",
            "const a = 1",
            "}",
            "{",
            "export default {",
            "methods: { m() {} }",
            "<div id='x'>",
            "</div>",
        ),
        *(
            "{#if a < b}",
            "{/if}",
            "{{ a }}",
            "<A :b='1'/>",
            "/* 日本 */",
            "é",
            " ",
            "a { color: red }",
            "<!--",
            "-->",
            '"',
            "`",
        ),
        *(
            "{% block a %}",
            "{% endblock %}",
            "{% macro b(c) %}",
            "{{ d }}",
            "<% if x %>",
            "<% end %>",
            "<%= e %>",
            "<%",
            "{%",
        ),
        *(
            "@section('f')",
            "@endsection",
            "@code {",
            "@functions{ int G() { } }",
            '{{define "h"}}',
            "{{end}}",
            "{#",
            "#}",
            "{{",
        ),
        *(
            "function f() { return 'a long enough text for a script of its own, of eighty characters'; }",
            "key: ",
            "- ",
            "jobs:\n  a:\n    steps:\n",
            "      - name: b\n",
            "run: |\n",
        ),
        *("defineProps<{ a: string }>()", "let { q } = $props()", "$: z = 1", "\r\n", "\t"),
    ]
)


PATHS = [
    *(
        "A.vue",
        "A.svelte",
        "A.astro",
        "a.html",
        "a.html.erb",
        "a.yml.j2",
        "a.sql.jinja",
        "a.tpl",
        "A.razor",
        "a.blade.php",
    ),
    *("a.js.ejs", "a.hbs", "a.jsp", "a.pug", "a.json.j2", "a.md.j2", "Dockerfile.j2", "a.heex", "a.liquid"),
]


@given(st.lists(WORDS, max_size=40).map("".join), st.sampled_from(PATHS))
def test_any_mixture_is_cut_without_gaps_at_true_places(text: str, path: str) -> None:
    chunks_of(path, text, ChunkOptions(max_tokens=64, min_tokens=16))


@pytest.mark.timeout(60)  # Linear work takes a second; to look for the end of each anew took minutes.
def test_scripts_that_nothing_divides_are_looked_at_once() -> None:
    text = "<script " * 60_000 + "></script>"
    report = chunk(Document("a.html", text))
    assert "".join("".join(piece.text for piece in report.chunks).split()) == "".join(text.split())
