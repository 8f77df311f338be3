"""Places in files that pasted texts name, innermost call first."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.text.places import path_in, places_in

TEXTS = {
    "python": (
        (
            'Traceback (most recent call last):\n  File "/usr/lib/python3.11/runpy.py", line 9, in run\n'
            '  File "/app/my src/client.py", line 99, in _request\n    x()\nValueError: bad'
        ),
        [("/app/my src/client.py", 99), ("/usr/lib/python3.11/runpy.py", 9)],
    ),
    "node": (
        (
            "TypeError: x is not a function\n    at run (/app/lib/index.js:12:5)\n    at async file:///app/src/a.mjs:3:1\n"
            "    at webpack:///./src/foo.tsx?ab12:7:3\n    at node:internal/main:1:2"
        ),
        [("/app/lib/index.js", 12), ("/app/src/a.mjs", 3), ("/src/foo.tsx", 7)],
    ),
    "jvm": (
        (
            "java.lang.IllegalStateException: x\n\tat app//com.example.Gson.toJson(Gson.java:745)\n"
            "Caused by: java.io.IOException\n\tat com.example.internal.Streams.parse(Streams.java:60)\n\t... 3 more"
        ),
        [("com/example/internal/Streams.java", 60), ("com/example/Gson.java", 745)],
    ),
    "go": (
        "goroutine 1 [running]:\nexample.com/gin.(*Context).Bind(0xc0)\n\t/root/gin/context.go:757 +0x1d",
        [("/root/gin/context.go", 757)],
    ),
    "lcov": ("TN:\nSF:src/cart.ts\nDA:4,7\nDA:12,0\nend_of_record", [("src/cart.ts", 12)]),
    "lines below a path": ("src/cart.ts\n12:  const total = sum(prices)\n", [("src/cart.ts", 12)]),
    "a log of GitHub": ("2026-03-01T10:11:12.1Z ##[error]src/cart.ts(12,3): failed", [("src/cart.ts", 12)]),
    "rust": (
        "thread 'main' panicked at src/main.rs:4:5:\n   1: app::run\n             at ./src/run.rs:33:9",
        [("src/main.rs", 4), ("src/run.rs", 33)],
    ),
    "dotnet": ("   at N.Foo.Bar(Int32 a) in C:\\src\\N\\Foo.cs:line 12", [("C:/src/N/Foo.cs", 12)]),
    "ruby": ("lib/base.rb:63:in `call!': boom\n\tfrom lib/app.rb:5:in 'x'", [("lib/base.rb", 63), ("lib/app.rb", 5)]),
    "php": (
        "PHP Fatal error: x in /app/Logger.php:12\n#0 /app/A.php(33): Foo->bar()\n  thrown in /app/B.php on line 2",
        [("/app/Logger.php", 12), ("/app/A.php", 33), ("/app/B.php", 2)],
    ),
    "c": (
        "#0 0x5 in foo /build/lib/url.c:123:5\n#1  0x0 in bar () at src/b.c:12",
        [("/build/lib/url.c", 123), ("src/b.c", 12)],
    ),
    "browser": ("foo@http://localhost:3000/static/app.js:12:5", [("static/app.js", 12)]),
    "colours": ("\x1b[31merror\x1b[0m src/\x1b[1ma.ts\x1b[0m(12,5): x", [("src/a.ts", 12)]),
    "rustc": ("error[E0308]\n --> src/main.rs:2:5", [("src/main.rs", 2)]),
    "pytest": (
        "src/app.py:95: in run\n    value = make(value)\nsrc/make.py:44: in make\nE   AssertionError",
        [("src/make.py", 44), ("src/app.py", 95)],
    ),
    "gcc": (
        (
            "In file included from src/a.c:3,\n                 from src/b.h:7:\n"
            "/app/src/c.h: In function 'run':\n/app/src/c.h:12:5: error: 'x' undeclared"
        ),
        [("/app/src/c.h", 12), ("src/a.c", 3), ("src/b.h", 7)],
    ),
    "a cause in a log": (
        (
            "10:01:22 ERROR [w-1] \tat com.example.Gson.toJson(Gson.java:745)\n10:01:22 ERROR [w-1] Caused by: x\n"
            "10:01:22 ERROR [w-1] \tat com.example.Streams.parse(Streams.java:60)"
        ),
        [("com/example/Streams.java", 60), ("com/example/Gson.java", 745)],
    ),
    "pytest's long form": (
        "src/app.py:95: in run\n    make()\nsrc/make.py:44: KeyError",
        [("src/make.py", 44), ("src/app.py", 95)],
    ),
    "the first call first": (
        'Thread 1 (most recent call first):\n  File "src/make.py", line 4 in make\n  File "src/app.py", line 9 in run',
        [("src/make.py", 4), ("src/app.py", 9)],
    ),
    "webpack": ("ERROR in ./src/a.ts 30:5-20", [("src/a.ts", 30)]),
    "a log": ('level=error caller=app/main.go:7 msg="x"', [("app/main.go", 7)]),
    "Maven, with a blank": ("    at com.example.Gson.toJson (Gson.java:7)", [("com/example/Gson.java", 7)]),
    "one line of .NET": (
        "x at A.B() in /a/B.cs:line 1 at A.C() in /a/C.cs:line 2",
        [("/a/B.cs", 1), ("/a/C.cs", 2)],
    ),
    "a generic file": ("at src/IFormatter`1.cs:21", [("src/IFormatter`1.cs", 21)]),
    "lua cuts a folder's name": ("...ject/pick.lua:12: attempt to index nil", [("...ject/pick.lua", 12)]),
    "dash": ("./run.sh: 12: Syntax error", [("run.sh", 12)]),
    "SpotBugs": ("M D DLS: Dead store to x  At Gson.java:[line 12]", [("Gson.java", 12)]),
    "black": ("--- a.py\t2024-01-01\n+++ a.py\t2024-01-01 10:00:01.0 +0000\n@@ -12,7 +12,8 @@", [("a.py", 12)]),
    "prettier": ("[error] src/a.ts: SyntaxError: Unexpected token (12:4)\n[error] x", [("src/a.ts", 12)]),
    "an escaped page": ("File &quot;/app/a.py&quot;, line 12, in run", [("/app/a.py", 12)]),
    "colours without their first character": ("[36msrc/a.ts[0m:[33m12[0m:[33m5[0m - error", [("src/a.ts", 12)]),
    "colours written out": ("\\033[1msrc/a.ts\\033[0m:\\033[33m12\\033[0m: error", [("src/a.ts", 12)]),
    "a log in a log": (
        json.dumps(
            {"log": json.dumps({"exc": 'Traceback:\n  File "/a/b.py", line 12, in f\n    x()\nValueError: bad'})}
        ),
        [("/a/b.py", 12)],
    ),
    "pprof": ("ROUTINE ======== main.(*Engine).Bind in /app/gin.go\n  10ms  20ms (flat, cum)", [("/app/gin.go", 0)]),
    "xdebug's calls in a log, the innermost last": (
        "PHP   1. {main}() /app/index.php:3\nPHP   2. Shop\\App->run() /app/src/App.php:12",
        [("/app/src/App.php", 12), ("/app/index.php", 3)],
    ),
    "german .NET": ("   bei N.Foo.Bar(Int32 a) in C:\\src\\N\\Foo.cs:Zeile 12.", [("C:/src/N/Foo.cs", 12)]),
    "japanese .NET": ("   場所 N.Foo.Bar(Int32 a) 場所 C:\\src\\N\\Foo.cs:行 12", [("C:/src/N/Foo.cs", 12)]),
    "black's message": (
        "error: cannot format src/a.py: Cannot parse for target version Python 3.12: 12:4: x =",
        [("src/a.py", 12)],
    ),
    "blame of a renamed file": (
        "1a2b3c4d src/a.py (Ann Bee 2026-01-31 10:00:00 +0100 12) x = 1",
        [("src/a.py", 12)],
    ),
    "loguru": ("2026-01-31 10:00:00.123 | ERROR    | app.client:send:12 - bad", [("app/client.py", 12)]),
    "logging": ("ERROR:app.client:<lambda>:12:bad", [("app/client.py", 12)]),
    "a list of failed tests": (
        "[ERROR]   ClientTest.sendsTwice:12->Base.check:7 expected: <1>",
        [("ClientTest.java", 12), ("Base.java", 7)],
    ),
    "sentry": ("src/a.py in <lambda> at line 12", [("src/a.py", 12)]),
    "elixir": ("(app 1.7.0) lib/router.ex:12: App.Router.call/2", [("lib/router.ex", 12)]),
}


@pytest.mark.parametrize("tool", TEXTS)
def test_a_trace_names_its_places_innermost_first(tool: str) -> None:
    text, wanted = TEXTS[tool]
    assert [(it.path, it.first) for it in places_in(text)] == wanted


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ('  File "/app/x.py", line 12, in send', "send"),
        ("\tat com.example.Client$Inner.lambda$send$0(Client.java:12)", "send"),
        ("\tat com.example.Client$Inner.<init>(Client.java:12)", "Inner"),
        ("    at async Object.send [as handler] (file:///app/lib/index.js:12:5)", "send"),
        ("   at N.Client.<Send>d__12.MoveNext() in C:\\src\\Client.cs:line 12", "Send"),
        ("   at N.Client.Send[T](Int32 a, String b) in C:\\src\\Client.cs:line 12", "Send"),
        ("\tfrom /app/client.rb:56:in 'block in Shop::Client#send!'", "send"),
        ("    (app 1.7.0) lib/client.ex:12: App.Client.send/3", "send"),
        ("#1  0x00 in send (to=0x1) at src/client.c:12", "send"),
        ("src/client.c:12:5: error: no function send", ""),
    ],
)
def test_a_trace_tells_the_function_of_a_place(text: str, function: str) -> None:
    assert [it.function for it in places_in(text)] == [function]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("context.go:752", ("context.go", 752, 752)),
        ("src/app.py:40-61", ("src/app.py", 40, 61)),
        ("src/app.py#L10-L20", ("src/app.py", 10, 20)),
        ("see https://github.com/o/r/blob/v1.9/a/b.go#L10-L20 there", ("a/b.go", 10, 20)),
        ("https://gitlab.com/o/r/-/blob/main/a.go?ref=x#L7", ("a.go", 7, 7)),
        ("look at @src/app.py#L10-L20", ("@src/app.py", 10, 20)),
        ("@context.go:752", ("@context.go", 752, 752)),
        ("context.go: 752", ("context.go", 752, 752)),
        ("context.go around line 752", ("context.go", 752, 752)),
        ("context.go, L752-760", ("context.go", 752, 760)),
        ("L752 in context.go", ("context.go", 752, 752)),
        ("line 752, column 3 of the file context.go", ("context.go", 752, 752)),
        ("context.go@752", ("context.go", 752, 752)),
        ("context.go\t752\t5", ("context.go", 752, 752)),
        ("emacs +752:4 context.go", ("context.go", 752, 752)),
        ("context.go#n752", ("context.go", 752, 752)),
        ("git blame -L 1102,1105 src/flask/app.py", ("src/flask/app.py", 1102, 1105)),
        ("git log -L 10,20:src/app.py", ("src/app.py", 10, 20)),
        ("git blame -L 100,+5 src/app.py", ("src/app.py", 100, 104)),
        ("git blame -L 100,-5 src/app.py", ("src/app.py", 96, 100)),
        ("git log -L 3,-9:src/app.py", ("src/app.py", 1, 3)),
        ("git blame -L 100,+0 src/app.py", ("src/app.py", 100, 100)),
        ("sed -n '10,+5p' src/app.py", ("src/app.py", 10, 15)),
        ("sed -n 20,25p src/app.py", ("src/app.py", 20, 25)),
        ("sed -n '7p' src/app.py", ("src/app.py", 7, 7)),
        ("bat --line-range 10:20 src/app.py", ("src/app.py", 10, 20)),
        ("src/context.go;drc=ab1;l=752", ("src/context.go", 752, 752)),
        ("https://cs.opensource.google/go/go/+/master:src/a.go;l=7;drc=ab1", ("src/a.go", 7, 7)),
        ("https://go.googlesource.com/go/+/refs/heads/master/src/a.go#7", ("src/a.go", 7, 7)),
        ("https://git.kernel.org/x.git/tree/src/a.c?h=main#n7", ("src/a.c", 7, 7)),
        ("https://repo.or.cz/x.git?p=x.git;a=blob;f=src/a.c;hb=HEAD#l7", ("src/a.c", 7, 7)),
        ("idea://open?file=/work/src/a.go&line=7", ("/work/src/a.go", 7, 7)),
        ("phpstorm://open?file=/work/src/a.php&line=7", ("/work/src/a.php", 7, 7)),
        ("txmt://open/?url=file:///work/src/a.rb&line=7&column=2", ("src/a.rb", 7, 7)),
        ("jetbrains://goland/navigate/reference?project=x&path=src/a.go:7:3", ("src/a.go", 7, 7)),
    ],
)
def test_a_place_may_have_several_lines(text: str, wanted: tuple[str, int, int]) -> None:
    assert [it[:3] for it in places_in(text)] == [wanted]


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        (
            "error: error parsing k8s/a.yaml: error converting YAML to JSON: yaml: line 25: did not find",
            "k8s/a.yaml",
            25,
        ),
        ("Error: YAML parse error on c/templates/a.yaml: error converting: yaml: line 44: x", "c/templates/a.yaml", 44),
        ("a.yml: yaml: unmarshal errors:\n  line 12: cannot unmarshal !!str into int", "a.yml", 12),
        ("(config/database.yml): did not find expected key at line 5 column 3", "config/database.yml", 5),
        ("Invalid block tag: 'foo'\n  In template /srv/shop/list.html, error at line 60", "/srv/shop/list.html", 60),
        ("a.yml: no such key, see b.py at line 7", "b.py", 7),
    ],
)
def test_a_line_told_behind_the_message_was_no_place(text: str, path: str, line: int) -> None:
    assert [it[:3] for it in places_in(text)] == [(path, line, line)]


@pytest.mark.parametrize(
    "text",
    [
        *("", "what is 3.5 or 12:30", "the ratio 4:3", "v1.2.3", "a.b.c", "foo: 12", "lodash.js@4.17.21"),
        *("config.yaml: 3 keys", "Version.parse 12", "see RFC 7231 section 4", "line 12 of the poem", "webpack://x?y"),
    ],
)
def test_a_question_without_places_has_none(text: str) -> None:
    assert places_in(text) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("./src/app.py", "src/app.py"),
        ("`src\\app.py`", "src/app.py"),
        ("app.py", "app.py"),
        ("Makefile", "Makefile"),
        ("notes.txt", "notes.txt"),
        ("Client.get", ""),
        ("where app.py is read", ""),
        ("It failed.", ""),
        ("how so", ""),
        ("a\nb.c", ""),
    ],
)
def test_a_question_may_be_a_path(text: str, path: str) -> None:
    assert path_in(text) == path


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "a.",
        "a/",
        "http://",
        "http://a/blob/",
        "\n",
        " ",
        "at a",
        "at a.b(",
        "in ",
        'File "',
        "a.b:1 ",
        "[",
        "a.b(1",
        *(
            "a.b: x (1:2)",
            "a.b: x at ",
            "a.b: errors:\n ",
            "ROUTINE = a.",
            "x://a?",
            "&quot;",
            "[0m",
            "^[[",
            "a.b?a=1&",
            "line 1 at ",
            "...a/",
            "a.b\t1\t",
            "a.py 1 2 3% ",
            "a.py | 1 | 2 | ",
            "FAIL a.test.ts\n",
            "a.test.ts > ",
            "test/a",
            "@@ -1 +1 @@\n+a\n",
            "+++ b/a.py\n@@ -1 +1 @@\n",
            '<line number="1" hits="0" ',
            '{"frames":[{"filename":"a.py","lineno":1},',
        ),
    ],
)
def test_a_text_made_to_take_long_takes_no_longer(part: str) -> None:
    assert len(places_in(f"{part * (100_000 // len(part))} x:1 line 1")) <= 400


@given(st.text(alphabet='aB1.:/\\()#L-" \nlinetF', max_size=400))
def test_any_text_is_read(text: str) -> None:
    for place in places_in(text):
        assert place.path
        assert place.first <= place.last
