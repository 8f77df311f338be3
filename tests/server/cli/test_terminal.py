"""The terminal: its output, its encoding, and the few modules that a start loads."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm


HEAVY = {
    *("anyio", "httpx2", "mcp", "numpy", "ollama", "openai", "pydantic", "pydantic_core", "pygments", "qdrant_edge"),
    *("rich", "stamina", "starlette", "tokenizers", "tree_sitter", "yaml", "cqm.chunkers.languages"),
    *("cqm.chunkers.model.chunks", "cqm.index.generations.generation", "cqm.index.ranking.question"),
}
"""What takes longer to load than all that a search through an owner needs."""


def modules_loaded(cqm: "Cqm", *arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys\n"
        f"sys.argv = ['cqm', *{arguments!r}]\n"
        "from cqm.server.cli.main import main\n"
        "try:\n    main()\n"
        "finally:\n    sys.stderr.write('\\n' + ' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cqm.project,
        env=cqm.environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def test_output_is_utf8_in_any_locale(cqm: "Cqm") -> None:
    found = cqm.json("search", "設定", LC_ALL="C")
    assert "設定ファイル" in json.dumps(found, ensure_ascii=False)
    assert "設定" in cqm.run("preview", "docs/guide.md", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="has no file names that are not text")
def test_a_file_name_that_is_no_text_does_not_stop_the_output(cqm: "Cqm") -> None:
    (cqm.project / os.fsdecode(b"caf\xe9.py")).write_text("def odd_name():\n    return 1\n")
    assert cqm.paths("greet", "--limit", "1") == ["src/greeting.py"]
    assert cqm.run("search", "odd_name").returncode == 0
    assert cqm.run("status", "--skipped").returncode == 0


@pytest.fixture
def terminal(cqm: "Cqm") -> "Terminal":
    return Terminal(cqm)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs `cqm` on a terminal."""

    cqm: "Cqm"

    def run(self, *arguments: str, typed: bytes = b"", **changes: str) -> str:
        """All that the terminal shows."""
        pty = pytest.importorskip("pty")
        ours, theirs = pty.openpty()
        environment = self.cqm.environment | {"TERM": "xterm-256color", "COLUMNS": "100"} | changes
        start = self.cqm.forks.start if self.cqm.forks else subprocess.Popen
        running = start(
            [self.cqm.program, *arguments],
            cwd=self.cqm.project,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.write(ours, typed)
        shown = b""
        while piece := _read(ours):
            shown += piece
        os.close(ours)
        assert running.wait() == 0
        return shown.decode("utf-8")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:
        # Linux says "input/output error" where the other end of a terminal is closed.
        return b""


def test_a_terminal_gets_colours_and_line_numbers(terminal: Terminal) -> None:
    shown = terminal.run("search", "greet")
    assert "\x1b[1;36msrc/greeting.py:" in shown
    assert "\x1b[" in shown.partition("def")[0].rpartition("\n")[2]
    assert "Indexing" in shown


def test_no_color_is_honoured(terminal: Terminal) -> None:
    terminal.cqm.run("index")
    shown = terminal.run("search", "greet", NO_COLOR="1")
    assert "src/greeting.py:" in shown
    assert "\x1b[1;36m" not in shown
    assert "\x1b[36m" not in shown


def test_json_on_a_terminal_is_plain(terminal: Terminal) -> None:
    terminal.cqm.run("index")
    assert json.loads(terminal.run("search", "greet", "--json", "--no-update"))["results"]


def test_a_file_cannot_drive_the_terminal_that_shows_it(terminal: Terminal) -> None:
    evil = terminal.cqm.project / "evil.py"
    evil.write_text("def evil():\n    return '\x1b]0;owned\x07\x1b[2J\x9b31m'\n", encoding="utf-8")
    for arguments in (("search", "evil", "--limit", "1"), ("preview", "evil.py")):
        shown = terminal.run(*arguments)
        assert "owned" in shown
        assert "\x1b]0" not in shown
        assert "\x1b[2J" not in shown
        assert "\x9b" not in shown


def lines_of(shown: str) -> list[str]:
    """The lines on a terminal, without colours."""
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip("\r") for line in shown.split("\n")]


def cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_drawn_preview_keeps_to_the_width_of_the_terminal(terminal: Terminal, columns: int) -> None:
    wide = "設定ファイルの読み込みは起動時に一度だけ行われます。" * 8
    name = "a_function_with_quite_a_long_name_" * 4
    text = f"def {name}():\n    # {wide}\n    return {'x' * 300!r}\n\n\ndef other():\n\treturn 1\n"
    (terminal.cqm.project / "wide.py").write_text(text, encoding="utf-8")
    options = ("--option", "max_tokens=64", "--option", "min_tokens=0")
    drawn = lines_of(terminal.run("preview", "wide.py", *options, COLUMNS=str(columns)))
    assert max(map(cells, drawn)) <= columns
    source = [line for line in drawn if not re.match(r"┃ +in  ", line)]
    assert "".join(source).count("読") == 8
    assert any(" other ━" in line and "function  6-7" in line for line in drawn)


@pytest.mark.row("B10")
def test_a_drawn_preview_shows_where_each_chunk_begins_and_what_it_repeats(terminal: Terminal) -> None:
    text = "".join(f"Sentence number {n} stands on a line of its own, and is long.\n" for n in range(60))
    (terminal.cqm.project / "long.txt").write_text(text)
    options = ("--strategy", "fixed", "--option", "size_tokens=256", "--option", "overlap_tokens=40")
    drawn = lines_of(terminal.run("preview", "long.txt", *options))
    chunks = terminal.cqm.json("preview", "long.txt", *options)["chunks"]
    rules = [line for line in drawn if line.startswith("┏━ ")]
    assert len(rules) == len(chunks) > 2
    for number, (rule, chunk) in enumerate(zip(rules, chunks, strict=True), 1):
        assert rule.startswith(f"┏━ {number} ")
        assert f"{chunk['start_line']}-{chunk['end_line']}  {chunk['tokens']} tokens" in rule
    first_of_second = drawn[drawn.index(rules[1]) + 1]
    assert first_of_second.startswith("┆")
    assert f"{chunks[1]['start_line']}  " in first_of_second
    assert any(line.startswith(f"{len(chunks)} chunks of ") for line in drawn)


def test_a_tree_of_chunks_is_drawn_with_each_line_once(terminal: Terminal) -> None:
    body = "".join(f"Words of part {n} go on for a while here. " for n in range(40))
    (terminal.cqm.project / "tree.md").write_text(f"# Top\n\n{body}\n\n## Below\n\n{body}\n")
    drawn = lines_of(terminal.run("preview", "tree.md", "--strategy", "hierarchical"))
    assert any(line.startswith("┏━ 1 Top") for line in drawn)
    assert any(line.startswith("  ┏━ 2 Top") for line in drawn)
    assert sum(bool(re.fullmatch(r" *┃ +1  # Top", line)) for line in drawn) == 1


def test_a_drawn_preview_without_colour_still_has_its_boundaries(terminal: Terminal) -> None:
    shown = terminal.run("preview", "src/parser.py", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)
    assert any(line.startswith("┏━ 1 ConfigParser") for line in lines_of(shown))


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("search", "--help"), ("serve", "--help")])
def test_help_and_version_load_nothing_heavy(cqm: "Cqm", arguments: tuple[str, ...]) -> None:
    assert not modules_loaded(cqm, *arguments) & HEAVY


ASKING = (
    ("search", "greet", "-n", "3"),
    ("usages", "greet"),
    ("outline", "src/greeting.py"),
    ("read", "src/greeting.py"),
    ("index",),
    ("list",),
)


def test_what_an_owner_answers_loads_nothing_heavy_where_nobody_set_anything(cqm: "Cqm") -> None:
    usual = {name: value for name, value in cqm.environment.items() if not name.startswith("CQM_")}
    cqm = replace(cqm, environment=usual)
    try:
        for arguments in ASKING:
            assert not modules_loaded(cqm, *arguments) & HEAVY, arguments
        # It tells which extra has the grammar of a language, so it knows all languages.
        assert not modules_loaded(cqm, "status") & (HEAVY - {"cqm.chunkers.languages"})
    finally:
        # The owner would stay for a minute.
        cqm.run("remove", "--yes")


def test_a_preview_loads_neither_store_nor_embedder(cqm: "Cqm") -> None:
    loaded = modules_loaded(cqm, "preview", "src/parser.py")
    assert "cqm" in loaded
    # What parses is loaded by the worker.
    assert not loaded & {"tree_sitter", "numpy", "mcp", "qdrant_edge", "openai", "ollama", "tokenizers"}


def test_the_version_is_that_of_the_package(cqm: "Cqm") -> None:
    from importlib.metadata import version

    assert cqm.run("--version").stdout == f"cqm {version('cqm-mcp')}\n"


def test_colours_are_kept_in_a_pipe_or_left_out_as_asked(cqm: "Cqm", terminal: Terminal) -> None:
    assert "\x1b[" in cqm.run("search", "greet", "--color", "always").stdout
    assert "\x1b[" not in cqm.run("search", "greet").stdout
    assert "\x1b[38" not in terminal.run("search", "greet", "--no-update", "--color", "never")


def test_the_pager_gets_what_a_terminal_would_show(terminal: Terminal) -> None:
    shown = terminal.run("search", "greet", "--pager", PAGER="sed s/greet/GREET/g")
    assert "GREET" in shown
    assert "greet (function)" not in shown


def test_serve_on_a_terminal_says_what_it_is_and_how_to_connect_a_client(terminal: Terminal) -> None:
    shown = terminal.run("serve", typed=b"\x04")  # Ctrl-D
    assert "cqm setup" in shown
    assert "cqm serve --http HOST:PORT" in shown


@pytest.fixture(params=["full disk", "reader gone"])
def unwritable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """A descriptor to which nothing can be written."""
    if request.param == "reader gone":
        ours, theirs = os.pipe()
        os.close(ours)
    else:
        try:
            # The machine's own is never touched.
            os.mknod(tmp_path / "full", 0o020600, os.makedev(1, 7))
            theirs = os.open(tmp_path / "full", os.O_WRONLY)
        except OSError:
            pytest.skip("a device can be made by nobody but root")
    yield theirs
    os.close(theirs)


FULL = "cqm: The output cannot be written: No space left on device.\n"
"""Told where the disk of the output is full, before the remedy."""


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["search", "--help"], ["list"]])
def test_help_that_cannot_be_written_ended_in_a_traceback(cqm: "Cqm", unwritable: int, words: list[str]) -> None:
    done = subprocess.run(
        [cqm.program, *words],
        cwd=cqm.project,
        env=cqm.environment,
        stdout=unwritable,
        stderr=subprocess.PIPE,
        check=False,
    )
    told = done.stderr.decode()
    assert (done.returncode, told) == (0, "") or (done.returncode, told.startswith(FULL)) == (1, True)


def test_a_command_failed_without_a_word_when_its_progress_could_not_be_written(cqm: "Cqm", unwritable: int) -> None:
    for words, code in ((["index"], 0), (["search", "greet"], 0), (["index", "--nonsense"], 2)):
        done = subprocess.run(
            [cqm.program, *words],
            cwd=cqm.project,
            env=cqm.environment,
            stdout=subprocess.PIPE,
            stderr=unwritable,
            check=False,
        )
        assert done.returncode == code
        assert bool(done.stdout) == (code == 0)
