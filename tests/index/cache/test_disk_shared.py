"""The disk layer among others: a folder that goes or is refused, a full disk, and processes at the same time."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Open, StandingClock, Tell

ITEMS = {f"key {number}": bytes([number]) * 500 for number in range(100)}

OPEN = """
import sys, time
from pathlib import Path
from cqm.index.cache import open_cache
from cqm.index.model.options import CacheOptions
now = [time.time()]
cache = open_cache(CacheOptions(memory_mb=0, disk_mb=64), Path(sys.argv[1]), {}, lambda: now[0])
"""


def run(script: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-c", OPEN + script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.fault("cache deleted")
def test_a_folder_deleted_while_in_use_is_made_again(opened: "Open", layer: "Tell", folder: Path) -> None:
    cache = opened()
    cache.put("vectors", ITEMS)
    shutil.rmtree(folder)
    assert cache.get("vectors", ITEMS) == {}
    assert "deleted" in layer(cache, "disk").problem
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert layer(cache, "disk").problem == ""


def test_a_file_deleted_while_in_use_is_made_again(opened: "Open", file: Path) -> None:
    cache = opened()
    cache.put("vectors", ITEMS)
    file.unlink()
    assert cache.get("vectors", ITEMS) == {}
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS


def test_the_folder_is_readable_by_its_owner_alone(opened: "Open", folder: Path) -> None:
    opened().put("vectors", ITEMS)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_a_link_is_not_followed(opened: "Open", layer: "Tell", tmp_path: Path, folder: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    cache = opened()
    cache.put("vectors", ITEMS)
    assert "is a link" in layer(cache, "disk").problem
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_the_folder_of_the_options_wins(opened: "Open", tmp_path: Path) -> None:
    opened(folder=tmp_path / "chosen").put("vectors", ITEMS)
    assert (tmp_path / "chosen" / "values" / "cache.db").exists()
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_cannot_be_made_is_told_and_left_alone_for_a_while(
    opened: "Open", layer: "Tell", tmp_path: Path, clock: "StandingClock"
) -> None:
    (tmp_path / "cache").write_text("a file")
    cache = opened()
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == {}
    told = layer(cache, "disk")
    assert "cannot be used" in told.problem
    assert (told.errors, told.misses, told.stored) == (1, len(ITEMS), 0)
    (tmp_path / "cache").unlink()
    clock.now += 60
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert layer(cache, "disk").problem == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_a_miss(opened: "Open", layer: "Tell", folder: Path) -> None:
    opened().put("vectors", ITEMS)
    folder.parent.chmod(0o500)
    folder.chmod(0o500)
    cache = opened()
    try:
        cache.put("vectors", ITEMS)
        cache.get("vectors", ITEMS)
    finally:
        folder.parent.chmod(0o700)
    assert layer(cache, "disk").problem


MOUNTED = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


@pytest.mark.processes
@pytest.mark.usefixtures("forked_programs")
@pytest.mark.fault("disk full")
@pytest.mark.parametrize(("size", "says"), [("300k", "full"), ("4k,nr_inodes=3", "cannot be"), ("64k,ro", "cannot be")])
def test_a_full_or_read_only_disk_is_a_miss(tmp_path: Path, size: str, says: str) -> None:
    mount = f'mount -t tmpfs -o size={size} none "{tmp_path}" && exec "$0" "$@"'
    if subprocess.run([*MOUNTED, mount, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted without privileges here")
    script = """
items = {str(number): bytes(1000) for number in range(1000)}
for _ in range(5):
    cache.put("vectors", items)
    assert cache.get("vectors", items) == {}
    now[0] += 60
print(cache.layers()[0])
"""
    done = run(script, tmp_path, before=(*MOUNTED, mount))
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


@pytest.mark.processes
@pytest.mark.usefixtures("forked_programs")
@pytest.mark.fault("disk full")
def test_a_file_that_may_not_grow_is_a_miss(tmp_path: Path) -> None:
    script = """
import resource
cache.put("vectors", {"small": b"value"})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
items = {str(number): bytes(1000) for number in range(1000)}
cache.put("vectors", items)
assert cache.get("vectors", items) == {}
print(cache.layers()[0])
"""
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cannot be used" in done.stdout


def test_a_file_that_another_process_locks_is_a_miss(opened: "Open", layer: "Tell", file: Path) -> None:
    opened().put("vectors", ITEMS)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        cache = opened()
        assert cache.get("vectors", ITEMS) == {}
        assert "locked" in layer(cache, "disk").problem


def test_a_transaction_of_another_process_stops_no_reader_in_use(opened: "Open", file: Path) -> None:
    cache = opened()
    cache.put("vectors", ITEMS)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert cache.get("vectors", ITEMS) == ITEMS


def test_the_folder_stays_within_its_limit_and_keeps_the_newest(opened: "Open", layer: "Tell", folder: Path) -> None:
    cache = opened(disk_mb=1)
    for number in range(60):
        cache.put("vectors", {f"{number}/{item}": bytes(1000) for item in range(100)})
    assert len(cache.get("vectors", [f"59/{item}" for item in range(100)])) == 100
    assert cache.get("vectors", [f"0/{item}" for item in range(100)]) == {}
    assert layer(cache, "disk").size_bytes <= 1_000_000
    assert sum(file.stat().st_size for file in folder.iterdir()) < 1_100_000


@pytest.mark.processes
@pytest.mark.usefixtures("forked_programs")
def test_processes_share_the_folder_while_they_write(opened: "Open", layer: "Tell", tmp_path: Path) -> None:
    script = """
for batch in range(30):
    mine = {f"{sys.argv[2]}/{batch}/{item}": sys.argv[2].encode() for item in range(20)}
    cache.put("vectors", mine)
    cache.get("vectors", [f"{other}/{batch}/{item}" for other in range(4) for item in range(20)])
    assert cache.get("vectors", mine) == mine
[disk] = cache.layers()
assert disk.errors == 0, disk
"""
    command = [sys.executable, "-c", OPEN + script, str(tmp_path / "cache")]
    processes = [subprocess.Popen([*command, str(number)]) for number in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    cache = opened()
    keys = [f"{number}/{batch}/{item}" for number in range(4) for batch in range(30) for item in range(20)]
    assert cache.get("vectors", keys) == {key: key.partition("/")[0].encode() for key in keys}
    assert layer(cache, "disk").entries == len(keys)


@pytest.mark.processes
@pytest.mark.usefixtures("forked_programs")
def test_a_process_killed_while_it_writes_leaves_whole_batches(opened: "Open", tmp_path: Path) -> None:
    script = """
from itertools import count
for batch in count():
    cache.put("vectors", {f"{batch}/{item}": bytes(1000) for item in range(50)})
    print(batch, flush=True)
"""
    command = [sys.executable, "-c", OPEN + script, str(tmp_path / "cache")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line == "20\n":
                process.kill()
                break
    cache = opened()
    found = [len(cache.get("vectors", [f"{batch}/{item}" for item in range(50)])) for batch in range(60)]
    assert found[:21] == [50] * 21
    assert set(found) <= {0, 50}


@pytest.mark.processes
@pytest.mark.usefixtures("forked_programs")
def test_processes_that_meet_a_damaged_file_all_go_on(opened: "Open", file: Path, tmp_path: Path) -> None:
    opened().put("vectors", ITEMS)
    file.write_bytes(b"not SQLite at all, by no means" * 1000)
    script = """
for batch in range(20):
    cache.get("vectors", [f"{batch}/{item}" for item in range(20)])
    cache.put("vectors", {f"{batch}/{item}": b"value" for item in range(20)})
"""
    command = [sys.executable, "-c", OPEN + script, str(tmp_path / "cache")]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    cache = opened()
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
