"""The Redis layer: against a real server where its address is given, and against one that fails as it is told."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
import redis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cqm.index.cache.base import name_of

if TYPE_CHECKING:
    from conftest import Open, ScriptedRedis, StandingClock, Tell

ITEMS = {f"key {number}": bytes([number]) * 800 for number in range(200)}
GONE = "redis://127.0.0.1:1/0"


@pytest.fixture
def kind() -> str:
    """A kind of this test alone: the server is shared."""
    return f"test-{uuid4().hex}"


@pytest.fixture
def client(redis_url: str, kind: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client
        if names := client.keys(f"*{kind}*"):
            client.delete(*names)


@pytest.mark.servers
def test_values_come_back_from_a_real_server_and_are_promoted(
    opened: "Open", layer: "Tell", redis_url: str, client: redis.Redis, kind: str
) -> None:
    opened(redis_url=redis_url, disk_mb=0).put(kind, ITEMS)
    cache = opened(memory_mb=1, redis_url=redis_url, disk_mb=0)
    assert cache.get(kind, [*ITEMS, "another"]) == ITEMS
    assert cache.get(kind, ITEMS) == ITEMS
    told = layer(cache, "redis")
    assert (told.hits, told.misses, told.errors, told.problem) == (len(ITEMS), 1, 0, "")
    assert layer(cache, "memory").hits == len(ITEMS)


@pytest.mark.servers
def test_a_value_of_the_disk_is_promoted_to_redis_and_memory(
    opened: "Open", layer: "Tell", redis_url: str, client: redis.Redis, kind: str
) -> None:
    opened().put(kind, ITEMS)
    cache = opened(memory_mb=1, redis_url=redis_url)
    assert cache.get(kind, ITEMS) == ITEMS
    assert [(told.name, told.hits, told.stored) for told in cache.layers()] == [
        ("memory", 0, len(ITEMS)),
        ("redis", 0, len(ITEMS)),
        ("disk", len(ITEMS), 0),
    ]
    assert opened(redis_url=redis_url, disk_mb=0).get(kind, ITEMS) == ITEMS


@pytest.mark.servers
def test_redis_forgets_a_value_when_its_time_is_over(
    opened: "Open", clock: "StandingClock", redis_url: str, client: redis.Redis, kind: str
) -> None:
    cache = opened(redis_url=redis_url, disk_mb=0)
    cache.put(kind, {"key": b"value"})
    assert 3590 < client.ttl(name_of(kind, "key")) <= 3600
    clock.now += 3599
    assert cache.get(kind, ["key"])
    clock.now += 1
    assert not cache.get(kind, ["key"])


@pytest.mark.servers
@pytest.mark.parametrize("number", [5000])
def test_many_values_travel_in_several_commands(
    opened: "Open", redis_url: str, client: redis.Redis, kind: str, number: int
) -> None:
    cache = opened(redis_url=redis_url, disk_mb=0)
    items = {str(item): str(item).encode() for item in range(number)}
    cache.put(kind, items)
    assert cache.get(kind, items) == items


@pytest.mark.servers
def test_what_others_left_under_a_name_is_a_miss(
    opened: "Open", layer: "Tell", redis_url: str, client: redis.Redis, kind: str
) -> None:
    client.rpush(name_of(kind, "a list"), "x")
    client.set(name_of(kind, "a text"), "no frame")
    client.set(name_of(kind, "a pickle"), b"cos\nsystem\n(S'false'\ntR.")
    cache = opened(redis_url=redis_url, disk_mb=0)
    cache.put(kind, {"key": b"value"})
    client.copy(name_of(kind, "key"), name_of(kind, "another's"))
    assert cache.get(kind, ["a list", "a text", "a pickle", "another's", "key"]) == {"key": b"value"}
    told = layer(cache, "redis")
    assert (told.hits, told.misses, told.errors) == (1, 4, 3)
    cache.put(kind, {"a list": b"value"})
    assert cache.get(kind, ["a list"]) == {"a list": b"value"}


@pytest.mark.servers
def test_a_password_that_the_server_refuses_is_told_without_it(
    opened: "Open", layer: "Tell", redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "hunter2secret")
    cache = opened(redis_url=redis_url, redis_password_env="SOME_PASSWORD", disk_mb=0)
    cache.put("vectors", ITEMS)
    assert "redis_password_env" in layer(cache, "redis").problem
    assert "hunter2secret" not in str(cache.layers())


def test_the_password_comes_from_its_variable(
    opened: "Open", scripted: "ScriptedRedis", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "hunter2secret")
    scripted.reply = b"*1\r\n$-1\r\n"
    opened(redis_url=scripted.url, redis_password_env="SOME_PASSWORD").get("vectors", ["key"])
    assert scripted.commands[0] == b"AUTH"


@pytest.mark.parametrize("url", ["redis://:hunter2secret@127.0.0.1/0", "redis://127.0.0.1/0?password=hunter2secret"])
def test_a_password_in_the_url_is_refused_and_not_shown(opened: "Open", layer: "Tell", url: str) -> None:
    cache = opened(redis_url=url)
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert "holds a password" in layer(cache, "redis").problem
    assert "hunter2secret" not in str(cache.layers())


@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis://[::1", "redis://h:port/0", "nonsense", "redis://h?db=x"])
def test_an_address_that_is_none_is_told(opened: "Open", layer: "Tell", url: str) -> None:
    cache = opened(redis_url=url)
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert "redis_url: expected redis://" in layer(cache, "redis").problem


def test_without_a_server_the_other_layers_serve(opened: "Open", layer: "Tell") -> None:
    cache = opened(memory_mb=1, redis_url=GONE)
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ["another", *ITEMS]) == ITEMS
    told = layer(cache, "redis")
    assert "127.0.0.1:1" in told.problem
    assert (told.errors, told.stored) == (1, 0)


def test_a_server_that_failed_is_left_alone_for_a_while_and_then_asked_again(
    opened: "Open", layer: "Tell", clock: "StandingClock", scripted: "ScriptedRedis"
) -> None:
    cache = opened(redis_url=scripted.url, disk_mb=0)
    scripted.reply = b"nonsense\r\n"
    for _ in range(5):
        assert cache.get("vectors", ["key"]) == {}
    assert scripted.commands.count(b"MGET") == layer(cache, "redis").errors == 1
    assert layer(cache, "redis").misses == 5
    clock.now += 60
    scripted.reply = b"*1\r\n$-1\r\n"
    assert cache.get("vectors", ["key"]) == {}
    assert scripted.commands.count(b"MGET") == 2
    assert layer(cache, "redis").problem == ""


def test_a_server_that_says_nothing_is_given_up(opened: "Open", layer: "Tell", scripted: "ScriptedRedis") -> None:
    scripted.reply = None
    cache = opened(redis_url=scripted.url)
    cache.put("vectors", ITEMS)
    assert cache.get("vectors", ITEMS) == ITEMS
    assert "did not answer within 0.3 seconds" in layer(cache, "redis").problem
    assert layer(cache, "redis").errors == 1


def test_a_server_that_refuses_to_store_is_still_read(opened: "Open", layer: "Tell", scripted: "ScriptedRedis") -> None:
    scripted.stays = True
    scripted.reply = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
    cache = opened(redis_url=scripted.url, disk_mb=0)
    cache.put("vectors", {"key": b"value"})
    assert "stores nothing" in layer(cache, "redis").problem
    scripted.reply = b"*1\r\n$-1\r\n"
    assert cache.get("vectors", ["key"]) == {}
    assert b"MGET" in scripted.commands
    assert "maxmemory" in layer(cache, "redis").problem
    assert layer(cache, "redis").stored == 0


REPLIES = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from([b"*", b"$", b":", b"+", b"-", b"1", b"2", b"-1", b"9" * 25, b"x", b"\r\n", b"\xff", b"OK"]),
        max_size=30,
    ).map(b"".join),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=REPLIES)
@example(b"")
@example(b"*1\r\n$5\r\nhello\r\n")
@example(b"*1\r\n:7\r\n")
@example(b"*1\r\n*1\r\n$1\r\nx\r\n")
@example(b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n")
@example(b"$-5\r\nhello\r\n")
@example(b"*-7\r\n")
@example(b"$" + b"9" * 30 + b"\r\nx")
@example(b":" + b"9" * 5000 + b"\r\n")
@example(b"*1\r\n" * 5000)
@example(b"+OK\r\n")
@example(b"-MOVED 1 127.0.0.1:1\r\n")
@example(b"-\xff\xfe\r\n")
@example(b"HTTP/1.1 400 Bad Request\r\n\r\n")
def test_whatever_a_server_answers_is_a_miss(opened: "Open", scripted: "ScriptedRedis", reply: bytes) -> None:
    scripted.reply = reply
    cache = opened(redis_url=scripted.url, disk_mb=0)
    assert cache.get("vectors", ["key"]) == {}
    cache.close()
    cache = opened(redis_url=scripted.url, disk_mb=0)
    cache.put("vectors", {"key": b"value"})
    cache.close()


@pytest.mark.processes
def test_without_the_client_the_command_that_installs_it_is_told() -> None:
    script = """
import sys
sys.modules["redis"] = None
from pathlib import Path
from cqm.index.cache import open_cache
from cqm.index.model.options import CacheOptions
cache = open_cache(CacheOptions(redis_url="redis://127.0.0.1:1/0", disk_mb=0), Path("unused"), {})
cache.put("vectors", {"key": b"value"})
assert cache.get("vectors", ["key"]) == {"key": b"value"}
print(cache.layers()[1].problem)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "pip install 'cqm-mcp[redis]'" in done.stdout


@pytest.mark.processes
def test_neither_client_is_imported_before_it_is_used() -> None:
    script = """
import sys
from pathlib import Path
from cqm.index.cache import open_cache
from cqm.index.model.options import CacheOptions
open_cache(CacheOptions(redis_url="redis://127.0.0.1:1/0"), Path("unused"), {}).layers()
print({"redis", "diskcache", "numpy", "pickle"} & {*sys.modules})
"""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"
