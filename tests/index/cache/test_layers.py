"""The cache as a whole: what it keeps, for how long, in which layer."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.cache import open_cache
from cqm.index.cache.base import Kept, framed, unframed
from cqm.index.model.options import CacheOptions

if TYPE_CHECKING:
    from conftest import Open, StandingClock, Tell

MINUTE, HOUR, DAY = 60, 3600, 86400


def test_many_values_at_once_come_back_by_their_keys(opened: "Open") -> None:
    cache = opened(memory_mb=1)
    items = {f"key {number}": bytes([number]) * number for number in range(200)}
    cache.put("vectors", items)
    assert cache.get("vectors", [*items, "another"]) == items


def test_the_same_key_of_another_kind_is_another_value(opened: "Open") -> None:
    cache = opened(memory_mb=1)
    cache.put("vectors", {"key": b"vector"})
    cache.put("contexts", {"key": b"context"})
    assert cache.get("vectors", ["key"]) == {"key": b"vector"}
    assert cache.get("contexts", ["key"]) == {"key": b"context"}


@pytest.mark.parametrize("key", ["", "x" * 1_000_000, "設定", "\ud800", "a\0b", "cqm:*\r\n"])
def test_any_text_is_a_key(opened: "Open", key: str) -> None:
    cache = opened()
    cache.put("contexts", {key: b"value"})
    assert cache.get("contexts", [key]) == {key: b"value"}


def test_a_value_of_the_disk_is_promoted_to_memory(opened: "Open", layer: "Tell") -> None:
    opened().put("vectors", {"key": b"value"})
    cache = opened(memory_mb=1)
    assert cache.get("vectors", ["key", "other"]) == {"key": b"value"}
    assert cache.get("vectors", ["key"]) == {"key": b"value"}
    memory, disk = layer(cache, "memory"), layer(cache, "disk")
    assert (memory.hits, memory.misses, memory.stored) == (1, 2, 1)
    assert (disk.hits, disk.misses, disk.stored) == (1, 1, 0)


@pytest.mark.parametrize(
    ("kind", "memory", "disk"),
    [
        ("vectors", DAY, 70 * DAY),
        ("contexts", DAY, 300 * DAY),
        ("statistics", 30 * MINUTE, 30 * MINUTE),
        ("anything else", 5 * MINUTE, 10 * HOUR),
    ],
)
def test_each_layer_keeps_each_kind_for_its_time(
    opened: "Open", clock: "StandingClock", kind: str, memory: float, disk: float
) -> None:
    caches = {memory: opened(memory_mb=1, disk_mb=0), disk: opened()}
    begun = clock.now
    for seconds, cache in caches.items():
        clock.now = begun
        cache.put(kind, {"key": b"value"})
        clock.now = begun + seconds - 1
        assert cache.get(kind, ["key"])
        clock.now = begun + seconds
        assert not cache.get(kind, ["key"])


def test_reading_a_value_does_not_make_it_live_longer(opened: "Open", clock: "StandingClock") -> None:
    opened().put("statistics", {"key": b"value"})
    clock.now += 29 * MINUTE
    cache = opened(memory_mb=1)
    assert cache.get("statistics", ["key"])
    clock.now += MINUTE
    assert not cache.get("statistics", ["key"])


def test_answers_are_kept_in_memory_for_five_minutes_and_never_on_disk(
    opened: "Open", clock: "StandingClock", layer: "Tell"
) -> None:
    cache = opened(memory_mb=1)
    cache.put("answers", {"key": b"value"})
    assert cache.get("answers", ["key"])
    assert not opened().get("answers", ["key"])
    clock.now += 5 * MINUTE
    assert not cache.get("answers", ["key"])
    assert (layer(cache, "disk").misses, layer(cache, "disk").stored) == (0, 0)


def test_memory_drops_what_was_used_least_recently_and_stays_within_its_limit(opened: "Open", layer: "Tell") -> None:
    cache = opened(memory_mb=1, disk_mb=0)
    cache.put("vectors", {"used": bytes(10_000)})
    for number in range(200):
        cache.put("vectors", {str(number): bytes(10_000)})
        assert cache.get("vectors", ["used"])
    assert cache.get("vectors", ["199"])
    assert not cache.get("vectors", ["0"])
    assert 900_000 < layer(cache, "memory").size_bytes <= 1_000_000
    assert layer(cache, "memory").entries < 100


def test_a_value_larger_than_the_memory_layer_pushes_nothing_out(opened: "Open") -> None:
    cache = opened(memory_mb=1, disk_mb=0)
    cache.put("vectors", {"small": b"value"})
    cache.put("vectors", {"large": bytes(1_000_001)})
    assert cache.get("vectors", ["small", "large"]) == {"small": b"value"}


def test_a_value_put_again_replaces_the_first_in_all_layers(opened: "Open", layer: "Tell") -> None:
    cache = opened(memory_mb=1)
    cache.put("vectors", {"key": b"first"})
    cache.put("vectors", {"key": b"second"})
    assert cache.get("vectors", ["key"]) == {"key": b"second"}
    assert opened().get("vectors", ["key"]) == {"key": b"second"}
    assert layer(cache, "memory").entries == layer(cache, "disk").entries == 1


def test_nothing_is_touched_before_the_first_use(opened: "Open", tmp_path: Path) -> None:
    cache = opened(memory_mb=1, redis_url="redis://127.0.0.1:1/0")
    assert [(told.name, told.entries, told.problem) for told in cache.layers()] == [
        ("memory", 0, ""),
        ("redis", 0, ""),
        ("disk", 0, ""),
    ]
    cache.close()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (CacheOptions(), ["memory", "disk"]),
        (CacheOptions(memory_mb=0), ["disk"]),
        (CacheOptions(disk_mb=0), ["memory"]),
        (CacheOptions(redis_url="redis://localhost"), ["memory", "redis", "disk"]),
        (CacheOptions(enabled=False), []),
    ],
)
def test_the_options_say_which_layers_there_are(tmp_path: Path, options: CacheOptions, names: list[str]) -> None:
    cache = open_cache(options, tmp_path, variables=os.environ)
    assert [told.name for told in cache.layers()] == names
    assert cache.enabled == bool(names)


def test_a_disabled_cache_holds_nothing(opened: "Open", tmp_path: Path) -> None:
    cache = opened(memory_mb=1, enabled=False)
    cache.put("vectors", {"key": b"value"})
    assert not cache.get("vectors", ["key"])
    assert not [*tmp_path.iterdir()]


def test_a_closed_cache_opens_again(opened: "Open") -> None:
    cache = opened(memory_mb=1)
    cache.put("vectors", {"key": b"value"})
    cache.close()
    assert cache.get("vectors", ["key"]) == {"key": b"value"}


def test_threads_share_a_cache(opened: "Open", layer: "Tell") -> None:
    cache = opened(memory_mb=1)

    def work(number: int) -> bool:
        mine = {f"{number}/{item}": str(number).encode() for item in range(20)}
        cache.put("vectors", mine)
        return cache.get("vectors", mine) == mine

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(50)))
    assert layer(cache, "disk").errors == 0
    assert layer(cache, "disk").entries == layer(cache, "memory").hits == 1000


@given(name=st.text("abc:", max_size=5), value=st.binary(max_size=50), expires=st.floats(allow_nan=False))
def test_a_frame_gives_back_what_was_framed(name: str, value: bytes, expires: float) -> None:
    kept = Kept(value, expires)
    assert unframed(name, framed(name, kept)) == kept


@given(value=st.binary(max_size=50), place=st.integers(min_value=0), bit=st.integers(0, 7), cut=st.integers(1, 40))
def test_no_frame_with_a_changed_bit_a_lost_end_or_another_name_is_taken_for_a_value(
    value: bytes, place: int, bit: int, cut: int
) -> None:
    frame = framed("name", Kept(value, 1e9))
    changed = bytearray(frame)
    changed[place % len(frame)] ^= 1 << bit
    assert unframed("name", bytes(changed)) is None
    assert unframed("name", frame[:-cut]) is None
    assert unframed("other", frame) is None


@pytest.mark.parametrize("data", [b"", b"CQM\x01", None, 7, "CQM\x01" + "x" * 40, [b"CQM\x01"], object()])
def test_what_is_no_frame_is_no_value(data: object) -> None:
    assert unframed("name", data) is None
