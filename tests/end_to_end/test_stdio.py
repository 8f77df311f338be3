"""A real `cqm serve` in a process of its own, spoken to over its standard input and output."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

pytestmark = pytest.mark.anyio
FORKED = pytest.mark.usefixtures("forked_programs")
"""For tests of a conversation; a few others are of a start, or of what is written at the very end."""

COMMAND = str(Path(sys.executable).with_name("cqm"))
PATIENCE_SECONDS = 240
CODE = 'def limit_retries(attempts):\n    """Whether another attempt may be made."""\n    return attempts < 5\n'

NOISY = """
import ctypes, os, sys
from pathlib import Path
from cqm.server.mcp.app import make_server
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.config.settings import load_settings
from cqm.server.mcp.stdio import serve_stdio

server = make_server(load_settings(), make_guard([Path(sys.argv[1])]))

@server.tool()
def noisy() -> str:
    print("stray line")
    print("stray line, buffered to the end", end="")
    os.write(1, b"stray bytes\\n")
    ctypes.CDLL(None).puts(b"stray line of a C library")
    os.system("echo stray line of a child")
    return "done"

serve_stdio(server)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "limits.py").write_text(CODE)
    return root


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "CQM_INDEX_HOME": str(tmp_path / "indexes"),
        "CQM_EMBEDDING_PROVIDER": "none",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@contextmanager
def process(command: list[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A server whose streams the test holds itself; killed at the end if it still runs."""
    with subprocess.Popen(
        command,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def ask(running: "subprocess.Popen[bytes]", method: str, params: dict[str, Any], number: int) -> dict[str, Any]:
    """Send a request and read lines until its answer; every line has to be protocol."""
    assert running.stdin
    assert running.stdout
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    running.stdin.write(json.dumps(request).encode() + b"\n")
    running.stdin.flush()
    while True:
        message = parsed(running.stdout.readline())
        if message.get("id") == number:
            return message


def parsed(line: bytes) -> dict[str, Any]:
    message = json.loads(line)
    assert message["jsonrpc"] == "2.0"
    assert {"id", "method"} & message.keys()
    return dict(message)


def shake_hands(running: "subprocess.Popen[bytes]") -> None:
    client = {"name": "test", "version": "1"}
    ask(running, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}, 1)
    assert running.stdin
    running.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    running.stdin.flush()


def call(running: "subprocess.Popen[bytes]", tool: str, number: int, **arguments: Any) -> str:
    answer = ask(running, "tools/call", {"name": tool, "arguments": arguments}, number)["result"]
    assert not answer.get("isError"), answer
    return str(answer["content"][0]["text"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_calls_every_tool(project: Path, environment: dict[str, str], mode: str) -> None:
    server = StdioServerParameters(command=COMMAND, args=["serve", "--root", str(project)], env=environment)
    async with Client(server, mode=mode) as client:
        texts = []
        for tool, arguments in (
            ("index_path", {}),
            ("search", {"query": "limit_retries"}),
            ("chunk_preview", {"path": "limits.py"}),
            ("index_status", {}),
            ("usages", {"name": "limit_retries"}),
            ("outline", {}),
            ("read", {"what": "limit_retries"}),
        ):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            assert isinstance(result.content[0], TextContent)
            texts.append(result.content[0].text)
    assert "1 added" in texts[0]
    assert "return attempts < 5" in texts[1]
    assert "limit_retries" in texts[2]
    assert "1 indexed" in texts[3]
    assert "limit_retries: 1 definition" in texts[4]
    assert "limits.py  1 of 1 symbol" in texts[5]
    assert "limit_retries (function), of " in texts[6]


def test_the_working_folder_is_served_when_no_root_is_given(project: Path, environment: dict[str, str]) -> None:
    command = ["sh", "-c", 'cd "$0" && exec "$1" serve', str(project), COMMAND]
    with process(command, environment) as running:
        shake_hands(running)
        assert "limits.py:" in call(running, "search", 2, query="limit_retries")


def test_a_broken_file_of_the_project_is_told_in_each_call_until_it_is_mended(
    project: Path, environment: dict[str, str]
) -> None:
    """The server ended before the handshake, of which clients show no reason."""
    settings = project / "cqm.yml"
    settings.write_text("search:\n  limits: 5\n")
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        for number, tool in enumerate(("index_status", "search"), 2):
            asked = {"name": tool, "arguments": {"query": "limit_retries"} if tool == "search" else {}}
            answer = ask(running, "tools/call", asked, number)["result"]
            assert answer["isError"]
            assert f'{settings}:2: unknown option "search.limits"' in answer["content"][0]["text"]
        settings.unlink()
        assert "limits.py:" in call(running, "search", 4, query="limit_retries")


@FORKED
@pytest.mark.parametrize(
    ("arguments", "own", "told"),
    [
        (["--rot", "x"], "", "No such option '--rot'. Did you mean '--root'?"),
        (["--root", ""], "", "Path '' does not exist"),
        (["--set", "search.limt=3"], "", 'unknown option "search.limt"'),
        ([], "serach: {}\n", 'cqm.yml:1: unknown option "serach"'),
    ],
    ids=["option", "root", "setting", "file of the user"],
)
def test_a_server_that_was_started_wrongly_ended_before_its_client_could_show_why(
    project: Path, environment: dict[str, str], arguments: list[str], own: str, told: str
) -> None:
    if own:
        user = Path(environment["XDG_CONFIG_HOME"]) / "cqm" / "cqm.yml"
        user.parent.mkdir(parents=True, exist_ok=True)
        user.write_text(own)
    with process([COMMAND, "serve", *arguments], environment) as running:
        shake_hands(running)
        assert len(ask(running, "tools/list", {}, 2)["result"]["tools"]) > 5
        asked = {"name": "search", "arguments": {"query": "limit_retries"}}
        answer = ask(running, "tools/call", asked, 3)["result"]
        assert answer["isError"]
        assert told in answer["content"][0]["text"]
        assert running.stdin
        running.stdin.close()
        assert running.wait(PATIENCE_SECONDS) == 2
        assert running.stderr
        assert told in running.stderr.read().decode()


@FORKED
def test_a_root_that_is_missing_at_the_start_is_told_and_served_when_it_comes(
    project: Path, environment: dict[str, str]
) -> None:
    away = project.with_name("away")
    project.rename(away)
    with process([COMMAND, "serve", "--root", f"~/../{project.name}"], environment | {"HOME": str(away)}) as running:
        shake_hands(running)
        asked = {"name": "search", "arguments": {"query": "limit_retries"}}
        answer = ask(running, "tools/call", asked, 2)["result"]
        assert answer["isError"]
        assert f"/{project.name} that is served does not exist" in answer["content"][0]["text"]
        away.rename(project)
        assert "limits.py:" in call(running, "search", 3, query="limit_retries")


def test_nothing_but_protocol_goes_out_whatever_prints(project: Path, environment: dict[str, str]) -> None:
    with process([sys.executable, "-c", NOISY, str(project)], environment) as running:
        shake_hands(running)
        assert call(running, "noisy", 2) == "done"
        assert "limits.py:" in call(running, "search", 3, query="limit_retries")
        output, errors = running.communicate(timeout=PATIENCE_SECONDS)
    assert [parsed(line) for line in output.splitlines()] == []
    assert errors.count(b"stray") == 5
    assert running.returncode == 0


@FORKED
def test_a_line_that_is_no_message_is_answered_and_the_server_goes_on(
    project: Path, environment: dict[str, str]
) -> None:
    lines = (b"{broken", b"", b"[]", b'"text"', b"\xff{}", b'{"id": 7, "method": "ping"}')
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        running.stdin.write(b"\n".join(lines) + b"\n")
        running.stdin.flush()
        answers = [parsed(running.stdout.readline()) for _ in range(5)]
        codes = [(it["id"], it["error"]["code"]) for it in answers]
        assert codes == [(None, -32700), (None, -32600), (None, -32600), (None, -32700), (7, -32600)]
        assert ask(running, "nosuch/method", {}, 2)["error"]["code"] == -32601
        unknown = ask(running, "tools/call", {"name": "serch", "arguments": {}}, 3)["error"]
        assert (unknown["code"], "There are search, usages, " in unknown["message"]) == (-32602, True)


@FORKED
def test_a_request_whose_id_is_none_was_never_answered(project: Path, environment: dict[str, str]) -> None:
    ids = ('{"a": 1}', "null", "1e400", "1.5", "true", "[1]")
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        for number, odd in enumerate(ids, 2):
            running.stdin.write(f'{{"jsonrpc": "2.0", "id" : {odd}, "method": "ping"}}\n'.encode())
            running.stdin.flush()
            refused = parsed(running.stdout.readline())
            assert (refused["id"], refused["error"]["code"]) == (None, -32600)
            assert call(running, "search", number, query='limit_retries "id": null')


@FORKED
def test_a_request_with_half_an_emoji_got_an_answer_without_its_id(project: Path, environment: dict[str, str]) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        for number, cut in enumerate((r"\ud83d", r"\uDE00", r"\ud83d\ud83d\ude00", r"\\\ud83d"), 2):
            arguments = f'{{"name": "search", "arguments": {{"query": "limit_retries {cut}"}}}}'
            line = f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {arguments}}}\n'
            running.stdin.write(line.encode())
            running.stdin.flush()
            answered = parsed(running.stdout.readline())
            assert answered["id"] == number
            assert "limits.py" in str(answered["result"])


@FORKED
def test_a_client_may_send_hundreds_of_long_requests_before_it_reads_a_reply(
    project: Path, environment: dict[str, str]
) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        for number in range(2, 302):
            long = {"id": number, "method": "tools/list", "params": {"_meta": {"note": "x" * 10_000}}}
            running.stdin.write(json.dumps({"jsonrpc": "2.0", **long}).encode() + b"\n")
        running.stdin.flush()
        answers = [parsed(running.stdout.readline()) for _ in range(300)]
    assert {it["id"] for it in answers} == set(range(2, 302))
    assert all(len(it["result"]["tools"]) > 5 for it in answers)


@pytest.mark.skipif(sys.platform == "win32", reason="the SDK reads standard input there")
def test_requests_may_come_from_a_file_and_replies_go_to_one(project: Path, environment: dict[str, str]) -> None:
    told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "file", "version": "1"}}
    asked = project.parent / "asked.jsonl"
    begun = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": told}
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    messages = [begun, notice, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    asked.write_text("\n".join(map(json.dumps, messages)))
    with asked.open("rb") as requests, (project.parent / "said.jsonl").open("wb") as replies:
        command = [COMMAND, "serve", "--root", str(project)]
        done = subprocess.run(
            command, env=environment, stdin=requests, stdout=replies, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
    first, second = map(parsed, (project.parent / "said.jsonl").read_bytes().splitlines())
    assert (first["result"]["serverInfo"]["name"], second["id"]) == ("cqm", 2)
    assert "search" in {tool["name"] for tool in second["result"]["tools"]}


@FORKED
@pytest.mark.skipif(sys.platform == "win32", reason="the SDK reads standard input there")
def test_a_client_that_asks_no_more_still_gets_all_answers(project: Path, environment: dict[str, str]) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        # The first search makes the index, which takes far longer than an answer from it.
        first = {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "limit_retries"}}}
        further = [{"id": 3, "method": "tools/list"}, {"id": "last", "method": "ping"}]
        lines = [json.dumps({"jsonrpc": "2.0", **it}).encode() + b"\n" for it in (first, *further)]
        output, errors = running.communicate(b"".join(lines), timeout=PATIENCE_SECONDS)
        assert (running.wait(PATIENCE_SECONDS), errors) == (0, b"")
    answers = {it["id"]: it["result"] for it in map(parsed, output.splitlines())}
    assert answers.keys() == {2, 3, "last"}
    assert "limit_retries" in answers[2]["content"][0]["text"]


@FORKED
@pytest.mark.skipif(sys.platform == "win32", reason="the SDK reads standard input there")
@pytest.mark.parametrize("leaves", ["cancels", "reads no more", "is told to end"])
def test_an_answer_that_nobody_waits_for_does_not_keep_it(
    project: Path, environment: dict[str, str], leaves: str
) -> None:
    for module in range(750):
        (project / f"module_{module}.py").write_text(CODE.replace("limit", f"limit_{module}"))
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        long = {"name": "index_path", "arguments": {"wait_seconds": 240}}
        requests = [{"id": 2, "method": "tools/call", "params": long}]
        if leaves == "cancels":
            requests.append({"method": "notifications/cancelled", "params": {"requestId": 2}})
        running.stdin.writelines(json.dumps({"jsonrpc": "2.0", **it}).encode() + b"\n" for it in requests)
        running.stdin.close()
        if leaves == "is told to end":
            running.send_signal(signal.SIGTERM)
        if leaves == "reads no more":
            running.stdout.close()
        else:
            assert b'"result"' not in running.stdout.read()
        assert running.wait(PATIENCE_SECONDS) == 0


@FORKED
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_ends_it_although_its_client_reads_nothing(project: Path, environment: dict[str, str]) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        for number in range(2, 32):
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
            running.stdin.write(json.dumps(request).encode() + b"\n")
        running.stdin.flush()
        # The first bytes are there, and far more than a pipe holds is not.
        running.stdout.read(1)
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE_SECONDS) == 0


@FORKED
def test_it_ends_when_the_client_leaves(project: Path, environment: dict[str, str]) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        call(running, "search", 2, query="limit_retries")
        output, errors = running.communicate(timeout=PATIENCE_SECONDS)
    assert (running.returncode, output, errors) == (0, b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="there the SDK writes")
def test_it_ends_in_order_when_the_client_reads_no_more(project: Path, environment: dict[str, str]) -> None:
    with process([COMMAND, "serve", "--root", str(project)], environment) as running:
        shake_hands(running)
        assert running.stdin
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        running.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}\n')
        running.stdin.flush()
        assert running.wait(PATIENCE_SECONDS) == 0
        assert running.stderr.read() == b""


@FORKED
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_in_the_middle_of_indexing(
    project: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    for module in range(750):
        (project / f"module_{module}.py").write_text(CODE.replace("limit", f"limit_{module}"))
    command = [COMMAND, "serve", "--root", str(project)]
    with process(command, environment) as running:
        shake_hands(running)
        assert "goes on" in call(running, "index_path", 2, wait_seconds=0)
        running.send_signal(number)
        assert running.stdout
        assert running.stderr
        rest, errors = running.stdout.read(), running.stderr.read()
        assert running.wait(PATIENCE_SECONDS) == 0
    assert [parsed(line) for line in rest.splitlines()] == []
    assert errors == b""
    with process(command, environment) as running:
        shake_hands(running)
        assert "751 files" in call(running, "search", 2, query="limit_7_retries", wait_seconds=120)


@FORKED
def test_a_second_server_answers_from_the_same_index(project: Path, environment: dict[str, str]) -> None:
    command = [COMMAND, "serve", "--root", str(project)]
    with process(command, environment) as first, process(command, environment) as second:
        shake_hands(first)
        call(first, "index_path", 2)
        shake_hands(second)
        assert "limits.py:" in call(second, "search", 2, query="limit_retries")
        assert "1 indexed" in call(first, "index_status", 3)
        assert "changes are indexed as they happen" in call(second, "index_status", 3)


@FORKED
def test_a_second_server_on_an_index_that_is_not_shared_says_whose_it_is(
    project: Path, environment: dict[str, str]
) -> None:
    environment["CQM_INDEX_SHARED"] = "false"
    command = [COMMAND, "serve", "--root", str(project)]
    with process(command, environment) as first, process(command, environment) as second:
        shake_hands(first)
        call(first, "index_path", 2)
        shake_hands(second)
        params = {"name": "search", "arguments": {"query": "limit_retries"}}
        answer = ask(second, "tools/call", params, 2)["result"]
        assert answer["isError"]
        assert f"process {first.pid}" in answer["content"][0]["text"]
        status = call(second, "index_status", 3)
        assert "1 indexed" in status
        assert f"process {first.pid}" in status
