"""Results are named after the definition they were found for, with its line; places and paths come first."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Confidence, Hit, Query

pytestmark = pytest.mark.processes

CLIENT = '''"""A client."""

from errors import TooManyRetriesError


@register(
    "retry",
)
def limit_retries(request):
    """Stop after five attempts."""
    if request.attempts > 5:
        raise TooManyRetriesError


def close_connections(pool):
    """Give all sockets back."""
    for socket in pool:
        socket.close()


class Client:
    def get(self, url):
        return self.send("GET", url)

    def post(self, url, body):
        return self.send("POST", url, body)
'''
LONG = "def render_page(rows):\n" + "".join(f"    draw_cell(rows[{n}], {n})\n" for n in range(400)) + "    finish()\n"
README = "# Handbook\n\nAll of it.\n\n## Screenshots\n\nSee below.\n\n## [2.0](https://a.example/2) (May)\n\nNew.\n"
RST = "The key questions\n=================\n\nCatalogue\n---------\n\nFew.\n\nHow is tax paid?\n~~~~~~~~~~~~~~~~\n"
BUILD = """[versions]
# Of all.
okhttp-android = "4.1"
room = "2.6"

[plugins]
hilt-gradle = { id = "x", version = "room" }
"""
CHART = "server:\n  name: x\n  image:\n    pullPolicy: Always\n  tolerationList: []\nextraScrapes: []\n"
PACKAGE = '{\n  "name": "x",\n  "scripts": {"build": "y", "lint-styles": "z"},\n  "browserslist": ["ie 8"]\n}\n'
STRINGS = """<resources>
    <string name="app_title">A</string>
    <string name="completed_tasks_cleared">Done</string>
</resources>
"""
MANIFESTS = (
    "---\n".join(
        f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n  labels: {{app: checkout-web}}\n"
        for kind, name in (
            ("Service", "checkout-web"),
            ("ServiceAccount", "checkout-web"),
            ("Deployment", "checkout-web"),
            ("CustomResourceDefinition", "alertmanagerconfigurations.monitoring.example.org"),
            ("PrometheusRule", "checkout-web"),
            ("Role", "checkout-web"),
            ("StatefulSet", "checkout-store"),
        )
    )
    + "spec:\n"
    + "".join(f"  option{n}: {{first: a, second: {n}, third: [b, c]}}\n" for n in range(200))
)
HELPERS = "".join(
    f'{{{{- define "mail-relay.{name}" -}}}}\n{{{{ .Values.{name} | default "x" }}}}\n{{{{- end -}}}}\n\n'
    for name in ("chart", "name", "labels")
)
CONFIG_MAP = """kind: ConfigMap
metadata:
  name: {{ include "mail-relay.name" . }}
  labels: {{ include "mail-relay.name" . }}
data:
  name: mail-relay.name
"""
TRACE = """2026-01-01T00:00:00Z worker-3 ERROR Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/requests/client.py", line 3, in get
  File "/srv/app/shop/pages.py", line 300, in render_page
  File "/srv/app/lib/client.py", line 22, in get
    return self.send("GET", url)
ConnectionError: no route to host
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("matched")
    tree = folder / "tree"
    for path, text in {
        "lib/client.py": CLIENT,
        "shop/pages.py": LONG,
        "shop/client.py": "def other():\n    return 1\n",
        "native/pool.h": "/* Open a pool of connections. */\nint pool_open(int size);\n",
        "native/pool.c": '#include "pool.h"\n\nint pool_open(int size)\n{\n  return size * pool_unit;\n}\n',
        "native/mode.go": "package native\n\ntype Engine struct {\n\tMaxMultipartMemory int64\n}\n\n"
        "type Modes interface {\n\tSwitched() bool\n}\n",
        "native/modes.go": "package native\n\nfunc (m *modes) Switched() bool {\n\treturn m.switched != none\n}\n",
        "ui/Axis+Flip.swift": "extension Axis {\n  func flipped() -> Axis { self }\n}\n",
        "net/Buffer.cs": "namespace Net.Io;\n\n/// Bytes.\npublic class Buffer\n{\n    public int Size;\n"
        + "".join(f"    public int Part{n}() {{ return data[{n}] + offset[{n}]; }}\n" for n in range(60))
        + "    public Buffer(int size)\n    {\n        Size = size;\n    }\n}\n",
        "ui/Axis.swift": "enum Axis {\n  case across, down\n}\n",
        "chart/templates/_helpers.tpl": HELPERS,
        "chart/templates/map.yaml": CONFIG_MAP,
        "cluster/all.yaml": MANIFESTS,
        "role/checkout-web": "Who may do what.\n",
        "docs/readme.md": README,
        "docs/key.rst": RST,
        "conf/libs.versions.toml": BUILD,
        "conf/values.yaml": CHART,
        "conf/package.json": PACKAGE,
        "conf/strings.xml": STRINGS,
        "docs/a.md": "# Client\n\nThe client of `get`.\n",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    with Index.open(tree, IndexOptions(home=folder / "home", workers=1)) as opened:
        opened.update()
        yield opened


def first(index: Index, question: str) -> Hit:
    return index.search(Query(question)).hits[0]


@pytest.mark.parametrize(
    ("question", "path", "symbol", "line"),
    [
        ("pool_open", "native/pool.c", "pool_open", 3),
        ("MaxMultipartMemory", "native/mode.go", "Engine.MaxMultipartMemory", 4),
        ("native.Engine.MaxMultipartMemory", "native/mode.go", "Engine.MaxMultipartMemory", 4),
        ("Switched", "native/modes.go", "modes.Switched", 3),
        ("Modes.Switched", "native/mode.go", "Modes.Switched", 8),
        ("Axis.down", "ui/Axis.swift", "Axis.down", 2),
        ("Axis", "ui/Axis.swift", "Axis", 1),
        ("Buffer", "net/Buffer.cs", "Buffer", 4),
    ],
)
def test_a_definition_comes_before_declarations_and_additions(
    index: Index, question: str, path: str, symbol: str, line: int
) -> None:
    hit = first(index, question)
    assert (hit.path, hit.symbol, hit.line) == (path, symbol, line)


@pytest.mark.parametrize(
    ("question", "symbol", "line"),
    [
        ("limit_retries", "limit_retries", 9),
        ("limitRetries", "limit_retries", 9),
        ("close_connections()", "close_connections", 15),
        ("Client.post", "Client.post", 25),
        ("shop.lib.client.Client.post", "Client.post", 25),
        ("(*Client).get", "Client.get", 22),
        ("def get(self, url):", "Client.get", 22),
    ],
)
def test_a_symbol_asked_for_is_the_one_named_with_the_line_of_its_name(
    index: Index, question: str, symbol: str, line: int
) -> None:
    found = first(index, question)
    assert (found.path, found.symbol, found.line) == ("lib/client.py", symbol, line)


@pytest.mark.parametrize(
    ("question", "symbol", "line"),
    [
        ("Screenshots", "Handbook > Screenshots", 5),
        ("2.0 (May)", "Handbook > 2.0 (May)", 9),
        ("How is tax paid?", "The key questions > Catalogue > How is tax paid?", 9),
        ("okhttp-android", "versions.okhttp-android", 3),
        ("versions.okhttp-android", "versions.okhttp-android", 3),
        ("hilt-gradle", "plugins.hilt-gradle", 7),
        ("tolerationList", "server.tolerationList", 5),
        ("pullPolicy", "server.image.pullPolicy", 4),
        ("browserslist", "browserslist", 4),
        ("lint-styles", "scripts.lint-styles", 3),
        ("completed_tasks_cleared", "resources > string completed_tasks_cleared", 3),
    ],
)
def test_a_heading_or_key_was_named_after_another_one_of_its_chunk(
    index: Index, question: str, symbol: str, line: int
) -> None:
    found = first(index, question)
    assert (found.symbol, found.line) == (symbol, line)


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("limit_ret", "limit_retries"),
        ("MaxMultip", "Engine.MaxMultipartMemory"),
        ("liRet", "limit_retries"),
        ("MMM", "Engine.MaxMultipartMemory"),
        ("limit_retreis", "limit_retries"),
        ("closeConections", "close_connections"),
        ("Client.pos", "Client.post"),
        ("Cleint.post", "Client.post"),
        ("lib.close_con", "close_connections"),
    ],
)
def test_a_part_of_a_name_or_a_misspelled_one_finds_it_and_is_told(index: Index, question: str, symbol: str) -> None:
    answer = index.search(Query(question))
    assert (answer.hits[0].symbol, answer.confidence) == (symbol, Confidence.LOW)
    assert answer.degraded.startswith("no symbol is called ")


@pytest.mark.parametrize("question", ["Server.pos", "qqqzzz", "retries", "stop after five attempts"])
def test_no_name_is_guessed_for_other_types_for_nothing_alike_and_for_words_of_the_texts(
    index: Index, question: str
) -> None:
    assert "no symbol" not in index.search(Query(question)).degraded


def test_a_name_that_was_added_is_found_by_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    file = tmp_path / "tree" / "a.py"
    with Index.open(tmp_path / "tree", IndexOptions(home=tmp_path / "home", workers=1)) as index:
        for name in ("collect_garbage", "collect_results"):
            file.write_text(f"def {name}():\n    return 1\n")
            index.update()
            assert first(index, "collect_").symbol == name


def test_a_question_names_the_member_whose_words_it_has(index: Index) -> None:
    assert first(index, "where are sockets given back to the pool").symbol == "close_connections"
    assert first(index, "stop after too many attempts").symbol == "limit_retries"


def test_a_signature_ends_where_the_body_begins(index: Index) -> None:
    assert first(index, "Client.post").signature == "def post(self, url, body)"
    assert first(index, "limit_retries").signature == "def limit_retries(request)"


def test_a_part_of_a_long_symbol_has_the_line_of_its_declaration(index: Index) -> None:
    parts = [hit for hit in index.search(Query("draw_cell rows", limit=20)).hits if hit.path == "shop/pages.py"]
    assert len(parts) > 1
    assert {(hit.symbol, hit.line) for hit in parts} == {("render_page", 1)}


def test_a_name_with_hyphens_was_answered_by_what_uses_it(index: Index) -> None:
    found = first(index, "mail-relay.name")
    assert (found.path, found.symbol, found.line) == ("chart/templates/_helpers.tpl", "mail-relay.name", 5)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Deployment checkout-web", 16),
        ("deployment/checkout-web", 16),
        ("deployments.apps/checkout-web", 16),
        ("kubectl describe deploy checkout-web -n shop", 16),
        ("svc/checkout-web", 4),
        ("CustomResourceDefinition alertmanagerconfigurations.monitoring.example.org", 22),
        ("PrometheusRule checkout-web", 28),
        ("sts/checkout-store", 40),
    ],
)
def test_an_object_of_a_cluster_was_answered_by_any_text_with_its_name(index: Index, question: str, line: int) -> None:
    found = first(index, question)
    assert (found.path, found.line) == ("cluster/all.yaml", line)


def test_a_file_named_like_an_object_of_a_cluster_comes_first(index: Index) -> None:
    assert first(index, "role/checkout-web").path == "role/checkout-web"
    assert first(index, "Role checkout-web").line == 34


def test_a_heading_has_a_line_and_no_signature(index: Index) -> None:
    [heading] = [hit for hit in index.search(Query("Client")).hits if hit.path == "docs/a.md"]
    assert (heading.symbol, heading.line, heading.signature) == ("Client", 1, "")


@pytest.mark.parametrize("question", ["lib/client.py:17", "./lib/client.py:16-17", "see lib/client.py#L17 please"])
def test_a_place_answers_with_that_place(index: Index, question: str) -> None:
    found = first(index, question)
    assert (found.path, found.symbol) == ("lib/client.py", "close_connections")
    assert found.start_line <= 17 <= found.end_line


def test_a_trace_answers_with_the_frames_of_the_project_innermost_first(index: Index) -> None:
    found = index.search(Query(TRACE)).hits
    assert [(hit.path, hit.symbol) for hit in found[:2]] == [
        ("lib/client.py", "Client.get"),
        ("shop/pages.py", "render_page"),
    ]
    assert found[1].start_line <= 300 <= found[1].end_line
    frames, others = [hit.score for hit in found[:2]], [hit.score for hit in found[2:]]
    assert frames == sorted(frames, reverse=True)
    assert frames[-1] > max(others)


def test_a_frame_of_a_package_is_no_file_of_the_project(index: Index) -> None:
    found = index.search(Query('File "/x/site-packages/requests/client.py", line 1')).hits
    assert found
    assert not any("exact" in hit.parts for hit in found)


@pytest.mark.parametrize("question", ["lib/client.py", "shop/pages.py", "`pages.py`", "/srv/app/shop/client.py"])
def test_a_path_answers_with_that_file(index: Index, question: str) -> None:
    assert first(index, question).path.endswith(question.strip("`").removeprefix("/srv/app/"))


def test_filters_hold_for_places_too(index: Index) -> None:
    found = index.search(Query(TRACE, include=("shop/**",))).hits
    assert {hit.path for hit in found} <= {"shop/pages.py", "shop/client.py"}
    assert found[0].path == "shop/pages.py"


def test_parts_of_the_score_of_a_place_add_up(index: Index) -> None:
    hits = index.search(Query(TRACE)).hits
    assert any("exact" in hit.parts for hit in hits)
    for hit in hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score)


def test_a_definition_in_the_sources_comes_before_one_of_the_same_name_in_a_test(tmp_path: Path) -> None:
    root = tmp_path / "scheduling"
    (root / "lib").mkdir(parents=True)
    (root / "test").mkdir()
    body = "\n".join(f"        self.step_{n} = {n}" for n in range(30))
    (root / "lib" / "base.py").write_text(
        f"class Stream:\n    def run(self):\n{body}\n\n    def defer(self):\n        pass\n"
    )
    (root / "test" / "defer_test.py").write_text(
        "class Scheduler:\n    def defer(self, defer):\n        self.defer = defer  # defer, defer\n"
    )
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as opened:
        opened.update()
        hits = opened.search(Query("defer")).hits
    assert [(hit.path, hit.symbol) for hit in hits[:2]] == [
        ("lib/base.py", "Stream.defer"),
        ("test/defer_test.py", "Scheduler.defer"),
    ]
