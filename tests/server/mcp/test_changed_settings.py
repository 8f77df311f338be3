"""A cqm.yml that is edited while a server goes on holds soon, or the replies say why it doesn't."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import TextContent

from cqm.server.config.settings import Settings, load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import make_server

WAIT_SECONDS = 120
SECRET = "def unpublished_reckoning():\n    return 1\n"

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def call(client: Client, tool: str, **arguments: Any) -> str:
    [content] = (await client.call_tool(tool, arguments)).content
    assert isinstance(content, TextContent)
    return content.text


async def until(condition: Callable[[str], bool], client: Client, tool: str, **arguments: Any) -> str:
    reply = ""
    with anyio.move_on_after(WAIT_SECONDS):
        while not condition(reply := await call(client, tool, **arguments)):
            await anyio.lowlevel.checkpoint()
    assert condition(reply), reply
    return reply


def write(file: Path, text: str) -> None:
    file.write_text(text)


@contextmanager
def away(folder: Path) -> Iterator[None]:
    elsewhere = folder.rename(folder.with_name("away"))
    yield
    elsewhere.rename(folder)


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "user.yml"


@pytest.fixture(params=[True, False], ids=["shared", "alone"])
def settings(tmp_path: Path, user: Path, request: pytest.FixtureRequest) -> Settings:
    overrides = {
        "index.home": str(tmp_path / "indexes"),
        "index.shared": request.param,
        "embedding.provider": "none",
        "watch.debounce_ms": 10,
    }
    return load_settings(overrides=overrides, environment={}, user=user)


@pytest.fixture
def serving(settings: Settings, project: Path, forked_owners: None) -> Callable[[], Any]:
    (project / "priv").mkdir()
    (project / "priv" / "p.py").write_text(SECRET)

    @asynccontextmanager
    async def served() -> AsyncIterator[Client]:
        async with Client(make_server(settings, make_guard([project]))) as client:
            await call(client, "index_path")
            yield client

    return served


async def test_a_pattern_that_is_added_to_cqm_yml_takes_files_out_at_once(serving: Any, project: Path) -> None:
    async with serving() as client:
        assert "priv/p.py" in await call(client, "search", query="unpublished_reckoning")
        (project / "cqm.yml").write_text("scan: {exclude: [priv/]}\n")
        await until(lambda it: "priv/p.py" not in it, client, "search", query="unpublished_reckoning")
        assert "No symbol" in await call(client, "read", what="unpublished_reckoning")
        # Its files are followed on with these settings.
        (project / "priv" / "later.py").write_text("def later_reckoning():\n    return 1\n")
        (project / "src" / "open.py").write_text("def open_reckoning():\n    return 1\n")
        await until(lambda it: "src/open.py" in it, client, "search", query="open_reckoning", wait_seconds=5)
        assert "later.py" not in await call(client, "search", query="later_reckoning", wait_seconds=5)
        (project / "cqm.yml").unlink()
        await until(lambda it: "priv/later.py" in it, client, "search", query="later_reckoning")


async def test_other_sizes_of_chunks_are_built_beside_and_then_serve(serving: Any, project: Path) -> None:
    many = "\n\n".join(f"def step_{n}():\n    return {n} * 7 + {n}" for n in range(60))
    (project / "src" / "many.py").write_text(f"{many}\n")
    async with serving() as client:
        before = chunks(await call(client, "index_status"))
        (project / "cqm.yml").write_text("chunk: {max_tokens: 128, min_tokens: 16}\n")
        await until(lambda it: chunks(it) > before, client, "index_status")
        assert "src/many.py" in await call(client, "search", query="step_41")


async def test_a_limit_of_results_holds_from_the_next_question_on(serving: Any, project: Path) -> None:
    async with serving() as client:
        assert "handbook.md" in await call(client, "search", query="limit of retries deployment")
        (project / "cqm.yml").write_text("search: {limit: 1}\n")
        await until(lambda it: "1 result" in it, client, "search", query="limit of retries deployment")


async def test_the_users_own_file_holds_too(serving: Any, project: Path, user: Path) -> None:
    async with serving() as client:
        write(user, "scan: {exclude: [priv/]}\n")
        await until(lambda it: "priv/p.py" not in it, client, "search", query="unpublished_reckoning")
        write(user, "server: {roots: [/somewhere]}\n")
        status = await until(lambda it: "server.roots" in it, client, "index_status")
    assert "Start this server again for server.roots of your cqm.yml." in status


@pytest.mark.fault("broken settings")
@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("scan: {exclude: [priv/]}\nserach:\n  limit: 3\n", r'cqm\.yml:2: unknown option "serach"'),
        ("scan: {\n", r"cqm\.yml:\d: not valid YAML"),
        ("server:\n  token_budget: 9000\n", r'cqm\.yml:2: "server\.token_budget" is refused'),
    ],
)
async def test_a_broken_file_changes_nothing_and_every_reply_says_where_it_is_broken(
    serving: Any, project: Path, broken: str, told: str
) -> None:
    async with serving() as client:
        (project / "cqm.yml").write_text(broken)
        note = await until(lambda it: bool(re.search(told, it)), client, "search", query="unpublished_reckoning")
        assert "priv/p.py" in note
        assert "the settings that were read before hold" in note
        for tool, arguments in {"index_status": {}, "read": {"what": "src/limits.py"}, "index_path": {}}.items():
            assert re.search(told, await call(client, tool, **arguments))
        (project / "cqm.yml").write_text("scan: {exclude: [priv/]}\n")
        mended = await until(lambda it: "priv/p.py" not in it, client, "search", query="unpublished_reckoning")
        assert "cqm.yml" not in mended


async def test_a_folder_that_is_away_keeps_its_settings(serving: Any, project: Path) -> None:
    (project / "cqm.yml").write_text("scan: {exclude: [priv/]}\n")
    async with serving() as client:
        with away(project):
            assert "limits.py" in await call(client, "search", query="limit_retries")
        assert "priv/p.py" not in await call(client, "search", query="unpublished_reckoning", wait_seconds=5)


@pytest.mark.parametrize("settings", [True], ids=["shared"], indirect=True)
async def test_of_two_servers_with_one_index_both_have_the_new_settings(serving: Any, project: Path) -> None:
    async with serving() as one, serving() as other:
        (project / "cqm.yml").write_text("scan: {exclude: [priv/]}\n")
        for client in (one, other):
            await until(lambda it: "priv/p.py" not in it, client, "search", query="unpublished_reckoning")
            status = await until(lambda it: "than this process has" not in it, client, "index_status")
            assert "fresh" in status


def chunks(status: str) -> int:
    found = re.search(r"([\d,]+) chunks?: ", status)
    return int(found[1].replace(",", "")) if found else 0
