"""Pasted texts: traces, messages, places, paths and issues are answered by what they name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Confidence, Hit, Query
from cqm.index.ranking.question import read_question
from cqm.index.text.exact_words import format_fit

pytestmark = pytest.mark.processes

PYTHON = '''"""{about}."""


def {first}(order):
    """Check the {about} of an order."""
    total = sum(part.price for part in order.parts)
    if total < 0:
        raise ValueError("the total is below zero")
    return total


def {second}(order):
    """Send the {about} away."""
    order.sent = True
    order.history.append("{second}")
    return order.history
'''
JAVA = """package com.example.{package};

public class Client {{
    public int {name}(int size) {{
        int total = size * 2;
        return total + 1;
    }}
}}
"""
KOTLIN = """package com.example.time{package}

fun {name}(size: Int): Int {{
    val total = size * 2
    return total + 1
}}
"""
TYPES = (
    """/** Plays a game. */
export function play(): string {
  return "play";
}

export function %s(count: number): number {
  return count * 2;
}
""".replace("{", "{{").replace("}", "}}")
    % "{name}"
)
LONG = "def {name}(stock):\n" + "".join(f"    stock.count({n}, 'a kind of thing')\n" for n in range(60))
FILES = {
    "shop/stock.py": LONG.format(name="count_stock") + "\n\n" + LONG.format(name="refill_stock"),
    "shop/orders.py": PYTHON.format(about="basket", first="check_basket", second="send_basket"),
    "shop/client.py": PYTHON.format(about="letter", first="check_letter", second="send_letter"),
    "main.py": PYTHON.format(about="start", first="begin", second="finish"),
    "run.py": PYTHON.format(about="root", first="run_root", second="end_root"),
    "tools/run.py": PYTHON.format(about="tool", first="run_tool", second="end_tool"),
    "old/orders.py": PYTHON.format(about="basket", first="check_basket", second="send_basket"),
    "docs/my notes.md": "# Notes\n\nA remark on orders and letters.\n",
    "src/main/java/com/example/web/Client.java": JAVA.format(package="web", name="send"),
    "src/main/java/com/example/mail/Client.java": JAVA.format(package="mail", name="post"),
    # The root package has no folder.
    "core/common/src/Zone.kt": KOTLIN.format(package="", name="offset"),
    "core/jvm/src/Zone.kt": KOTLIN.format(package="", name="systemOffset"),
    "core/jvm/src/internal/Rules.kt": KOTLIN.format(package=".internal", name="from"),
    "packages/card/src/index.ts": TYPES.format(name="deal"),
    "packages/dice/src/index.ts": TYPES.format(name="roll"),
    "lib/Reader.cs": "namespace Shop\n{\n    public class Reader\n    {\n        public int ReadAll(byte[] data)\n"
    "        {\n            return data.Length;\n        }\n    }\n}\n",
    "src/errors.ts": "/** Refuses what has no owner. */\nexport function refuse(name: string): never {\n"
    '  throw new Error("E4711: the parcel has no owner " + name);\n}\n',
    "src/weights.ts": "/** Weighs. */\nexport function weigh(name: string, size: number): void {\n"
    "  if (size > 9) throw new Error(`Package ${name} is not heavy enough for ${size} stamps`);\n}\n",
    "src/stamps.ts": "/** A package is heavy enough, or not heavy enough for its stamps. */\n"
    "export const stamps = (name: string) => name.length > 4;\n",
    "src/parcels.ts": "/** Finds the owner of a parcel, which an error may need. */\n"
    "export function owner(parcel: string): string {\n  return parcel.split(':')[0];\n}\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("pasted"), FILES, "post") as opened:
        yield opened


def found(index: Index, text: str) -> list[Hit]:
    return list(index.search(Query(text)).hits)


def first(index: Index, text: str) -> tuple[str, str]:
    hit = found(index, text)[0]
    return hit.path, hit.symbol


ORDERS, CLIENT = ("shop/orders.py", "check_basket"), ("shop/client.py", "send_letter")
CAUSED = "The above exception was the direct cause of the following exception:"
CALL = '  File "{}", line {}, in {}\n    pass\n'
TRACEBACK = "Traceback (most recent call last):\n"
OUTER = TRACEBACK + CALL.format("/app/shop/client.py", 15, "send_letter")
INNER = TRACEBACK + CALL.format("/app/shop/orders.py", 8, "check_basket")


@pytest.mark.parametrize(
    ("text", "wanted"),
    {
        "a library has a file of the same name": (
            TRACEBACK
            + CALL.format("/app/shop/orders.py", 8, "check_basket")
            + CALL.format("/usr/lib/python3.11/site-packages/http/client.py", 8, "request"),
            ORDERS,
        ),
        "the language has a file of the same name": (
            TRACEBACK + CALL.format("/app/shop/orders.py", 8, "f") + CALL.format("/usr/lib/python3.11/main.py", 8, "f"),
            ORDERS,
        ),
        "a file of the root in a container": (
            TRACEBACK + CALL.format("/app/shop/orders.py", 8, "f") + CALL.format("/app/main.py", 8, "begin"),
            ("main.py", "begin"),
        ),
        "a service in a container of its own, whose folder is none of the project": (
            "Error: x\n    at refuse (/usr/app/errors.ts:3:9)",
            ("src/errors.ts", "refuse"),
        ),
        "a place in such a container": ("/usr/app/errors.ts:3:9", ("src/errors.ts", "refuse")),
        "the project is installed as a package": (
            TRACEBACK + CALL.format("/venv/lib/python3.12/site-packages/shop/orders.py", 8, "check_basket"),
            ORDERS,
        ),
        "the direct cause is printed first": (
            f"{INNER}KeyError\n\n{CAUSED}\n\n{OUTER}IOError",
            ORDERS,
        ),
        "of an error in handling the last counts": (
            f"{OUTER}KeyError\n\nDuring handling of the above exception, another exception occurred:\n\n{INNER}IOError",
            ORDERS,
        ),
        "a cause of Java is printed last": (
            ("java.lang.Error: a\n\tat com.example.web.Client.send(Client.java:5)\n"
            "Caused by: java.lang.Error: b\n\tat com.example.mail.Client.post(Client.java:5)\n\t... 12 more"),
            ("src/main/java/com/example/mail/Client.java", "Client.post"),
        ),
        "what was suppressed is no cause": (
            ("java.lang.Error: a\n\tat com.example.web.Client.send(Client.java:5)\n"
            "\tSuppressed: java.lang.Error: b\n\t\tat com.example.mail.Client.post(Client.java:5)\n"
            "\tCaused by: java.lang.Error: c\n\t\tat com.example.mail.Client.post(Client.java:6)\n"),
            ("src/main/java/com/example/web/Client.java", "Client.send"),
        ),
        "a file without a folder for its root package": (
            ("java.lang.Error: a\n\tat com.example.time.internal.RulesKt.from(Rules.kt:5)\n"
            "\tat com.example.time.ZoneKt.offset(Zone.kt:5)"),
            ("core/jvm/src/internal/Rules.kt", "from"),
        ),
        "of several source sets the one with the function": (
            "java.lang.Error: a\n\tat com.example.time.ZoneKt$systemOffset$1.invoke(Zone.kt:5)",
            ("core/jvm/src/Zone.kt", "systemOffset"),
        ),
        "a library has a file of the same name and other functions": (
            ("java.lang.Error: a\n\tat org.other.Rules.apply(Rules.kt:5)\n"
            "\tat com.example.time.ZoneKt.offset(Zone.kt:5)"),
            ("core/common/src/Zone.kt", "offset"),
        ),
        "only the name of the file, with its function": (
            "==1== Invalid read\n==1==    at 0x1: free (run.py:2)\n==1==    by 0x2: end_tool (run.py:15)",
            ("tools/run.py", "end_tool"),
        ),
        "a release build names no lines": (
            "System.Exception: x\n   at System.String.Concat(String a)\n   at Shop.Reader.ReadAll(Byte[] data)",
            ("lib/Reader.cs", "Shop.Reader.ReadAll"),
        ),
        "quoted, with colours and carriage returns": (
            "".join(f"> \x1b[31m{line}\x1b[0m\r\n" for line in INNER.splitlines()),
            ORDERS,
        ),
        "escaped in a structured log": (
            '{"level": "error", "exc_info": "' + INNER.replace('"', '\\"').replace("\n", "\\n") + 'KeyError"}',
            ORDERS,
        ),
        "code in a structured log that looks like a filter": (
            '{"exc_info": "'
            + INNER.replace("pass", "if name in path:").replace('"', '\\"').replace("\n", "\\n")
            + 'KeyError"}',
            ORDERS,
        ),
        "a function that was elsewhere in its chunk in another version": (
            TRACEBACK + CALL.format("/app/shop/orders.py", 8, "send_basket"),
            ("shop/orders.py", "send_basket"),
        ),
        "a function that was elsewhere in another version": (
            TRACEBACK + CALL.format("/app/shop/stock.py", 8, "refill_stock"),
            ("shop/stock.py", "refill_stock"),
        ),
        "another line of the log names a place": (f"2024-03-01 [client.py:15] failed\n{INNER}KeyError", ORDERS),
    }.values(),
)  # fmt: skip
def test_the_innermost_call_of_the_project_comes_first(index: Index, text: str, wanted: tuple[str, str]) -> None:
    assert first(index, text) == wanted


def test_the_innermost_calls_of_both_exceptions_come_before_all_other_calls(index: Index) -> None:
    deep = TRACEBACK + CALL.format("/app/main.py", 15, "finish") + CALL.format("/app/shop/orders.py", 8, "check_basket")
    text = f"{deep}KeyError\n\n{CAUSED}\n\n{OUTER}IOError"
    assert [hit.symbol for hit in found(index, text)[:3]] == ["check_basket", "send_letter", "finish"]


@pytest.mark.parametrize(
    "text",
    [
        "In file included from shop/client.py:2,\n                 from main.py:1:\nshop/orders.py:8:5: error: x",
        "eslint\n\n/app/shop/orders.py\n  8:5  error  x is not defined  no-undef\n",
        "https://bitbucket.org/o/post/src/main/shop/orders.py#lines-8:9",
        "https://dev.azure.com/o/p/_git/post?path=/shop/orders.py&version=GBmain&line=8&lineEnd=9",
        "line 8 of shop/orders.py",
        "shop/orders.py::check_basket",
    ],
)
def test_a_place_in_any_notation_is_answered_by_it(index: Index, text: str) -> None:
    assert first(index, text) == ORDERS


def test_a_test_by_its_name_is_named_and_told_with_its_line(index: Index) -> None:
    hit = found(index, "FAILED shop/orders.py::send_basket[a-b] - ValueError: x")[0]
    assert (hit.path, hit.symbol, hit.line) == ("shop/orders.py", "send_basket", 12)


@pytest.mark.parametrize(
    "text",
    [
        "@games/dice:build: src/index.ts(2,5): error TS2345: Argument of type 'play'",
        "packages/dice build: src/index.ts(2,5): error TS2345\npackages/dice build: Failed",
        "> @games/dice@1.0.0 build\n> tsc\n\nsrc/index.ts(2,5): error TS2345\nnpm ERR! workspace @games/dice@1.0.0",
        "TypeError: x\n    at roll (/app/node_modules/@games/dice/dist/index.js:99:5)",
    ],
)
def test_a_path_within_a_package_is_of_the_package_that_the_text_names(index: Index, text: str) -> None:
    assert first(index, text)[0] == "packages/dice/src/index.ts"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("run.py", "run.py"),
        ("tools/run.py", "tools/run.py"),
        ("docs/my notes.md", "docs/my notes.md"),
        ("/home/alice/post/run.py", "run.py"),
        ("too*/run.py", "tools/run.py"),
        ("https://github.com/o/post/blob/main/tools/run.py", "tools/run.py"),
    ],
)
def test_a_path_or_glob_of_one_file_is_answered_by_it(index: Index, text: str, path: str) -> None:
    assert found(index, text)[0].path == path


def test_a_glob_of_several_files_is_answered_by_the_beginning_of_each(index: Index) -> None:
    hits = found(index, "shop/*.py")
    assert [(hit.path, hit.start_line) for hit in hits[:2]] == [("shop/client.py", 1), ("shop/orders.py", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "why does the owner of a parcel lead to E4711",
        'owner of "the parcel has no owner"',
        "Warum kommt „the parcel has no owner“?",
        "D'où vient « the parcel has no owner » ?",
        "「the parcel has no owner」というエラー",
    ],
)
def test_the_code_of_an_error_and_a_quoted_phrase_count_as_they_are_written(index: Index, text: str) -> None:
    assert found(index, text)[0].path == "src/errors.ts"


@pytest.mark.parametrize(
    "text",
    [
        "the parcel has no owner",
        "2026-11-26 error: The parcel has no owner",
        "2026-11-26 09:12:44,123 ERROR [main] app.core - The parcel has no owner",
        "[error] the parcel has no owner",
        "ERROR 1 --- [nio-8080-exec-3] c.a.Post : The parcel has no owner",
        "E   The parcel has no owner",
        "Nov 26 09:12:44 host post[12]: the parcel has no owner",
        '"E4711: the parcel has no owner " + name);\n}',
        "Refuses what has no owner. */\nexport function",
    ],
)
def test_a_message_or_snippet_pasted_as_it_is_comes_first_without_quotes(index: Index, text: str) -> None:
    hits = index.search(Query(text))
    assert (hits.hits[0].path, hits.confidence) == ("src/errors.ts", Confidence.HIGH)


@pytest.mark.parametrize("head", ["", "Error: ", "2026-11-26 09:12:44 [main] WARN c.a.Post - "])
def test_a_message_with_values_is_answered_by_the_format_string_that_made_it(index: Index, head: str) -> None:
    hits = index.search(Query(f"{head}Package alpha-7 is not heavy enough for 42 stamps"))
    assert (hits.hits[0].path, hits.confidence) == ("src/weights.ts", Confidence.HIGH)


@pytest.mark.parametrize(
    ("message", "text", "letters"),
    [
        ('Cannot open "a b" now: 3 left', r'fail("Cannot open \"%s\" now: %-3d left")', 17),
        ("Plugin mail is not there", "raise Missing(f'Plugin {name!r:>4} is not there')", 16),
        ("Plugin mail is not there", 'abort "Plugin #{name} is not there"', 16),
        ("Plugin mail is not there", '"Plugin $name is not there"', 16),
        ("mail is not there", '"%s is not there yet"', 0),
        ("mail is not there", '"%s: %s"', 0),
        ("the mail in the house of the postman of the town is not there", '"%s is not there"', 0),
    ],
)
def test_a_format_string_fits_a_message_from_its_beginning_to_its_end(message: str, text: str, letters: int) -> None:
    assert format_fit(message, text) == letters


def test_words_that_many_places_have_as_they_are_asked_for_lift_none(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"part{number}.py").write_text(f'def part{number}():\n    return "not to be had now"\n')
    (tmp_path / "stock.py").write_text('def not_to_be_had(now):\n    """Not to be had now: sold out."""\n')
    options = IndexOptions(home=tmp_path / "home", workers=1, embedding=EmbeddingOptions(provider="none"))
    with Index.open(tmp_path, options) as made:
        made.update()
        assert "exact" not in made.search(Query("not to be had now")).hits[0].parts


ISSUE = """Basket is sent twice

### Describe the bug
`send_basket` appends to the history.

### Steps to reproduce
1. Send it

### Environment
- OS: Ubuntu 22.04
- Python version: 3.11.4

| Package | Version |
|---|---|
| requests | 2.31.0 |

- [x] I searched for existing issues
<!-- Thank you
for the report -->
"""


def test_of_an_issue_its_title_prose_and_names_count_and_its_template_does_not(index: Index) -> None:
    words = read_question(ISSUE).words
    assert {"basket", "send", "history"} <= words
    assert words.isdisjoint(
        {"describ", "bug", "step", "environment", "ubuntu", "version", "request", "search", "thank"}
    )
    assert found(index, ISSUE)[0].path == "shop/orders.py"


def test_of_a_trace_its_message_counts_and_its_calls_do_not() -> None:
    said = read_question(f"{INNER}ValueError: the total is below zero").said
    assert said == "ValueError: the total is below zero"


@pytest.mark.parametrize("text", ["how are orders\nchecked?", "def f():\n    return 1\n", "see shop/orders.py:8"])
def test_other_questions_count_as_they_are(text: str) -> None:
    assert read_question(text).said == text


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["(", "<!-- ", "![", "a.b:1\n", "### ", '"', "at a.b(", "Caused by: ", "[", "\\n at "])
def test_a_text_made_to_take_long_is_read_in_time(part: str) -> None:
    read_question(f"### Environment\n{part * (60_000 // len(part))}\na.py:1 b.py:2")


@pytest.mark.parametrize("path", ["shop/orders.py", "old/orders.py"])
def test_a_place_is_answered_by_its_own_file_though_another_is_its_copy(index: Index, path: str) -> None:
    assert found(index, f"{path}:8")[0].path == path


def test_nothing_is_found_for_places_outside_of_the_project(index: Index, tmp_path: Path) -> None:
    elsewhere = f"{TRACEBACK}{CALL.format('/usr/lib/python3.11/json/decoder.py', 8, 'decode')}ValueError: x"
    hits = found(index, elsewhere)
    assert hits
    assert all("exact" not in hit.parts for hit in hits)
