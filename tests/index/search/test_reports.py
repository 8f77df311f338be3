"""Texts that tools print: lists of files, coverage, diffs, blame, requests, profiles, reports of tests."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Confidence, Hit, Query

pytestmark = pytest.mark.processes

FUNCTIONS = "".join(
    f"def step_{n}(order):\n    order.steps.append({n})\n    return order.at({n})\n\n\n" for n in range(60)
)
FILES = {
    "app/steps.py": FUNCTIONS,
    "app/copies.py": FUNCTIONS.replace("step_", "copy_"),
    "app/status.py": "def git_status(changes):\n    return [it.modified for it in changes]\n",
    "app/branch.py": "def current_branch():\n    return 'On branch main'\n",
    "src/shop/Order.java": "package shop;\n\nclass Order {\n  int total() {\n    return 1;\n  }\n}\n",
    "src/shop/OrderTest.java": "package shop;\n\nclass OrderTest {\n  @Test\n  void sumsTotals() {\n    check();\n"
    "  }\n\n  void check() {\n  }\n}\n",
    "web/routes.js": 'router.get("/orders/:id/lines", lines);\nrouter.delete("/orders/:id", remove);\n',
    "web/app.test.ts": 'describe("Cart", () => {\n  it("adds an item", () => {\n    expect(add()).toBe(1);\n'
    "  });\n});\n",
    "web/cart.ts": "export function addsAnItem(cart: Cart) {\n  return cart.item;\n}\n",
}


DIFF = """--- a/app/steps.py
+++ b/app/steps.py
@@ -8,4 +8,4 @@
 def step_20(order):
-    order.steps.add(20)
+    order.steps.append(20)
     return order.at(20)
"""
"""Of another version: its lines tell more than its numbers."""
SENTRY = """{"exception": {"values": [{"stacktrace": {"frames": [
  {"filename": "app/status.py", "lineno": 1, "in_app": true},
  {"filename": "app/steps.py", "lineno": 102, "in_app": true},
  {"filename": "lib/http.py", "lineno": 9, "in_app": false}
]}}]}}"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("reports"), FILES, "shop") as opened:
        yield opened


def first(index: Index, text: str) -> Hit:
    return index.search(Query(text)).hits[0]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (
            "On branch main\nChanges not staged for commit:\n\tmodified:   app/status.py\n\tmodified:   web/cart.ts\n",
            ["app/status.py", "web/cart.ts"],
        ),
        (" M web/cart.ts\n?? app/status.py", ["web/cart.ts", "app/status.py"]),
        ("R100\told/cart.ts\tweb/cart.ts", ["web/cart.ts"]),
        (" web/cart.ts | 12 ++--\n 1 file changed", ["web/cart.ts"]),
        ("3\t1\tapp/status.py", ["app/status.py"]),
        ("Auto-merging web/cart.ts\nCONFLICT (content): Merge conflict in web/cart.ts", ["web/cart.ts"]),
        ("commit 1a2b3c4d5e\nAuthor: A <a@b.c>\n\n    Count the steps\n\nweb/cart.ts\n", ["web/cart.ts"]),
    ],
)
def test_a_list_of_files_is_answered_by_these(index: Index, text: str, paths: list[str]) -> None:
    answer = index.search(Query(text))
    assert [*dict.fromkeys(hit.path for hit in answer.hits)][: len(paths)] == paths
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("Name  Stmts  Miss  Cover  Missing\napp/steps.py   300   3   97%   102-103, 140", "app/steps.py", 102),
        (" app/steps.py  |   80.0 |  70.1 | 66.6 | 80.0 | 102-104,140 ", "app/steps.py", 102),
        ("|| app/steps.py: 102-104, 140", "app/steps.py", 102),
        (
            '<class filename="app/steps.py"><line number="3" hits="2"/><line number="102" hits="0"/></class>',
            "app/steps.py",
            102,
        ),
        (
            '<package name="shop"><sourcefile name="Order.java"><line nr="5" mi="3" ci="0"/></sourcefile></package>',
            "src/shop/Order.java",
            5,
        ),
        (DIFF, "app/steps.py", 102),
        (
            SENTRY,
            "app/steps.py",
            102,
        ),
        (
            f"{'1a2b3c4d' * 5} 90 102 1\nauthor A\nsummary Count\nfilename app/steps.py\n\t    order.steps.append(20)",
            "app/steps.py",
            102,
        ),
        ("GET /orders/12/lines 404 3.2 ms - 22", "web/routes.js", 1),
        ('[GIN] 2026/11/27 - 10:11:12 | 500 | 1.2ms | 10.0.0.1 | GET     "/orders/12/lines"', "web/routes.js", 1),
        ('{"method":"GET","path":"/orders/12/lines","status":500}', "web/routes.js", 1),
        ("GET /orders/12/lines HTTP/1.1\nHost: example.com\nAccept: */*", "web/routes.js", 1),
        ("curl -X GET 'http://localhost:80/orders/12/lines?page=2' -H 'A: b'", "web/routes.js", 1),
        (" FAIL  web/app.test.ts\n  \u25cf Cart \u203a adds an item\n\n    expect(received)", "web/app.test.ts", None),
    ],
)
def test_a_report_is_answered_by_the_line_it_means(index: Index, text: str, path: str, line: int | None) -> None:
    hit = first(index, text)
    assert hit.path == path
    assert line is None or hit.start_line <= line <= hit.end_line
    assert line is None or hit.asked_line in {None, line} or hit.start_line == hit.asked_line


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("    12.34%  shop  shop.so  [.] step_20", "step_20"),
        ("main;run;step_20 1234", "step_20"),
        ("      flat  flat%   sum%  cum   cum%\n     1.20s 12.50% 12.50%  3.40s 35.42%  step_20", "step_20"),
        ("[ERROR] shop.OrderTest.sumsTotals -- Time elapsed: 0.012 s <<< FAILURE!", "OrderTest.sumsTotals"),
        (
            '<testcase name="sumsTotals" classname="shop.OrderTest" time="0.01"><failure/></testcase>',
            "OrderTest.sumsTotals",
        ),
        ("  Failed Shop.OrderTest.sumsTotals [12 ms]", "OrderTest.sumsTotals"),
    ],
)
def test_a_function_in_a_profile_or_a_report_of_tests_is_found(index: Index, text: str, symbol: str) -> None:
    assert first(index, text).symbol == symbol


@pytest.mark.parametrize(
    "text",
    [
        "1a2b3c4d (Ann Lee 2026-01-19 10:11:12 +0100   42)     order.steps.append(20)",
        "@@ -100,3 +100,3 @@ def step_20(order):\n-    order.steps.add(20)\n+    order.steps.append(20)\n",
    ],
)
def test_marks_of_blame_and_diff_hide_no_copied_line(index: Index, text: str) -> None:
    assert first(index, text).path in {"app/steps.py", "app/copies.py"}


ELSEWHERE = (
    "+  return the modified cart item of all changes\n-  order the lines by status\n   cart.item = changes",
    "1a2b3c4d (Ann 2026-01-02 10:11:12 +0100 7) cart.item = modified changes of the cart, item by item",
)


@pytest.mark.parametrize("text", ELSEWHERE)
def test_lines_of_a_diff_or_blame_of_another_project_are_never_sure(index: Index, text: str) -> None:
    """Once their words told: each of them is somewhere."""
    assert index.search(Query(text)).confidence is not Confidence.HIGH


def test_lines_of_a_diff_that_the_project_has_are_sure_without_its_path(index: Index) -> None:
    answer = index.search(
        Query("@@ -1,2 +1,2 @@\n def git_status(changes):\n+    return [it.modified for it in changes]\n")
    )
    assert answer.hits[0].path == "app/status.py"
    assert answer.confidence is Confidence.HIGH
