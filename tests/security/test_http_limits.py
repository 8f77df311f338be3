"""HTTP on loopback: who gets in, and how much of the server one client can hold."""

import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from forked import Forks
from tests.security.conftest import CQM, Victim

from cqm.server.errors import ServeError
from cqm.server.mcp.http.access import access_of
from cqm.server.mcp.http.connections import MOST_CONNECTIONS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no mode there")

PATIENCE_SECONDS = 240
HANDSHAKE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
).encode()
ACCEPTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Serving:
    """A running server: what it said of itself, and where it is."""

    running: "subprocess.Popen[str]"
    port: int
    notices: list[str]

    @property
    def token(self) -> str:
        return self.notices[0].removeprefix("Authorization: Bearer ")

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)

    def ask(self, token: str = "", connection: http.client.HTTPConnection | None = None) -> int:
        """The status that a request gets, over a connection of its own unless one is given."""
        used = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            used.request("POST", "/mcp", HANDSHAKE, ACCEPTED | ({"Authorization": f"Bearer {token}"} if token else {}))
            answer = used.getresponse()
            answer.read()
            return answer.status
        finally:
            if connection is None:
                used.close()

    def memory_mb(self) -> float:
        """Return what the process has resident."""
        lines = Path(f"/proc/{self.running.pid}/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("VmRSS:")]
        return int(line.split()[1]) / 1024


@pytest.fixture
def victim(stranger: Path, tmp_path: Path, forks: Forks | None) -> Victim:
    home = tmp_path / "home"
    home.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CQM_", "XDG_"))}
    environment |= {"HOME": str(home), "CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}
    return Victim(stranger, home, environment, forks)


@contextmanager
def serving(victim: Victim, notices: int, **changes: str) -> Iterator[Serving]:
    """A server on a free port of loopback, once it has said so many lines after its address."""
    command = [CQM, "serve", "--http", "127.0.0.1:0", "--root", str(victim.project)]
    environment = victim.environment | changes
    start = victim.forks.start if victim.forks else subprocess.Popen
    with start(
        command, cwd=victim.project, env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as running:
        try:
            assert running.stderr
            address = running.stderr.readline()
            assert address.startswith("CQM serves http://"), address + running.stderr.read()
            said = [running.stderr.readline().strip() for _ in range(notices)]
            yield Serving(running, urlsplit(address.split()[-1]).port or 0, said)
        finally:
            running.kill()


def is_cut_off(connection: socket.socket) -> bool:
    """Whether the server ends a connection without an answer, before patience does."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_on_loopback_too_only_who_knows_the_token_gets_in_and_it_is_new_at_each_start(victim: Victim) -> None:
    tokens = []
    for _ in range(2):
        with serving(victim, 2) as server:
            assert server.ask() == 401
            assert server.ask("guessed") == 401
            assert server.ask(server.token) == 200
            tokens.append(server.token)
    assert tokens[0] != tokens[1]
    assert min(map(len, tokens)) >= 40


def test_a_token_is_kept_in_a_file_that_only_its_owner_reads(victim: Victim) -> None:
    kept = victim.home / "token"
    for _ in range(2):
        with serving(victim, 1, CQM_HTTP_TOKEN_FILE=str(kept)) as server:
            token = kept.read_text().strip()
            assert server.notices == [f"Its token is in {kept}."]
            assert server.ask() == 401
            assert server.ask(token) == 200
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert len(token) >= 40
    assert token == kept.read_text().strip()


@pytest.mark.parametrize("fault", ["readable by others", "a link", "a pipe", "empty"])
def test_a_file_that_others_may_have_a_hand_in_is_not_believed(tmp_path: Path, fault: str) -> None:
    kept = tmp_path / "token"
    if fault == "a pipe":
        os.mkfifo(kept, 0o600)
    else:
        written = kept.with_name("elsewhere") if fault == "a link" else kept
        written.write_text("" if fault == "empty" else "a token\n")
        written.chmod(0o644 if fault == "readable by others" else 0o600)
        if fault == "a link":
            kept.symlink_to(written)
    with pytest.raises(ServeError, match=re.escape(str(kept))):
        access_of({"CQM_HTTP_TOKEN_FILE": str(kept)}, "127.0.0.1:0", is_local=True)


def test_only_an_explicit_choice_goes_without_a_token_and_never_beyond_this_machine(victim: Victim) -> None:
    with serving(victim, 1, CQM_HTTP_TOKEN="none") as server:
        assert server.notices == ["No token guards it: every user of this machine can read the files it serves."]
        assert server.ask() == 200
    for token in ("none", ""):
        done = victim.run("serve", "--http", "0.0.0.0:0", seconds=PATIENCE_SECONDS, CQM_HTTP_TOKEN=token)
        assert done.returncode != 0
        assert "expected a token" in done.stderr


def test_a_proxy_in_front_opens_nothing_that_needs_no_token_or_a_short_one(victim: Victim) -> None:
    for token in ("none", "short"):
        command = ("serve", "--http", "127.0.0.1:0", "--set", "server.hosts=[cqm.example.org]")
        done = victim.run(*command, seconds=PATIENCE_SECONDS, CQM_HTTP_TOKEN=token)
        assert done.returncode != 0
        assert "CQM_HTTP_TOKEN" in done.stderr


@pytest.mark.parametrize("token", ["a", "fifteen letters", "tökens of a kind", "two lines\nof a long text"])
@pytest.mark.parametrize("is_in_a_file", [False, True])
def test_a_token_that_is_soon_guessed_or_that_no_header_carries_is_refused(
    tmp_path: Path, token: str, is_in_a_file: bool
) -> None:
    kept = tmp_path / "token"
    kept.write_text(token, encoding="utf-8")
    kept.chmod(0o600)
    given = {"CQM_HTTP_TOKEN_FILE": str(kept)} if is_in_a_file else {"CQM_HTTP_TOKEN": token}
    with pytest.raises(ServeError, match="CQM_HTTP_TOKEN") as refused:
        access_of(given, "0.0.0.0:0", is_local=False)
    assert refused.value.remedy
    if token == "a":
        assert access_of(given, "127.0.0.1:0", is_local=True).token == token


@pytest.mark.parametrize(
    "written", [b"\xef\xbb\xbfa long random text", b"a long random text\r\n", b" a long random text\n\n"]
)
def test_a_mark_of_the_encoding_and_the_end_of_the_line_are_no_part_of_a_token(tmp_path: Path, written: bytes) -> None:
    kept = tmp_path / "token"
    kept.write_bytes(written)
    kept.chmod(0o600)
    found = access_of({"CQM_HTTP_TOKEN_FILE": str(kept)}, "0.0.0.0:0", is_local=False)
    assert found.token == "a long random text"


def test_the_remedy_for_a_token_file_fits_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "utf-16").write_bytes("a long random text".encode("utf-16"))
    (tmp_path / "utf-16").chmod(0o600)
    remedies = {"": "CQM_HTTP_TOKEN_FILE", "none/token": "Make that folder", "utf-16": "Write the token into it"}
    for name, remedy in remedies.items():
        with pytest.raises(ServeError) as refused:
            access_of({"CQM_HTTP_TOKEN_FILE": str(tmp_path / name)}, "127.0.0.1:0", is_local=True)
        assert remedy in refused.value.remedy
        assert ("elete" in refused.value.remedy) == (name == "utf-16")


def test_sessions_are_bounded_and_the_memory_that_they_take(victim: Victim) -> None:
    with serving(victim, 2) as server:
        assert server.ask(server.token) == 200
        before = server.memory_mb()
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)) as connection:
            statuses = [server.ask(server.token, connection=connection) for _ in range(1500)]
        assert set(statuses) == {200}
        assert server.memory_mb() - before < 100


@pytest.mark.parametrize(
    "head",
    [b"content-length: 5000000\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"],
    ids=["declared", "in chunks"],
)
def test_a_large_body_is_refused(victim: Victim, head: bytes) -> None:
    with serving(victim, 2) as server, closing(server.connect()) as connection:
        lines = [b"POST /mcp HTTP/1.1", b"host: 127.0.0.1", f"authorization: Bearer {server.token}".encode()]
        connection.sendall(b"\r\n".join([*lines, head]))
        if b"chunked" in head:
            for _ in range(5):
                connection.sendall(b"f4240\r\n" + b" " * 1_000_000 + b"\r\n")
        assert connection.recv(12) == b"HTTP/1.1 413"


def test_who_sends_half_a_request_is_cut_off_and_others_are_served_meanwhile(victim: Victim) -> None:
    post = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    body = b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
    with serving(victim, 2) as server, ExitStack() as stack:
        bearer = f"authorization: Bearer {server.token}\r\n".encode()
        halves = [b"", b"POST", post, post + bearer + body, post + bearer + body.replace(b"100", b"4000000")]
        opened = [stack.enter_context(closing(server.connect())) for _ in halves]
        for connection, half in zip(opened, halves, strict=True):
            connection.sendall(half)
        assert server.ask(server.token) == 200
        assert all(map(is_cut_off, opened))
        assert server.ask(server.token) == 200
        server.running.terminate()
        assert server.running.wait(PATIENCE_SECONDS) == 0
        assert server.running.stderr
        assert "Traceback" not in server.running.stderr.read()


def test_bad_requests_of_strangers_fill_no_log(victim: Victim) -> None:
    """A server stood still once nobody read what it wrote of them on standard error."""
    with serving(victim, 2) as server:
        for _ in range(2000):
            with closing(server.connect()) as connection:
                connection.sendall(b"\0\r\n\r\n")
                assert connection.recv(12) == b"HTTP/1.1 400"
        assert server.ask(server.token) == 200


def test_who_sends_a_byte_at_a_time_is_cut_off(victim: Victim) -> None:
    """A byte now and then kept a connection open for ever; so did one after the refusal of its request."""
    head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100000000\r\n\r\n"
    with serving(victim, 2) as server, closing(server.connect()) as slow, closing(server.connect()) as refused_one:
        refused_one.sendall(head)
        assert refused_one.recv(12) == b"HTTP/1.1 401"
        slow.settimeout(0.2)
        refused_one.settimeout(0.2)
        for connection, byte in ((slow, b"P"), (refused_one, b"{")):
            with pytest.raises(ConnectionError):
                _send_for_ever(connection, byte)


def _send_for_ever(connection: socket.socket, byte: bytes) -> None:
    """Send a byte whenever the server has said nothing for a moment."""
    while True:
        connection.sendall(byte)
        try:
            if not connection.recv(4096):
                raise ConnectionResetError
        except TimeoutError:
            continue


def test_many_connections_shut_nobody_out(victim: Victim) -> None:
    with serving(victim, 2) as server, ExitStack() as stack:
        opened = [stack.enter_context(closing(server.connect())) for _ in range(MOST_CONNECTIONS * 2)]
        assert server.ask(server.token) == 200
        folder = Path(f"/proc/{server.running.pid}/fd")
        if folder.exists():
            sockets = [link for link in folder.iterdir() if _target(link).startswith("socket:")]
            assert len(sockets) < MOST_CONNECTIONS + 20
        assert is_cut_off(opened[0])


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""
