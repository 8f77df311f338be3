"""An index folder that came with a project is left alone, and nothing in an index folder leads out of it."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from filelock import FileLock
from tests.security.conftest import CQM, Victim, heard_by
from tiers import thinned

from cqm.index.disk.locations import FILES

QUIET = {"CQM_EMBEDDING_PROVIDER": "none"}
ALONE = {**QUIET, "CQM_INDEX_SHARED": "0"}
INSIDE = {"CQM_INDEX_IN_PROJECT": "1"}
FOREIGN = "was not made by this user's CQM"
GENERATION = "0" * 12
NOBODY = 65534
COMMANDS = (
    ("index",),
    ("search", "innocent_marker"),
    ("search", "innocent_marker", "--no-update"),
    ("status",),
    ("list", "."),
    ("compact",),
    ("remove", "--yes", "."),
)

Deliver = Callable[[Path], "Victim"]
State = Mapping[str, object]


def state(folder: Path) -> State:
    """All that is in a folder, without following links: of files content, mode and times."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        name = path.relative_to(folder).as_posix()
        if stat.S_ISLNK(status.st_mode):
            found[name] = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            found[name] = (path.read_bytes(), status.st_mode, status.st_mtime_ns)
        else:
            found[name] = status.st_mode
    return found


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder of the victim outside of the project, with files that must stay as they are."""
    folder = tmp_path / "home" / "precious"
    folder.mkdir(parents=True)
    for name in (".bashrc", "thesis.txt", GENERATION):
        (folder / name).write_text(f"{name}: mine\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "kept.txt").write_text("mine\n")
    return folder


def ended(done: "subprocess.CompletedProcess[str]") -> "subprocess.CompletedProcess[str]":
    """A command that ended with or without an error of ours."""
    assert done.returncode in {0, 1}, done.stderr
    assert "Traceback" not in done.stderr
    assert "Unexpected" not in done.stderr
    return done


def index_of(victim: "Victim", **changes: str) -> Path:
    """The folder of the index that the victim has of the project."""
    [found] = victim.json("list", ".", **changes)["indexes"]
    return Path(found["location"])


def ship(stranger: Path, put: Callable[[Path], None]) -> None:
    """Put something in the place of every file of an index, and ask for an index in the project."""
    (stranger / "cqm.yml").write_text("index: {in_project: true}\n")
    (stranger / ".cqm" / GENERATION).mkdir(parents=True)
    for name in sorted(FILES):
        put(stranger / ".cqm" / name)
    for name in ("manifest.db", "manifest.db-wal", "seal.json", "seal.json.new", "collection.json", "shard"):
        put(stranger / ".cqm" / GENERATION / name)


@pytest.fixture(autouse=True)
def owners_end(tmp_path: Path) -> Iterator[None]:
    """Owners end by themselves here; what strangers ship is not taken for an owner's."""
    yield
    for lock in tmp_path.rglob("owner.lock"):
        if stat.S_ISREG(lock.lstat().st_mode):
            with FileLock(lock, timeout=240):
                pass


def test_links_of_a_shipped_index_lead_nowhere_and_it_is_told_and_left_alone(
    stranger: Path, delivered: Deliver, precious: Path
) -> None:
    ship(stranger, lambda path: path.symlink_to(precious / ".bashrc"))
    (stranger / ".cqm" / "1234567890ab").symlink_to(precious / "folder")
    victim = delivered(stranger)
    before, shipped = state(precious), state(victim.project / ".cqm")
    for command in COMMANDS:
        done = ended(victim.run(*command, **ALONE, **INSIDE))
        if command[0] not in {"list", "remove"}:
            assert done.returncode == 1
        assert FOREIGN in done.stderr, command
    assert FOREIGN in ended(victim.run("index", **QUIET, **INSIDE)).stderr
    assert state(precious) == before
    assert state(victim.project / ".cqm") == shipped


def test_a_folder_for_an_index_that_is_a_link_is_told_and_not_followed(
    stranger: Path, delivered: Deliver, precious: Path
) -> None:
    (stranger / ".cqm").symlink_to(precious / "folder")
    victim = delivered(stranger)
    before = state(precious)
    for command in COMMANDS[:4]:
        assert ".cqm is a link" in ended(victim.run(*command, **ALONE, **INSIDE)).stderr
    assert state(precious) == before


def test_a_shipped_index_is_not_looked_at_where_indexes_are_in_the_cache(
    stranger: Path, delivered: Deliver, precious: Path
) -> None:
    ship(stranger, lambda path: path.symlink_to(precious / ".bashrc"))
    (stranger / "cqm.yml").unlink()
    victim = delivered(stranger)
    before, shipped = state(precious), state(victim.project / ".cqm")
    assert victim.paths("innocent_marker", **ALONE) == ["innocent.py"]
    assert not index_of(victim, **ALONE).is_relative_to(victim.project)
    assert state(precious) == before
    assert state(victim.project / ".cqm") == shipped


@pytest.mark.usefixtures("forked_programs")
def test_a_whole_index_of_a_stranger_is_not_believed(stranger: Path, delivered: Deliver, tmp_path: Path) -> None:
    (stranger / "forged.py").write_text("def transfer_everything():\n    return 'text that no file says'\n")
    environment = {**os.environ, **ALONE, **INSIDE, "HOME": str(tmp_path / "elsewhere")}
    subprocess.run([CQM, "index"], cwd=stranger, env=environment, check=True, capture_output=True)
    (stranger / "forged.py").write_text("def innocent():\n    return 1\n")
    victim = delivered(stranger)
    shipped = state(victim.project / ".cqm")
    done = ended(victim.run("search", "transfer_everything", "--no-update", **ALONE, **INSIDE))
    assert (done.returncode, FOREIGN in done.stderr) == (1, True)
    assert "text that no file says" not in done.stdout
    assert state(victim.project / ".cqm") == shipped


def test_a_port_that_a_shipped_address_names_is_not_dialled(stranger: Path, delivered: Deliver) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    note = {"pid": os.getpid(), "path": "", "port": listener.getsockname()[1], "token": "0" * 64}
    (stranger / ".cqm").mkdir()
    (stranger / ".cqm" / "owner.address").write_text(json.dumps(note))
    (stranger / ".cqm" / "root").write_text("")
    victim = delivered(stranger)
    with heard_by(listener) as came:
        ended(victim.run("search", "innocent_marker", **QUIET, **INSIDE, OPENAI_API_KEY="sk-canary"))
        # Also not where the file has come into an index of the victim's own.
        victim.json("search", "innocent_marker", **ALONE)
        address = index_of(victim, **ALONE) / "owner.address"
        address.write_text(json.dumps(note))
        address.chmod(0o600)
        assert victim.paths("innocent_marker", **QUIET, OPENAI_API_KEY="sk-canary") == ["innocent.py"]
        assert came == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be two users")
def test_a_socket_that_another_user_answers_at_is_told_nothing(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], tmp_path: Path
) -> None:
    script = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
os.setuid(int(sys.argv[2]))
listener.listen()
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    print("came " + repr(connection.recv(65536)), flush=True)
    connection.close()
"""
    victim = victim_of(stranger, "cp -r")
    runtime = Path(mkdtemp(dir="/tmp"))
    settings = {**QUIET, "XDG_RUNTIME_DIR": str(runtime)}
    try:
        victim.json("search", "innocent_marker", **settings, CQM_INDEX_IDLE_SECONDS="60")
        address = index_of(victim, **settings) / "owner.address"
        noted = json.loads(address.read_text())
        path = Path(noted["path"])
        # Its successor need not wait for it.
        os.kill(noted["pid"], signal.SIGKILL)
        path.unlink()
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(NOBODY)], stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout
            assert other.stdout.readline() == "ready\n"
            victim.run("search", "innocent_marker", **settings, OPENAI_API_KEY="sk-canary", seconds=300)
            other.kill()
            assert "came b'\\x" not in other.stdout.read()
    finally:
        shutil.rmtree(runtime)


def test_a_moved_project_keeps_its_index_and_a_copied_or_restored_one_is_refused(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], tmp_path: Path
) -> None:
    victim = victim_of(stranger, "cp -r")
    victim.json("index", **ALONE, **INSIDE)
    copied, moved, kept = (tmp_path / name for name in ("copied", "moved", "kept"))
    subprocess.run(["cp", "-a", str(victim.project), str(copied)], check=True)
    in_copy = replace(victim, project=copied)
    done = ended(in_copy.run("search", "innocent_marker", **ALONE, **INSIDE))
    assert f"is a copy of an index that this user's CQM made in {victim.project / '.cqm'}" in done.stderr
    assert "Delete it" in done.stderr
    shutil.rmtree(copied / ".cqm")
    assert in_copy.paths("innocent_marker", **ALONE, **INSIDE) == ["innocent.py"]
    victim.project.rename(moved)
    there = replace(victim, project=moved)
    assert there.json("index", **ALONE, **INSIDE)["unchanged"] == 1
    assert index_of(there, **ALONE).is_relative_to(moved / ".cqm")
    (moved / ".cqm").rename(kept)
    subprocess.run(["cp", "-a", str(kept), str(moved / ".cqm")], check=True)
    assert "is a copy" in ended(there.run("index", **ALONE, **INSIDE)).stderr
    shutil.rmtree(moved / ".cqm")
    kept.rename(moved / ".cqm")
    (moved / ".cqm").chmod(0o777)
    assert "can be written by others" in ended(there.run("index", **ALONE, **INSIDE)).stderr


def test_what_a_pull_adds_to_an_own_index_in_a_project_is_not_looked_at(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], precious: Path
) -> None:
    victim = victim_of(stranger, "git clone")
    victim.json("index", **ALONE, **INSIDE)
    generation = next(path.name for path in index_of(victim, **ALONE).iterdir() if path.is_dir())
    for name in FILES - {".gitignore"}:
        (victim.project / ".cqm" / name).symlink_to(precious / ".bashrc")
    (victim.project / ".cqm" / generation).symlink_to(precious / "folder")
    before = state(precious)
    assert victim.paths("innocent_marker", **ALONE, **INSIDE) == ["innocent.py"]
    assert victim.paths("innocent_marker", **QUIET, **INSIDE) == ["innocent.py"]
    assert victim.json("status", **ALONE, **INSIDE)["state"] == "complete"
    assert state(precious) == before


TRAPS = """
import os, shutil, sys
from contextlib import suppress
from pathlib import Path
from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.disk.locations import FILES, index_folder
from cqm.index.model.query import Query
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.status.status import read_status
from cqm.index.workers.forking import source_of_workers

root, home, precious = map(Path, sys.argv[1:4])
KINDS = {
    "link": lambda path: path.symlink_to(precious / ".bashrc"),
    "link to a folder": lambda path: path.symlink_to(precious / "folder"),
    "dangling link": lambda path: path.symlink_to(precious / "not there"),
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "second name": lambda path: path.hardlink_to(precious / ".bashrc"),
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
}
put = KINDS[sys.argv[4]]
options = IndexOptions(home, workers=1, embedding=EmbeddingOptions("none"), cache=CacheOptions(enabled=False))

def clear(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)

def attempt(path):
    clear(path)
    put(path)
    with suppress(CqmError):
        read_status(root, options)
    try:
        use()
    except CqmError as error:
        print(path.relative_to(index), "refused", error, flush=True)

# One process forks the workers of all openings: to load the parsers each time would take most of the time here.
source = source_of_workers()
end, source.close = source.close, lambda: None

def use():
    with Index.open(root, options, source) as opened:
        opened.update()
        assert opened.search(Query("innocent_marker")).hits[0].path == "innocent.py"

use()
index = index_folder(root, options)
"""

KINDS = ("link", "link to a folder", "dangling link", "endless", "second name", "pipe", "folder")


def trapped(project: Path, precious: Path, kind: str, script: str) -> str:
    """Return what a program prints that opens an index again and again, each time with a trap in it."""
    command = [sys.executable, "-c", f"{TRAPS}{script}\nend()", project, precious.parent / "indexes", precious, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("forked_programs")
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_the_place_of_a_file_of_an_index_leads_out_of_it(stranger: Path, precious: Path, kind: str) -> None:
    before = state(precious)
    script = """
for name in sorted(FILES):
    attempt(index / name)
    clear(index / name)
use()
"""
    trapped(stranger, precious, kind, script)
    assert state(precious) == before


PLACES = (
    *("manifest.db", "manifest.db-wal", "seal.json", "seal.json.new", "collection.json", "shard", "shard/wal"),
    *("shard/segments", ""),
)
"""In the folder of a generation, and that folder itself."""


@pytest.mark.soak
@pytest.mark.usefixtures("forked_programs")
@pytest.mark.parametrize("kind", ["link", "link to a folder", "second name", "pipe", "folder"])
def test_a_generation_that_is_not_only_files_and_folders_is_made_anew(
    stranger: Path, precious: Path, kind: str
) -> None:
    """Each costs an index: a kind stands in every third place, and with `tests/run --soak` in all."""
    before = state(precious)
    script = f"""
for name in {thinned(PLACES, KINDS.index(kind))}:
    [generation] = [path for path in index.iterdir() if path.is_dir() and not path.name.startswith("obsolete")]
    attempt(generation / name)
    use()
"""
    said = trapped(stranger, precious, kind, script)
    assert state(precious) == before
    assert said == ""


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_in_the_place_of_a_file_of_the_owner_leads_out_of_the_index(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], precious: Path, kind: str
) -> None:
    victim = victim_of(stranger, "cp -r")
    victim.json("index", **ALONE)
    index, before = index_of(victim, **ALONE), state(precious)
    for name in ("owner.address", "owner.lock", "owner.log", "owner.log.1", "starting.lock"):
        (index / name).unlink(missing_ok=True)
        (index / name).symlink_to(precious / ".bashrc") if kind == "link" else os.mkfifo(index / name)
        done = ended(victim.run("search", "innocent_marker", "--json", **QUIET))
        assert name not in {"owner.address", "owner.log.1"} or done.returncode == 0
        assert state(precious) == before, name
        (index / name).unlink(missing_ok=True)
        # An owner that lost its files looks for them every few seconds; the next one begins without it.
        if (index / "owner.json").is_file():
            with suppress(ProcessLookupError):
                os.kill(json.loads((index / "owner.json").read_text())["pid"], signal.SIGTERM)
        with FileLock(index / "lock", timeout=240):
            pass


def test_names_that_a_note_of_a_collection_holds_begin_no_line_of_a_log(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"]
) -> None:
    victim = victim_of(stranger, "cp -r")
    victim.json("index", **QUIET)
    index = index_of(victim, **ALONE)
    evil = "x\ntouch /tmp/pwned\n"
    note = {"url": f"http://{evil}", "name": evil, "alias": evil, "marks": [evil]}
    old = index / "0123456789ab"
    old.mkdir()
    (old / "collection.json").write_text(json.dumps(note))
    assert victim.json("index", **QUIET)["failed"] == []
    assert not [line for line in (index / "owner.log").read_text().splitlines() if line.startswith("touch")]


@pytest.mark.parametrize("shared", ["0", "1"])
def test_all_that_is_kept_is_this_users_alone_whatever_the_mask_is(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], shared: str
) -> None:
    victim = victim_of(stranger, "cp -r")
    for place in ({}, INSIDE):
        settings = victim.environment | place | QUIET | {"CQM_INDEX_SHARED": shared}
        subprocess.run(
            ["sh", "-c", 'umask 000; exec "$0" index --json', CQM],
            cwd=victim.project,
            env=settings,
            check=True,
            capture_output=True,
        )
    cache = victim.home / ".cache" / "cqm"
    for top in (cache, victim.project / ".cqm"):
        wide = {str(path): oct(path.stat().st_mode) for path in (top, *top.rglob("*")) if path.stat().st_mode & 0o077}
        assert wide == {}


def test_a_cache_that_an_earlier_release_left_readable_is_made_private(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"]
) -> None:
    victim = victim_of(stranger, "cp -r")
    cache = victim.home / ".cache" / "cqm"
    (cache / "indexes").mkdir(parents=True, mode=0o755)
    victim.json("index", **ALONE)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache, cache / "indexes")] == [0o700, 0o700]


def test_a_home_of_indexes_that_others_can_write_to_is_refused(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"], tmp_path: Path
) -> None:
    victim = victim_of(stranger, "cp -r")
    home = tmp_path / "shared"
    home.mkdir()
    home.chmod(0o777)
    for command in COMMANDS[:4]:
        done = ended(victim.run(*command, **ALONE, CQM_INDEX_HOME=str(home)))
        assert (done.returncode, "is not this user's alone" in done.stderr) == (1, True), command
    assert list(home.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
def test_an_index_that_belongs_to_another_user_is_refused(
    stranger: Path, victim_of: Callable[[Path, str], "Victim"]
) -> None:
    victim = victim_of(stranger, "cp -r")
    victim.json("index", **ALONE)
    index = index_of(victim, **ALONE)
    os.chown(index, NOBODY, NOBODY)
    for command in COMMANDS[:4]:
        assert "belongs to another user" in ended(victim.run(*command, **ALONE)).stderr
