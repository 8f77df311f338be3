"""Paste stack traces, places and paths: is the first result the place meant?

    python tests/bench/traces.py TREES --home DIR [--of 50] [--seed 7] [--show 5]

TREES has the repositories of the development benchmark. Traces are made over their files, in the shapes that tools
print, with noise around them: the innermost frame of the project is at a line inside a function, beside frames of
other files and of foreign libraries, some of whose files have names that the project has too. Of chained exceptions the
cause counts; of two raised one in handling the other, the last. The first result has to hold the line.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import trace_shapes as scripts
import trace_shapes_compiled as compiled
from trace_calls import NOISE, Call, Shape
from trace_places import PLACES

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Hit, Query

TREES = {
    "python": ("aiohttp", "starlette"),
    "javascript": ("express", "trpc", "zod"),
    "java": ("gson", "ktor"),
    "go": ("gin", "cobra"),
    "rust": ("tokio",),
    "csharp": ("messagepack-csharp",),
    "ruby": ("sinatra",),
    "php": ("monolog",),
    "c": ("curl", "fmtlib"),
}
SHAPES: dict[str, tuple[Shape, ...]] = {
    "python": (
        scripts.python,
        scripts.python_handling,
        scripts.python_cause,
        scripts.python_group,
        scripts.python_pytest,
        scripts.python_rich,
        scripts.python_ipython,
        scripts.python_json,
    ),
    "javascript": (
        scripts.node,
        scripts.node_thrown,
        scripts.node_cause,
        scripts.node_async,
        scripts.chrome,
        scripts.firefox,
        scripts.webpack,
        scripts.jest,
        scripts.vitest,
    ),
    "java": (compiled.java, compiled.java_caused, compiled.java_suppressed, compiled.java_logback, compiled.android),
    "go": (compiled.go, compiled.go_signal, compiled.go_recovered, compiled.go_errors, compiled.go_zap),
    "rust": (compiled.rust, compiled.rust_full, compiled.rust_anyhow, compiled.rust_eyre),
    "csharp": (compiled.dotnet, compiled.dotnet_inner, compiled.dotnet_async),
    "ruby": (scripts.ruby, scripts.ruby_34, scripts.ruby_26, scripts.rails, scripts.rspec),
    "php": (scripts.php, scripts.laravel, scripts.xdebug, scripts.symfony),
    "c": (compiled.gdb, compiled.asan, compiled.lldb, compiled.valgrind, compiled.addr2line),
}
_NAME = r"(?P<name>[A-Za-z_]\w+)"
FUNCTIONS = {
    "py": rf"^ *(?:async )?def {_NAME}\(",
    "js": rf"^(?:function|\w+\.\w+ = function) {_NAME}\(",
    "ts": rf"^ *(?:export )?(?:async )?function {_NAME}\b.*$",
    "java": rf"^ +(?:public |private |protected |static |final )+[\w<>\[\],.? ]+ {_NAME}\([^;]*\{{$",
    "kt": rf"^ *(?:public |internal |private |override |suspend )*fun (?:<[^>]*> )?(?:\w+\.)?{_NAME}\(.*\{{$",
    "go": rf"^func (?:\(\w+ \*?(?P<type>\w+)\) )?{_NAME}\(",
    "rs": rf"^ *(?:pub(?:\(\w+\))? )?(?:async |unsafe |const )*fn {_NAME}\b",
    "cs": rf"^ +(?:public |private |internal |static |override )+[\w<>\[\]?, ]+ {_NAME}\([^;]*$",
    "rb": rf"^ *def (?:self\.)?{_NAME}",
    "php": rf"^ *(?:public |private |protected |static )+function {_NAME}\(",
    "c": rf"^(?!return|else|static inline)(?:[\w*]+[ *]+)+\*?{_NAME}\([^;]*$",
    "h": rf"^ *(?:template .*|inline |constexpr |FMT_\w+ )*(?:auto|void|bool|int) {_NAME}\([^;]*\{{$",
}
"""A line that begins a function."""
_OWNER = re.compile(
    r"^ *(?:(?:export|public|internal|abstract|final|sealed|static|partial) )*(?:class|struct|impl|object|module) (\w+)"
)
_PACKAGE = re.compile(r"^(?:package|namespace) ([\w.\\]+)", re.MULTILINE)
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|\"\"\"|$)")
_CRATES, _RUSTC = (
    "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/",
    "/rustc/82e1608dfa6e0b5569232559/library/",
)
FOREIGN = {
    "python": (
        "/usr/lib/python3.11/asyncio/base_events.py",
        "/usr/local/lib/python3.11/site-packages/uvicorn/protocols/http/h11_impl.py",
        "/opt/venv/lib/python3.12/site-packages/requests/sessions.py",
    ),
    "javascript": (
        "node:internal/modules/cjs/loader",
        "/app/node_modules/lodash/lodash.js",
        "/app/node_modules/@tanstack/query-core/src/query.ts",
    ),
    "java": (
        "java.util.concurrent.ThreadPoolExecutor",
        "org.springframework.web.servlet.DispatcherServlet",
        "kotlinx.coroutines.DispatchedTask",
    ),
    "go": (
        "/usr/local/go/src/net/http/server.go",
        "/go/pkg/mod/golang.org/x/net@v0.17.0/http2/server.go",
        "/usr/local/go/src/runtime/panic.go",
    ),
    "rust": (
        _RUSTC + "core/src/panicking.rs",
        _CRATES + "hyper-0.14.28/src/client/conn.rs",
        _RUSTC + "std/src/rt.rs",
    ),
    "csharp": (
        "/_/src/libraries/System.Private.CoreLib/src/System/ThrowHelper.cs",
        "/_/src/Newtonsoft.Json/JsonSerializer.cs",
        "/_/src/libraries/System.Text.Json/src/Reader.cs",
    ),
    "ruby": (
        "/usr/local/bundle/gems/rack-3.0.8/lib/rack/handler.rb",
        "/usr/lib/ruby/3.2.0/net/http.rb",
        "/usr/local/bundle/gems/puma-6.4.0/lib/puma/server.rb",
    ),
    "php": (
        "/var/www/html/vendor/guzzlehttp/guzzle/src/Client.php",
        "/app/vendor/symfony/console/Application.php",
        "/app/vendor/laravel/framework/src/Illuminate/Foundation/Application.php",
    ),
    "c": (
        "/build/glibc-SzIz7B/glibc-2.31/stdlib/abort.c",
        "../sysdeps/unix/sysv/linux/raise.c",
        "/build/openssl-3.0/ssl/record/rec_layer.c",
    ),
}
"""Files of libraries; for the JVM classes."""
INSTALLED = {
    "aiohttp": ("", "/usr/local/lib/python3.11/site-packages/"),
    "starlette": ("", "/opt/venv/lib/python3.12/site-packages/"),
    "express": ("", "/srv/node_modules/express/"),
    "trpc": ("packages/server/", "/app/node_modules/@trpc/server/"),
    "zod": ("packages/zod/", "/app/node_modules/zod/"),
    "gin": ("", "/go/pkg/mod/github.com/gin-gonic/gin@v1.9.1/"),
    "cobra": ("", "/root/go/pkg/mod/github.com/spf13/cobra@v1.8.0/"),
    "tokio": ("tokio/", "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/tokio-1.35.1/"),
    "sinatra": ("", "/usr/local/bundle/gems/sinatra-4.0.0/"),
    "monolog": ("", "/var/www/html/vendor/monolog/monolog/"),
}
"""Where a package manager puts a repository: what it leaves out of the path, and its folder."""
FOLDERS = (
    "/app/",
    "/usr/src/app/",
    "/home/alice/work/{repo}/",
    "/home/runner/work/{repo}/{repo}/",
    "C:\\Users\\bob\\src\\{repo}\\",
    "/Users/carol/{repo}/",
    "./",
    "",
)
MESSAGES = (
    "unexpected end of input",
    "cannot read properties of undefined (reading 'map')",
    "index out of range [3] with length 3",
    "invalid value: none",
    "connection closed",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line inside a function of a repository."""

    repo: str
    path: str
    line: int
    name: str
    owner: str
    package: str
    code: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the file and line that answer it; 0 for any line of the file."""

    kind: str
    form: str
    text: str
    path: str
    line: int = 0
    name: str = ""


def functions(tree: Path) -> Iterator[Line]:
    """Yield a line of each function, found by patterns and indentation alone."""
    for file in sorted(tree.rglob("*")):
        path = file.relative_to(tree).as_posix()
        pattern = FUNCTIONS.get(file.suffix.lstrip("."))
        if pattern is None or not file.is_file() or re.search(r"(?i)test|spec|bench|example", path):
            continue
        text = file.read_text("utf-8", "replace")
        lines = text.split("\n")
        package, owner = _PACKAGE.search(text), file.stem
        for number, line in enumerate(lines):
            if found := _OWNER.match(line):
                owner = found[1]
            found = re.match(pattern, line)
            inside = [n for n in _body(lines, number) if not _COMMENT.match(lines[n])] if found else []
            if found and len(inside) > 1:
                at = Random(f"{path}:{number}").choice(inside)
                groups = found.groupdict()
                yield Line(
                    tree.name,
                    path,
                    at + 1,
                    groups["name"],
                    groups.get("type") or owner,
                    package[1] if package else "",
                    lines[at],
                )


def _body(lines: Sequence[str], start: int) -> Iterator[int]:
    """Yield the lines of a function that are indented deeper than its first line."""
    own = _depth(lines[start])
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.strip() and _depth(line) <= own:
            if line.strip()[0] in "{)" and number < start + 6:
                continue
            return
        yield number


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def call(it: Line, language: str, folder: str) -> Call:
    """Return a line of the project as a frame that ran in a folder."""
    cut, installed = INSTALLED.get(it.repo, ("\0", ""))
    path = installed + it.path.removeprefix(cut) if folder == "installed" and it.path.startswith(cut) else ""
    if not path:
        path = (FOLDERS[0] if folder == "installed" else folder).format(repo=it.repo) + it.path
    if folder.startswith("C:"):
        path = path.replace("/", "\\")
    stem = it.path.rpartition("/")[2].partition(".")[0]
    owners = {
        "java": f"{it.package}.{stem}{'Kt' if it.path.endswith('.kt') else ''}",
        "go": f"github.com/x/{it.repo}.(*{it.owner})" if it.owner[:1].isupper() else f"github.com/x/{it.repo}",
        "rust": "::".join(["tokio", *it.path.removesuffix(".rs").split("/")[2:]]),
        "csharp": f"{it.package}.{it.owner}",
        "php": f"{it.package}\\{it.owner}",
        "python": "", "c": "",
    }  # fmt: skip
    return Call(path, it.line, it.name, owners.get(language, it.owner), it.code)


def foreign(language: str, known: Sequence[Line], random: Random) -> Call:
    """Return a frame of a library; its file may have a name that a file of the project has."""
    path = random.choice(FOREIGN[language])
    name = random.choice(("run", "handle", "_call", "invoke", "process"))
    if language == "java":
        return Call(f"{path.rpartition('.')[2]}.java", random.randint(20, 900), name, path)
    if random.random() < 0.4 and "/" in path:
        path = f"{path.rpartition('/')[0]}/{random.choice(known).path.rpartition('/')[2]}"
    return Call(path, random.randint(20, 400), name, "lib.Worker" if language in {"csharp", "php"} else "lib")


def trace(number: int, language: str, known: Sequence[Line], seed: int) -> tuple[str, str, Line]:
    """Return the name of a shape, a trace, and the line of its innermost frame of the project."""
    random = Random(f"{seed}:{language}:{number}")
    shape = SHAPES[language][number % len(SHAPES[language])]
    target, *others = [random.choice(known) for _ in range(random.randint(2, 5))]
    folder = random.choice((*FOLDERS, "installed", "installed"))
    if shape.__name__ in {"chrome", "firefox", "webpack"}:
        folder = "/app/"
    if shape.__name__ in {"node_async", "gdb"} and folder.startswith("C:"):
        folder = "/app/"
    calls = [call(target, language, folder), *(call(it, language, folder) for it in others if it.repo == target.repo)]
    before = (
        random.choice((0, 0, 1, 2)) if shape.__name__ not in {"php", "laravel", "ruby"} or random.random() < 0.3 else 0
    )
    calls = [foreign(language, known, random) for _ in range(before)] + calls
    calls.insert(random.randint(before + 1, len(calls)), foreign(language, known, random))
    text = random.choice(NOISE)(shape(calls, random.choice(MESSAGES), random), random)
    return shape.__name__, text, target


def places(it: Line) -> Iterator[tuple[str, str]]:
    """Yield names of notations, and a place written so."""
    back, file = it.path.replace("/", "\\"), it.path.rpartition("/")[2]
    fields = {"path": it.path, "back": back, "file": file, "n": it.line, "m": it.line + 2}
    for form, text in PLACES.items():
        yield form, text.format(**fields, repo=it.repo, name=it.name, code=it.code)


def paths(path: str, repo: str) -> Iterator[tuple[str, str]]:
    """Yield names of notations, and a path written so."""
    back = path.replace("/", "\\")
    yield "path", path
    yield "./path", f"./{path}"
    yield "`path`", f"`{path}`"
    yield "windows", back
    yield "absolute", f"/home/alice/{repo}/{path}"
    yield "a/path", f"a/{path}"
    yield "forge", f"https://github.com/o/{repo}/blob/main/{path}"
    yield "quoted", f'"{path}"'
    yield "glob", f"**/{path}" if "/" in path else path
    folder, _, name = path.rpartition("/")
    yield "glob in folder", f"{folder[:-2]}*/{name}" if len(folder) > 3 else path


def holds(hits: Sequence[Hit], path: str, line: int = 0) -> bool:
    """Whether the first result is the file, with the line if there is one."""
    return bool(hits) and hits[0].path == path and (not line or hits[0].start_line <= line <= hits[0].end_line)


def main() -> None:
    """Ask, and print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="of the indexes")
    parser.add_argument("--of", type=int, default=50, help="traces of a language")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", type=int, default=0, help="misses to print of each kind and language")
    parser.add_argument("--language", choices=TREES, action="append")
    options = parser.parse_args()
    print(f"{'':12}{'traces':>14}{'places':>14}{'named':>14}{'paths':>14}")
    by_form = Counter[str]()
    for language in options.language or TREES:
        counts, missed = _measured(language, options)
        by_form.update(missed)
        print(
            f"{language:12}"
            + "".join(f"{counts[f'{it} right']:6} of {counts[it]:4}" for it in ("trace", "place", "named", "path"))
        )
    print("missed:", ", ".join(f"{form} {count}" for form, count in by_form.most_common()))


def _measured(language: str, options: argparse.Namespace) -> tuple[Counter[str], Counter[str]]:
    """Count what was asked and answered for a language, and the forms that were missed."""
    counts, missed = Counter[str](), Counter[str]()
    shown = options.show
    for repo in TREES[language]:
        with Index.open(options.trees / repo, IndexOptions(home=options.home, workers=1)) as index:
            index.update()
            for it in questions(language, repo, options):
                hits = index.search(Query(it.text, limit=5)).hits
                is_right = holds(hits, it.path, it.line)
                counts.update({it.kind: 1, f"{it.kind} right": is_right})
                if it.kind == "place" and is_right:
                    is_named = it.name == re.split(r"[.:#]", hits[0].symbol)[-1].rstrip("?!=")
                    counts.update({"named": 1, "named right": is_named})
                missed[f"{it.kind} {it.form}"] += not is_right
                if not is_right and shown:
                    shown -= 1
                    found = [f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in hits[:2]]
                    print(f"--- {repo} {it.kind} {it.form}: wanted {it.path}:{it.line}, found {found}\n{it.text}")
    return counts, +missed


def questions(language: str, repo: str, options: argparse.Namespace) -> Iterator[Asked]:
    """Yield the questions about a repository: its share of the traces, places of four lines, paths."""
    tree = options.trees / repo
    known = [*functions(tree)]
    number, count = TREES[language].index(repo), len(TREES[language])
    for n in range(number, options.of, count):
        form, text, it = trace(n, language, known, options.seed)
        yield Asked("trace", form, text, it.path, it.line)
    random = Random(f"{options.seed}:{language}:{repo}")
    for it in random.sample(known, min(4 // count or 1, len(known))):
        for form, text in places(it):
            yield Asked("place", form, text, it.path, it.line, it.name)
    endings = {*FUNCTIONS, "md"}
    files = (it for it in tree.rglob("*") if it.is_file() and it.suffix.lstrip(".") in endings and it.stat().st_size)
    names = sorted(it.relative_to(tree).as_posix() for it in files)
    for path in random.sample(names, min(12, len(names))):
        for form, text in paths(path, repo):
            yield Asked("path", form, text, path)


if __name__ == "__main__":
    main()
