"""The disk layer: what is never read from its file, and what happens when the file is damaged."""

import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import diskcache
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cqm.index.cache import open_cache
from cqm.index.model.options import CacheOptions

if TYPE_CHECKING:
    from conftest import Open, Tell

DISK_ONLY = CacheOptions(memory_mb=0, disk_mb=64)
ITEMS = {f"key {number}": bytes([number]) * 500 for number in range(100)}


def execute(file: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.made),)


@pytest.mark.parametrize("place", ["in a value", "in a file"])
def test_a_planted_pickle_is_a_miss_and_is_not_loaded(
    opened: "Open", layer: "Tell", tmp_path: Path, file: Path, place: str
) -> None:
    cache = opened()
    cache.put("vectors", {"key": b"value"})
    bomb = pickle.dumps(Bomb(tmp_path / "bombed"))
    (file.parent / "bomb.val").write_bytes(bomb)
    value = bomb if place == "in a value" else None
    execute(file, "UPDATE Cache SET mode = 4, value = ?, filename = 'bomb.val'", value)
    assert cache.get("vectors", ["key"]) == {}
    assert layer(cache, "disk").errors == 1
    cache.put("vectors", {"key": b"value"})
    assert cache.get("vectors", ["key"]) == {"key": b"value"}
    assert not (tmp_path / "bombed").exists()


def test_the_planted_pickle_is_a_real_one(opened: "Open", tmp_path: Path, file: Path) -> None:
    opened().put("vectors", {"key": b"value"})
    execute(file, "UPDATE Cache SET mode = 4, value = ?", pickle.dumps(Bomb(tmp_path / "bombed")))
    with diskcache.Cache(str(file.parent)) as plain:
        [name] = plain
        plain.get(name)
    assert (tmp_path / "bombed").exists()


def test_a_planted_pickle_of_a_key_is_not_loaded(opened: "Open", tmp_path: Path, file: Path) -> None:
    cache = opened()
    cache.put("vectors", {"key": b"value"})
    execute(file, "UPDATE Cache SET raw = 0, key = ?", pickle.dumps(Bomb(tmp_path / "bombed")))
    assert cache.get("vectors", ["key"]) == {}
    cache.put("vectors", {"key": b"value"})
    assert cache.layers()
    assert not (tmp_path / "bombed").exists()


@pytest.mark.parametrize("mode", [1, 2, 3, 4, 99])
def test_a_planted_file_name_has_nothing_read_or_removed(
    opened: "Open", layer: "Tell", tmp_path: Path, file: Path, mode: int
) -> None:
    cache = opened()
    cache.put("vectors", {"key": b"value"})
    precious = tmp_path / "precious"
    precious.write_text("precious")
    execute(file, "UPDATE Cache SET mode = ?, value = NULL, filename = '../../precious'", mode)
    assert cache.get("vectors", ["key"]) == {}
    cache.put("vectors", {"key": b"value"})
    execute(file, "UPDATE Cache SET filename = '../../precious', expire_time = 1")
    cache.put("vectors", {"other": b"value"})
    assert layer(cache, "disk").entries == 1
    assert precious.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "value"),
    [("_disk", "x"), ("cull", "x"), ("sqlite_query_only", 1), ("disk_remove", 1), ("count", "many"), ("size", None)],
)
def test_planted_settings_are_not_obeyed(
    opened: "Open", layer: "Tell", folder: Path, file: Path, name: str, value: object
) -> None:
    opened().put("vectors", ITEMS)
    execute(file, "INSERT OR REPLACE INTO Settings VALUES (?, ?)", name, value)
    cache = opened()
    assert cache.get("vectors", ITEMS) == {}
    assert "damaged" in layer(cache, "disk").problem
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert layer(cache, "disk").problem == ""


@pytest.mark.parametrize("column", ["value = 'text'", "value = 7", "value = x'00'", "value = NULL", "mode = NULL"])
def test_a_value_that_is_no_frame_is_a_miss_and_counted(opened: "Open", layer: "Tell", file: Path, column: str) -> None:
    cache = opened()
    cache.put("vectors", {"key": b"value"})
    execute(file, f"UPDATE Cache SET {column}")
    assert cache.get("vectors", ["key"]) == {}
    told = layer(cache, "disk")
    assert (told.hits, told.misses, told.errors) == (0, 1, 1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"not SQLite at all, by no means" * 100,
        lambda content: content[: len(content) // 2],
        lambda content: content[:2048] + bytes(len(content) - 2048),
        lambda content: content[:16] + bytes(84) + content[100:],
    ],
    ids=["replaced", "cut", "zeroed", "without a header"],
)
@pytest.mark.parametrize("in_use", [True, False])
def test_a_damaged_file_is_moved_aside_and_begun_anew(
    opened: "Open", layer: "Tell", file: Path, damage: Callable[[bytes], bytes], in_use: bool
) -> None:
    cache = opened()
    cache.put("vectors", ITEMS)
    file.write_bytes(damage(file.read_bytes()))
    cache = cache if in_use else opened()
    assert cache.get("vectors", ITEMS) == {}
    assert "moved aside" in layer(cache, "disk").problem
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert layer(cache, "disk").problem == ""
    assert (file.parent.parent / "values-damaged" / "cache.db").exists()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    open_cache(DISK_ONLY, folder, variables=os.environ).put("vectors", ITEMS)
    return (folder / "values" / "cache.db").read_bytes()


PLACES = st.integers(0, 5000) | st.integers(0, 10**6)
"""Half of them where the file describes itself."""


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(PLACES, st.binary(min_size=1, max_size=64)), min_size=1, max_size=20))
def test_whatever_bytes_of_the_file_change_no_wrong_value_comes_and_nothing_fails(
    sound: bytes, tmp_path: Path, changes: list[tuple[int, bytes]]
) -> None:
    content = bytearray(sound)
    for place, bytes_ in changes:
        content[place % len(sound) : place % len(sound) + len(bytes_)] = bytes_
    shutil.rmtree(tmp_path / "values", ignore_errors=True)
    (tmp_path / "values").mkdir(mode=0o700)
    (tmp_path / "values" / "cache.db").write_bytes(content)
    cache = open_cache(DISK_ONLY, tmp_path, variables=os.environ)
    assert cache.get("vectors", ITEMS).items() <= ITEMS.items()
    for _ in range(3):
        cache.put("vectors", ITEMS)
        found = cache.get("vectors", ITEMS)
        assert found.items() <= ITEMS.items()
    assert found == ITEMS
