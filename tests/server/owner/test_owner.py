"""The owner of an index: who reaches it, what it bears, when it ends."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from scripted_server import Reply, Request, ScriptedServer

from cqm.index.disk.locations import owner_folder
from cqm.index.engine import Index
from cqm.index.model.errors import IndexInUseError, StoreError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.query import Query
from cqm.server.errors import SharingError
from cqm.server.owner.messages import this_build
from cqm.server.watching.followed_index import FollowedIndex

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

OVER_TCP = """
import sys
from pathlib import Path
from cqm.server.owner.process import own
own(Path(sys.argv[1]), over_tcp=True)
"""


@contextmanager
def connection(place: "Place") -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as raw:
        raw.settimeout(60)
        raw.connect(place.address["path"])
        yield raw


def test_the_socket_is_its_users_alone(place: "Place") -> None:
    with place.open():
        path = Path(place.address["path"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE((place.folder / "owner.address").stat().st_mode) == 0o600


def test_an_owner_loads_nothing_that_parses(place: "Place") -> None:
    """It would take the time at each start, and the memory as long as an owner stays: workers parse."""
    script = (
        "import sys; from pathlib import Path; from cqm.server.owner import connection, process, session\n"
        "from cqm.index import EmbeddingOptions, IndexOptions, Query\n"
        "options = IndexOptions(home=Path(sys.argv[2]), workers=1, embedding=EmbeddingOptions(provider='none'))\n"
        "with session.FollowedIndex.open(Path(sys.argv[1]), options) as index:\n"
        "    index.update(); assert index.search(Query('compute')).hits; index.usages('compute_1')\n"
        "print(*{'cqm.chunkers.chunking', 'cqm.chunkers.registry', 'tree_sitter'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", script, str(place.root), str(place.options.home)]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip() == ""


def test_an_owner_ends_when_nobody_has_come_for_a_while_and_leaves_nothing(place: "Place") -> None:
    with place.open(idle_seconds=0.2) as index:
        index.update()
        path = Path(place.address["path"])
    place.wait_for_end()
    assert not path.exists()
    assert not (place.folder / "owner.address").exists()
    with Index.open(place.root, place.options) as alone:
        assert alone.status().complete


def test_an_owner_stays_as_long_as_somebody_is_there(place: "Place") -> None:
    with place.open(idle_seconds=0) as index:
        owner = place.owner
        with place.open(idle_seconds=0):
            pass
        index.update()
        assert place.owner == owner


@pytest.fixture
def beside(place: "Place", tmp_path: Path) -> "Place":
    """Another tree of the same user."""
    shutil.copytree(place.root, tmp_path / "beside")
    return replace(place, root=(tmp_path / "beside").resolve())


def test_one_process_owns_all_indexes_of_a_user(place: "Place", beside: "Place") -> None:
    with place.open() as index, beside.open(idle_seconds=0) as other:
        assert place.owner == beside.owner
        assert (index.update().added, other.update().added) == (3, 3)
        other.close()
        beside.wait_for_end()
        assert index.search(Query("compute_1")).hits
        with beside.open() as again:
            assert place.owner == beside.owner
            assert again.search(Query("compute_1")).hits


def test_all_indexes_of_a_killed_process_are_owned_by_one_again(place: "Place", beside: "Place") -> None:
    with place.open() as index, beside.open() as other:
        index.update()
        other.update()
        place.kill()
        assert index.search(Query("compute_1")).hits
        assert other.search(Query("compute_1")).hits
        assert place.owner == beside.owner


def test_an_index_that_rested_answers_and_is_updated(place: "Place") -> None:
    with FollowedIndex.open(place.root, place.options) as index:
        index.update()
        index.rest(0.0)
        assert index.search(Query("compute_1")).hits
        index.rest(0.0)
        (place.root / "module_9.py").write_text("def compute_9():\n    return 9\n")
        assert index.update().added == 1
        assert index.search(Query("compute_9")).hits[0].path == "module_9.py"


def test_the_process_of_all_indexes_ends_with_the_last_of_them(place: "Place", beside: "Place") -> None:
    with place.open(idle_seconds=0), beside.open(idle_seconds=0):
        pass
    place.wait_for_end()
    beside.wait_for_end()
    with FileLock(owner_folder(place.options) / "owner.lock", timeout=60):
        assert not (owner_folder(place.options) / "owner.address").exists()


def test_without_a_folder_for_all_each_index_has_a_process(place: "Place", beside: "Place") -> None:
    place.options.home.mkdir()
    owner_folder(place.options).write_text("in the place of the folder")
    with place.open() as index, beside.open() as other:
        assert (index.update().added, other.update().added) == (3, 3)
        assert place.owner != beside.owner


def test_an_index_that_cannot_be_owned_is_refused_and_the_others_go_on(place: "Place", beside: "Place") -> None:
    with place.open() as index:
        (beside.folder / "owner.lock").mkdir(parents=True)
        with pytest.raises(StoreError, match=r"The lock in .* cannot be taken"):
            beside.open()
        assert index.update().added == 3


def test_a_socket_that_a_killed_owner_left_is_nobodys(place: "Place") -> None:
    with place.open() as index:
        index.update()
    place.kill()
    left = Path(place.address["path"])
    assert left.exists()
    # The folder may be one that others of this user's programs use too.
    with (
        NamedTemporaryFile(dir=left.parent, prefix="some-file-") as file,
        TemporaryDirectory(dir=left.parent, prefix="some-folder-") as folder,
    ):
        with place.open() as index:
            assert index.search(Query("compute_1")).hits
            assert not left.exists()
        assert Path(file.name).is_file()
        assert Path(folder).is_dir()


def test_sockets_of_indexes_that_are_gone_do_not_pile_up(place: "Place", tmp_path: Path) -> None:
    with place.open() as index:
        index.update()
    place.kill()
    left = Path(place.address["path"])
    another = replace(place, options=replace(place.options, home=tmp_path / "another"))
    with place.open() as index, another.open():
        kept = Path(place.address["path"])
        assert kept.exists()
        assert not left.exists()
        place.kill()
        third = replace(place, options=replace(place.options, home=tmp_path / "third"))
        with third.open():
            assert not kept.exists()
            assert Path(another.address["path"]).exists()
        assert index.search(Query("compute_1")).hits


def test_the_socket_of_an_owner_that_is_starting_is_left_to_it(place: "Place") -> None:
    folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "cqm"
    folder.mkdir(mode=0o700)
    starting = folder / ".0123456789abcdef-123.abcd"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bound:
        bound.bind(str(starting))
        with place.open(idle_seconds=0):
            assert starting.exists()
        place.wait_for_end()
        minutes_ago = time.time() - 600
        os.utime(starting, (minutes_ago, minutes_ago))
        with place.open():
            assert not starting.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the processor time of another process")
def test_an_owner_that_leaves_sleeps_until_its_running_work_is_done(
    place: "Place", serve: "Callable[[], ScriptedServer]", background: Any
) -> None:
    server, embeds, released = serve(), Event(), Event()

    def hold(_: Request) -> Reply | None:
        embeds.set()
        released.wait(60)
        return None

    server.rule = hold
    embedded = replace(
        place, options=replace(place.options, embedding=EmbeddingOptions("openai", "t", f"{server.url}/v1"))
    )
    try:
        with embedded.open() as index:
            updating = background(index.update)
            assert embeds.wait(60)
            owner = embedded.owner
            with connection(embedded):
                Path(embedded.address["path"]).unlink()
            # The connection's end has told it to look; once it has seen that nobody finds it, it comes to rest.
            assert any(used_meanwhile(owner) < 0.1 for _ in range(100))
            released.set()
            assert updating.result().added == 3
    finally:
        released.set()


def used_meanwhile(process: int) -> float:
    """Return the processor time of another process while this one uses a second of it: as much for one that spins."""
    before, end = processor_seconds(process), time.process_time() + 1
    while time.process_time() < end:
        pass
    return processor_seconds(process) - before


def processor_seconds(process: int) -> float:
    times = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def test_an_owner_that_cannot_be_found_any_more_gives_the_index_to_the_next(place: "Place") -> None:
    with place.open() as index:
        index.update()
        lost = Path(place.address["path"])
        lost.unlink()
        with place.open() as other:
            assert Path(place.address["path"]) != lost
            assert other.search(Query("compute_1")).hits
        assert index.search(Query("compute_1")).hits


def test_what_speaks_something_else_is_hung_up_on_and_disturbs_nobody(place: "Place") -> None:
    greetings = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\xff\xff\xff\xff",
        b"\0\0\0\4nope",
        b"\0\0\0\2[]",
        b"\0\0\0\2{}",
        b'\0\0\0\x0f{"build": null}',
    ]
    with place.open() as index:
        for greeting in greetings:
            with connection(place) as raw:
                raw.sendall(greeting)
                raw.shutdown(socket.SHUT_WR)
                # What it has not read makes a reset of the end.
                with suppress(ConnectionResetError):
                    assert raw.recv(100) == b""
        assert index.update().added == 3


def test_who_says_nothing_holds_nobody_up(place: "Place") -> None:
    with place.open(), connection(place), connection(place), place.open() as index:
        assert index.update().added == 3


def test_a_place_that_is_too_deep_for_a_socket_does_not_matter(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    deep = place.options.home / ("deep" * 20) / ("deeper" * 20)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    deep.mkdir(parents=True)
    far = replace(place, options=replace(place.options, home=deep))
    with far.open() as index:
        assert index.update().added == 3
        assert not far.address["path"].startswith(str(deep))


def test_a_folder_for_sockets_that_is_a_link_is_not_used(
    place: "Place", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The path of a socket has to be short.
    with TemporaryDirectory(dir="/tmp") as runtime:
        Path(runtime, "cqm").symlink_to(tmp_path)
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        with place.open():
            assert not place.address["path"].startswith(runtime)


def test_an_address_that_came_with_a_clone_is_not_called(place: "Place", tmp_path: Path) -> None:
    place.folder.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(tmp_path / "s"))
        other.listen()
        other.setblocking(False)
        (place.folder / "owner.address").write_text(json.dumps({"pid": 1, "path": str(tmp_path / "s")}))
        with place.open() as index:
            assert index.update().added == 3
        with pytest.raises(BlockingIOError):
            other.accept()


def test_a_process_that_shares_with_nobody_is_named(place: "Place") -> None:
    with Index.open(place.root, place.options), pytest.raises(IndexInUseError, match=f"process {os.getpid()} "):
        place.open(idle_seconds=0)


def test_a_process_that_would_share_with_nobody_is_told_of_the_owner(place: "Place") -> None:
    with place.open(), pytest.raises(IndexInUseError, match=rf"process {place.owner} \(cqm owner"):
        Index.open(place.root, place.options)


def test_an_owner_that_cannot_be_started_is_explained(place: "Place") -> None:
    (place.folder / "owner.log").mkdir(parents=True)
    with pytest.raises(SharingError, match=r"The process to own the index in .* cannot be started"):
        place.open()


def test_the_log_of_an_owner_is_bounded(place: "Place") -> None:
    with place.open():
        for _ in range(3):
            with connection(place) as raw:
                raw.sendall(b"\0\0\0\4nope")
                raw.recv(1)
    logged = place.log.read_text()
    assert logged.count("not JSON") == 3
    assert "Traceback" not in logged


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others here")
def test_the_last_words_of_an_owner_come_into_its_newest_log(place: "Place") -> None:
    with place.open():
        with place.log.open("ab") as log:
            log.write(b"." * 500_000 + b"\n")
        for _ in range(2):
            with connection(place) as raw:
                raw.sendall(b"\0\0\0\4nope")
                raw.recv(1)
        assert place.log.stat().st_size < 100_000
        os.kill(place.owner, signal.SIGABRT)
        place.wait_for_end()
    assert "Fatal Python error: Aborted" in place.log.read_text()


def test_without_unix_sockets_a_token_proves_who_may_come(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Windows: a client dials no port where there are unix sockets.
    monkeypatch.delattr(socket, "AF_UNIX")
    place.folder.mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-c", OVER_TCP, str(place.folder)], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == "null\n"
        assert place.address["path"] == ""
        with place.open(idle_seconds=0) as index:
            assert index.update().added == 3
            with socket.create_connection(("127.0.0.1", place.address["port"]), 60) as raw:
                greeting = json.dumps({"build": asdict(this_build()), "token": "0" * 64}).encode()
                raw.sendall(len(greeting).to_bytes(4) + greeting)
                assert raw.recv(1) == b""
        assert "did not know the token" in (place.folder / "owner.log").read_text(encoding="utf-8")
        assert owner.wait() == 0
