"""The server over streamable HTTP: who gets in, who doesn't, how it starts and ends."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import TextContent
from uvicorn import Config
from uvicorn.server import ServerState

from cqm.server.mcp.http.connections import BoundedConnection
from cqm.server.mcp.http.sessions import MOST_BUSY_SESSIONS, MOST_SESSIONS

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

COMMAND = str(Path(sys.executable).with_name("cqm"))
PATIENCE_SECONDS = 240
TOKEN = "a long random text"
SENT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HANDSHAKE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"test","version":"1"}}}'
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / "limits.py").write_text("def limit_retries(attempts):\n    return attempts < 5\n")
    return root


@contextmanager
def serving(
    project: Path, address: str, token: str = "none", *more: str
) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    """A server process and its URL."""
    environment = os.environ | {
        "CQM_INDEX_HOME": str(project.parent / "indexes"),
        "CQM_EMBEDDING_PROVIDER": "none",
        "XDG_CONFIG_HOME": str(project.parent),
        "CQM_HTTP_TOKEN": token,
    }
    command = [COMMAND, "serve", "--http", address, "--root", str(project), *more]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr
            line = running.stderr.readline()
            assert line.startswith("CQM serves http://"), line + running.stderr.read()
            yield running, line.removeprefix("CQM serves ").strip()
        finally:
            running.kill()


def status_of(url: str, **headers: str) -> int:
    """The HTTP status that a handshake with these headers gets."""
    return answer_of(url, **headers)[0]


def answer_of(url: str, **headers: str) -> tuple[int, str]:
    """The HTTP status and the text that a handshake with these headers gets."""
    place = urlsplit(url)
    assert place.hostname
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", place.path, HANDSHAKE, SENT | headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


async def searched(client: Client, query: str) -> str:
    result = await client.call_tool("search", {"query": query})
    assert not result.is_error, result.content
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.anyio
async def test_clients_of_both_revisions_share_one_index_at_once(project: Path) -> None:
    replies: list[str] = []
    with serving(project, "127.0.0.1:0") as (_, url):

        async def one_client(mode: str) -> None:
            async with Client(url, mode=mode) as client:
                replies.extend([await searched(client, "limit_retries") for _ in range(5)])

        async with anyio.create_task_group() as tasks:
            for mode in ("legacy", "auto") * 4:
                tasks.start_soon(one_client, mode)
    assert len(replies) == 40
    assert all("limits.py:1-2" in reply for reply in replies)


def test_a_local_server_refuses_what_a_web_page_could_send(project: Path) -> None:
    with serving(project, "127.0.0.1:0") as (_, url):
        assert status_of(url) == 200
        for status, strange in ((421, {"Host": "evil.example:8000"}), (403, {"Origin": "https://evil.example"})):
            told, text = answer_of(url, **strange)
            assert told == status
            assert "evil.example" in text
            assert "server.hosts" in json.loads(text)["error"]["message"]
        assert status_of(url, Origin="null") == 403


@pytest.mark.parametrize("host", ["LocalHost:8765", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_names_of_this_machine_count_in_any_case_and_without_a_port(project: Path, host: str) -> None:
    with serving(project, "127.0.0.1:0") as (_, url):
        assert status_of(url, Host=host, Origin=f"http://{host}") == 200


def test_names_that_a_proxy_keeps_are_those_of_the_users_own_option(project: Path) -> None:
    option = ("--set", "server.hosts=[cqm.example.org]")
    token = {"Authorization": f"Bearer {TOKEN}"}
    with (
        serving(project, "127.0.0.1:0", TOKEN, *option) as (_, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as browser,
    ):
        assert status_of(url, Host="CQM.example.org", Origin="https://cqm.example.org", **token) == 200
        assert status_of(url, Host="other.example.org", **token) == 421
        assert browser.get("/", params={"token": TOKEN}, headers={"Host": "cqm.example.org"}).status_code == 200


def test_an_address_that_others_reach_is_refused_without_a_token(project: Path) -> None:
    command = [COMMAND, "serve", "--http", "0.0.0.0:0", "--root", str(project)]
    environment = {key: value for key, value in os.environ.items() if key != "CQM_HTTP_TOKEN"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode != 0
    assert "CQM_HTTP_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.anyio
async def test_no_part_of_an_answer_waits_for_an_acknowledgement() -> None:
    """Each answer of a kept connection took 40 ms longer."""

    async def unused(_scope: object, _receive: object, _send: object) -> None:
        raise AssertionError

    config, state = Config(unused, http=BoundedConnection, log_config=None), ServerState()
    made = await asyncio.get_running_loop().create_server(
        lambda: BoundedConnection(config, state, {}), sock=socket.create_server(("127.0.0.1", 0))
    )
    async with made:
        reader, writer = await asyncio.open_connection(*made.sockets[0].getsockname())
        while not state.connections:
            await anyio.lowlevel.checkpoint()
        [connection] = state.connections
        option = connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    assert option == 1


@pytest.mark.anyio
@pytest.mark.parametrize("address", ["0.0.0.0:0", "127.0.0.1:0"])
async def test_with_a_token_only_those_get_in_who_bring_it(project: Path, address: str) -> None:
    with serving(project, address, TOKEN) as (_, told):
        url = told.replace("0.0.0.0", "127.0.0.1")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
            status, text = answer_of(url, **headers)
            assert status == 401
            assert "CQM_HTTP_TOKEN" in json.loads(text)["error"]["message"]
        assert status_of(url, Authorization=f"Bearer {TOKEN}") == 200
        assert status_of(url, Authorization=f"bearer  {TOKEN}") == 200
        async with (
            create_mcp_http_client({"Authorization": f"Bearer {TOKEN}"}) as bearer,
            Client(streamable_http_client(url, http_client=bearer)) as client,
        ):
            assert "limits.py:" in await searched(client, "limit_retries")


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1:99999", ":8000", "no.such.host.invalid:8000"])
def test_an_address_that_cannot_be_served_is_explained(project: Path, address: str) -> None:
    command = [COMMAND, "serve", "--http", address, "--root", str(project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode != 0
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_in_use_is_explained(project: Path) -> None:
    with serving(project, "127.0.0.1:0") as (_, url):
        command = [COMMAND, "serve", "--http", f"127.0.0.1:{urlsplit(url).port}", "--root", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode != 0
    assert "Choose another port" in done.stderr


def test_those_who_run_it_ask_for_health_and_counts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CQM_SERVER_LOG_FORMAT", "json")
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    async def counts_after_a_search() -> str:
        async with (
            create_mcp_http_client(bearer) as known,
            Client(streamable_http_client(url, http_client=known)) as client,
        ):
            await searched(client, "limit_retries")
            return (await known.get(url.replace("/mcp", "/metrics"))).text

    with (
        serving(project, "127.0.0.1:0", TOKEN) as (running, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as asked,
    ):
        shown = anyio.run(counts_after_a_search)
        assert (asked.get("/healthz").status_code, asked.get("/healthz").content) == (200, b"")
        assert asked.post("/healthz").status_code == 405
        assert asked.get("/metrics").status_code == 401
        assert asked.post("/metrics", headers=bearer).status_code == 405
        assert asked.get("/metrics", headers=bearer | {"Origin": "https://evil.example"}).status_code == 403
        assert asked.get("/metrics", headers=bearer | {"Host": "evil.example:80"}).status_code == 421
        running.terminate()
        assert running.stderr
        logged = [json.loads(line) for line in running.stderr if line.startswith("{")]
    samples = dict(line.rsplit(" ", 1) for line in shown.splitlines() if not line.startswith("#"))
    assert samples['cqm_calls_total{tool="search",outcome="answered"}'] == "1"
    assert samples['cqm_call_seconds_bucket{tool="search",le="+Inf"}'] == "1"
    assert (samples["cqm_indexes_open"], samples["cqm_chunks"], samples['cqm_files{state="indexed"}']) == ("1",) * 3
    assert float(samples["process_cpu_seconds_total"]) > 0
    assert "limit" not in shown
    calls = [line for line in logged if line["logger"] == "cqm.calls"]
    assert [(line["tool"], line["failed"], line["level"]) for line in calls] == [("search", False, "INFO")]
    assert "limit_retries" not in str(logged)


def test_people_get_in_by_a_link_beside_the_clients(project: Path) -> None:
    with (
        serving(project, "127.0.0.1:0", TOKEN) as (_, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as browser,
    ):
        refused = browser.get("/", params={"token": "wrong"})
        assert refused.status_code == 403
        assert "cqm serve --http" in refused.text
        assert "cqm ui" not in refused.text
        welcome = browser.get("/", params={"token": TOKEN})
        pages = welcome.headers["refresh"].partition("url=")[2]
        # The first index may not be complete yet.
        end = time.monotonic() + PATIENCE_SECONDS
        while (shown := browser.get(f"{pages}file", params={"path": "limits.py"})).status_code == 404:
            assert time.monotonic() < end, shown.text
        assert "limit_retries" in shown.text
        assert status_of(url, Authorization=f"Bearer {TOKEN}") == 200


def begun(asked: httpx.Client) -> dict[str, str]:
    """Headers of a session that was begun."""
    answer = asked.post("/mcp", content=HANDSHAKE, headers=SENT)
    assert answer.status_code == 200, answer.text
    return SENT | {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


def pinged(asked: httpx.Client, session: dict[str, str]) -> int:
    return asked.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=session).status_code


@pytest.mark.parametrize("half", [rb"\ud83d", rb"\uDE00", rb"\\\ud83d"])
def test_a_request_with_half_of_an_emoji_is_answered(project: Path, half: bytes) -> None:
    call = (
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":'
        b'{"query":"limit_retries ' + half + b' and \\ud83d \\u00e9"}}}'
    )
    with (
        serving(project, "127.0.0.1:0") as (_, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as asked,
    ):
        answer = asked.post("/mcp", content=call, headers=begun(asked))
    assert answer.status_code == 200, answer.text
    assert "limits.py" in answer.text


def test_the_session_without_a_stream_that_is_idle_for_longest_makes_room_for_a_new_one(project: Path) -> None:
    with (
        serving(project, "127.0.0.1:0") as (_, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as asked,
    ):
        listening, idle, used = begun(asked), begun(asked), begun(asked)
        with asked.stream("GET", "/mcp", headers=listening) as stream:
            assert stream.status_code == 200
            for _ in range(MOST_SESSIONS - 3):
                begun(asked)
            assert pinged(asked, used) == 200
            last = begun(asked)
            assert pinged(asked, idle) == 404
            for session in (listening, used, last):
                assert pinged(asked, session) == 200


def test_where_no_session_can_end_a_new_one_is_told_when_to_try_again(project: Path) -> None:
    with (
        serving(project, "127.0.0.1:0") as (running, url),
        httpx.Client(
            base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS, limits=httpx.Limits(max_connections=None)
        ) as asked,
        ExitStack() as streams,
    ):
        for _ in range(MOST_BUSY_SESSIONS):
            streams.enter_context(asked.stream("GET", "/mcp", headers=begun(asked)))
        answer = asked.post("/mcp", content=HANDSHAKE, headers=SENT)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert "Close clients" in answer.json()["error"]["message"]
        assert running.stderr
        assert any("A client was refused (503)" in line for line in running.stderr)


def test_a_stream_that_shall_go_on_from_an_event_begins_anew_or_waits_for_the_open_one(project: Path) -> None:
    with (
        serving(project, "127.0.0.1:0") as (_, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as asked,
    ):
        resumed = begun(asked) | {"Last-Event-ID": "5"}
        with asked.stream("GET", "/mcp", headers=resumed) as stream:
            assert stream.status_code == 200
            assert asked.get("/mcp", headers=resumed).status_code == 409


@pytest.mark.parametrize(("token", "link"), [("none", "/."), (TOKEN, "/?token=TOKEN, with that token.")])
def test_people_are_told_the_address_that_lets_them_in(project: Path, token: str, link: str) -> None:
    with serving(project, "127.0.0.1:0", token) as (running, url):
        assert running.stderr
        line = next(line for line in running.stderr if line.startswith("People"))
        assert line == f"People open {url.removesuffix('/mcp')}{link}\n"
        if token == "none":
            assert httpx.get(url.removesuffix("mcp"), timeout=PATIENCE_SECONDS).status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_ends_open_streams_without_a_word_of_faults(project: Path) -> None:
    with (
        serving(project, "127.0.0.1:0", TOKEN) as (running, url),
        httpx.Client(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_SECONDS) as asked,
    ):
        asked.headers["Authorization"] = f"Bearer {TOKEN}"
        with asked.stream("GET", "/mcp", headers=begun(asked)) as stream:
            running.terminate()
            assert running.stderr
            said = running.stderr.read()
            assert list(stream.iter_raw()) == []
        assert running.wait(PATIENCE_SECONDS) == 0
    assert said.splitlines()[1:] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(project: Path, number: signal.Signals) -> None:
    with serving(project, "127.0.0.1:0", TOKEN) as (running, url):
        assert status_of(url, Authorization=f"Bearer {TOKEN}") == 200
        running.send_signal(number)
        assert running.wait(PATIENCE_SECONDS) == 0
        assert running.stderr
        assert [line for line in running.stderr if not line.startswith("People open ")] == []
