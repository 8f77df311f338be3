"""A stranger's cqm.yml gets nothing from a victim with keys in the environment and services of their own."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest
from tests.security.conftest import Victim, heard_by

from cqm.index.remote.presets import PRESETS, key_variable
from cqm.server.config.merge import option_names
from cqm.server.config.options import Options
from cqm.server.config.settings import load_settings
from cqm.server.config.sources import ANY, Name
from cqm.server.config.trust import ALLOWED
from cqm.server.errors import SettingsError

Deliver = Callable[[Path, str], Victim]

KEYS = {key_variable(provider): "sk-of-the-victim" for provider in ("ollama", *PRESETS)} | {
    "CO_API_KEY": "sk-of-the-victim",
    "OPENAI_ORG_ID": "org-of-the-victim",
    "AWS_SECRET_ACCESS_KEY": "sk-of-the-victim",
}

# Every option, with a value that is valid and is not what holds without the file.
OTHERWISE: dict[str, str] = {
    "index.home": "elsewhere",
    "cache.folder": "elsewhere",
    "embedding.provider": "openai",
    "context.provider": "openai",
    "rerank.provider": "http",
    "rerank.shape": "cohere",
    "ui.editor": "zed",
    "embedding.long_texts": "cut",
    "embedding.query_prefix": "x",
    "embedding.document_prefix": "x",
    "embedding.fallback": "[a]",
    "embedding.choose": "cost",
    "embedding.query_seconds": "11.0",
    "store.quantization": "int8",
    "cache.redis_url": "redis://127.0.0.1:6379/0",
    "server.http": "'127.0.0.1:9999'",
    "server.roots": "[.]",
    "watch.mode": "poll",
    "trusted_projects": "[.]",
    "late.encoder": "http://127.0.0.1:9999",
    "rerank.deadline_seconds": "0.5",
    "rerank.weight": "0.75",
    "index.disk_mb": "1",
    "groups.*": "[/]",
}
REFUSED = sorted(name for name in option_names(Options) if name not in ALLOWED)


def written(name: Name) -> str:
    """A project's file that sets one option to another value than it has."""
    dotted = ".".join(name).replace(f"providers.{ANY}", "embedding")
    value = OTHERWISE.get(dotted) or _changed(dotted)
    block = [part if part != ANY else "a" for part in name]
    opened = "".join(f"{part}: {{" for part in block[:-1])
    return f"{opened}{block[-1]}: {value}{'}' * (len(block) - 1)}\n"


def _changed(dotted: str) -> str:
    section, _, key = dotted.partition(".")
    options = getattr(Options(), section)
    default = getattr(options, key)
    choices = get_args(type(options).model_fields[key].annotation)
    if default in choices:
        return next(str(it) for it in choices if it != default)
    if isinstance(default, bool):
        return str(not default).lower()
    if isinstance(default, int | float) or default is None:
        return str(1 if default is None else default + 1)
    if isinstance(default, tuple):
        return "[ANOTHER]"
    return "http://127.0.0.1:9999/v1" if key.endswith("url") else "ANOTHER"


@pytest.mark.parametrize("name", REFUSED, ids=".".join)
def test_an_option_that_is_not_allowed_is_refused_by_its_line(tmp_path: Path, name: Name) -> None:
    (tmp_path / "cqm.yml").write_text(written(name))
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, environment={}, user=tmp_path / "no.yml")
    shown = ".".join(part if part != ANY else "a" for part in name)
    assert caught.value.message.startswith(f'{tmp_path / "cqm.yml"}:1: "{shown}" is refused: ')


def test_the_allowed_options_are_these() -> None:
    # A new option is refused until somebody adds it to both lists, having thought of it as an attack.
    assert {".".join(name) for name in ALLOWED} == {
        "chunk.apart",
        "chunk.max_parse_bytes",
        "chunk.max_tokens",
        "chunk.min_tokens",
        "chunk.overlap_percent",
        "chunk.overlap_tokens",
        "chunk.rules",
        "context.place",
        "context.provider",
        "embedding.provider",
        "rerank.provider",
        "scan.exclude",
        "scan.include_generated",
        "scan.include_lock_files",
        "scan.include_vendored",
        "scan.max_file_bytes",
        "scan.use_gitignore",
        "search.limit",
        "search.mode",
        "watch.debounce_ms",
        "watch.enabled",
        "watch.poll_seconds",
        "watch.reconcile_seconds",
    }
    assert ALLOWED.keys() <= option_names(Options).keys()


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A port of this machine, and what the connections to it began with."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    with heard_by(listener) as heard:
        yield port, heard


def model(provider: str, path: str = "/v1") -> str:
    return f"provider: {provider}, model: tiny, base_url: 'http://127.0.0.1:PORT{path}'"


ATTACKS = {
    **{provider: f"embedding: {{{model(provider)}}}" for provider in PRESETS},
    "ollama": f"embedding: {{{model('ollama', '')}}}",
    "fallback": f"embedding: {{fallback: [a]}}\nproviders: {{a: {{{model('voyage')}}}}}",
    "prose": f"embedding: {{prose: a}}\nproviders: {{a: {{{model('jina')}}}}}",
    "localhost": "embedding: {provider: openai, model: tiny, base_url: 'http://localhost:PORT/v1'}",
    "context": f"context: {{{model('openai')}}}",
    "context of ollama": f"context: {{{model('ollama', '')}}}",
    "rerank": "rerank: {provider: http, shape: cohere, url: 'http://127.0.0.1:PORT/v2/rerank'}",
    "late": "late: {encoder: 'http://127.0.0.1:PORT', api_key_env: AWS_SECRET_ACCESS_KEY}",
    "redis": "cache: {redis_url: 'redis://127.0.0.1:PORT/0', redis_password_env: AWS_SECRET_ACCESS_KEY}",
    "store": "store: {url: 'http://127.0.0.1:PORT', api_key_env: AWS_SECRET_ACCESS_KEY}",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_sent_to_an_address_of_this_machine_that_a_project_names(
    stranger: Path, victim_of: Deliver, attack: str
) -> None:
    with listening() as (port, heard):
        (stranger / "cqm.yml").write_text(ATTACKS[attack].replace("PORT", str(port)))
        victim = victim_of(stranger, "cp -r")
        done = victim.run("search", "innocent", **KEYS)
    assert heard == []
    assert done.returncode == 2
    assert "is refused: " in done.stderr


@pytest.mark.parametrize("command", [["index"], ["doctor"], ["status"], ["preview", "innocent.py"]])
def test_no_command_sends_a_key_to_it(
    delivered: Callable[[Path], "Victim"], stranger: Path, command: list[str]
) -> None:
    with listening() as (port, heard):
        (stranger / "cqm.yml").write_text("\n".join(ATTACKS[it] for it in ("openai", "rerank", "late", "redis")))
        text = (stranger / "cqm.yml").read_text().replace("PORT", str(port))
        (stranger / "cqm.yml").write_text(text)
        done = delivered(stranger).run(*command, **KEYS)
    assert heard == []
    assert done.returncode != 0
    assert "is refused: " in done.stdout + done.stderr


def test_a_victims_own_service_is_asked_and_a_project_cannot_turn_it_elsewhere(
    stranger: Path, victim_of: Deliver
) -> None:
    with listening() as (port, heard), listening() as (other, heard_elsewhere):
        own = model("openai").replace("PORT", str(port))
        (stranger / "cqm.yml").write_text(f"embedding: {{base_url: 'http://127.0.0.1:{other}/v1'}}")
        victim = victim_of(stranger, "cp -r")
        settings = victim.home / ".config" / "cqm" / "cqm.yml"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            f"embedding: {{{own}, retry_seconds: 1}}\ncache: {{enabled: false}}\nindex: {{shared: false}}"
        )
        assert victim.run("search", "innocent", **KEYS).returncode == 2
        assert heard == heard_elsewhere == []
        (victim.project / "cqm.yml").unlink()
        victim.run("search", "innocent", **KEYS)
        assert any(b"Bearer sk-of-the-victim" in request for request in heard)
        assert heard_elsewhere == []


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_terminal(path: Path) -> None:
    path.symlink_to("/dev/stdin")


def make_link(path: Path) -> None:
    (path.parent / "other.yml").write_text("search: {limit: 3}\n")
    path.symlink_to("other.yml")


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_folder(path: Path) -> None:
    path.mkdir()
    (path / "kept").touch()


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 34)


def make_binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00search")


@pytest.mark.skipif(os.name != "posix", reason="Windows has none of these")
@pytest.mark.parametrize(
    "make",
    [make_fifo, make_device, make_terminal, make_link, make_loop, make_folder, make_socket, make_huge, make_binary],
)
def test_what_is_no_small_file_of_text_in_the_place_of_the_settings_is_told_at_once(
    stranger: Path, victim_of: Deliver, make: Callable[[Path], None]
) -> None:
    victim = victim_of(stranger, "cp -r")
    make(victim.project / "cqm.yml")
    done = victim.run("search", "innocent", seconds=60, CQM_EMBEDDING_PROVIDER="none", CQM_INDEX_SHARED="0")
    assert done.returncode == 2
    assert str(victim.project / "cqm.yml") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows has none of these")
@pytest.mark.parametrize("make", [make_fifo, make_device, make_loop, make_folder, make_huge])
def test_nor_does_the_victims_own_file_hang(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "cqm.yml")
    with pytest.raises(SettingsError, match=r"cqm\.yml: (cannot be read|larger than)"):
        load_settings(environment={}, user=tmp_path / "cqm.yml")


@pytest.mark.parametrize(
    "text",
    [
        "search: {limit: 0x" + "f" * 50_000 + "}",
        "search: {limit: 0b" + "1" * 50_000 + "}",
        "search: {limit: 1" + ":59" * 20_000 + "}",
        "watch: {poll_seconds: 1" + ":59" * 20_000 + ".5}",
        "search: {limit: !!bool x}",
        "search: {limit: !!int ''}",
        "search: {mode: !!timestamp x}",
        "search: {mode: !<%1b[31m> x}",
        'search: {mode: "\\e[31m\\u202e\\u009b2J"}',
        'search: {mode: "\\ud800"}',
        '"lim\\e[31mit": 3',
        '"limit\\n/home/me/cqm.yml": 3',
        '"\\u202elimit": 3',
        "search: {" + ",".join(f"a{number}: 1" for number in range(900)) + "}",
        "search: {" + ",".join(f"a{number}: 1" for number in range(6_000)) + "}",
        "scan: {exclude: [" + "1," * 30_000 + "]}",
        "providers: {" + ",".join(f"a{number}: {{model: x}}" for number in range(400)) + "}",
    ],
    ids=range(17),
)
def test_odd_settings_are_a_short_and_printable_refusal(tmp_path: Path, text: str) -> None:
    (tmp_path / "cqm.yml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, environment={}, user=tmp_path / "no.yml")
    lines = caught.value.message.splitlines()
    assert len(lines) <= 21
    assert all(line.isprintable() and line.startswith((str(tmp_path), "... and ")) for line in lines)


@pytest.mark.parametrize(
    ("own", "settings"),
    [
        ("", "chunk: {max_parse_bytes: 16000000}"),
        ("", "scan: {max_file_bytes: 1000000000}"),
        ("", "scan: {use_gitignore: false}"),
        ("", "cache: {disk_mb: 1}"),
        ("", "cache: {enabled: false}"),
        ("", "cache: {memory_mb: 65536}"),
        ("", "index: {in_project: true}"),
        ("", "index: {idle_seconds: 86400}"),
        ("", "index: {workers: 256}"),
        ("", "watch: {poll_seconds: 0.1}"),
        ("search: {mode: lexical}", "search: {mode: hybrid}"),
    ],
)
def test_a_project_takes_no_more_of_the_machine_than_the_user_gives(tmp_path: Path, own: str, settings: str) -> None:
    (tmp_path / "own.yml").write_text(own)
    (tmp_path / "cqm.yml").write_text(settings)
    with pytest.raises(SettingsError, match="is refused: "):
        load_settings(tmp_path, environment={}, user=tmp_path / "own.yml")


def test_the_victims_cache_is_as_it_was_after_a_project_that_asks_for_a_small_one(
    stranger: Path, victim_of: Deliver
) -> None:
    victim = victim_of(stranger, "cp -r")
    assert victim.run("index").returncode == 0
    cache = sorted((path, path.stat().st_size) for path in victim.home.rglob("*") if "cache" in path.name)
    (victim.project / "cqm.yml").write_text("cache: {disk_mb: 1}\n")
    done = victim.run("index")
    assert (done.returncode, '"cache.disk_mb" is refused: your other projects share the cache' in done.stderr) == (
        2,
        True,
    )
    assert sorted((path, path.stat().st_size) for path in victim.home.rglob("*") if "cache" in path.name) == cache


def test_a_file_that_the_victim_never_wants_indexed_is_not_found(
    stranger: Path, delivered: Callable[[Path], "Victim"]
) -> None:
    (stranger / "cqm.yml").write_text("scan: {exclude: []}\n")
    (stranger / "mine.py").write_text("def innocent_of_mine():\n    return 1\n")
    victim = delivered(stranger)
    settings = victim.home / ".config" / "cqm" / "cqm.yml"
    settings.parent.mkdir(parents=True)
    settings.write_text("scan: {exclude: [mine.py]}\nembedding: {provider: none}\nindex: {shared: false}\n")
    assert victim.paths("innocent") == ["innocent.py"]
