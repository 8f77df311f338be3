"""Folders that are served may be missing, come later, or be links that are switched to another folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import TextContent

if TYPE_CHECKING:
    from conftest import Connect

WAIT_SECONDS = 60
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "limit_retries"}),
    ("search", {"query": "limit_retries", "mode": "exact"}),
    ("search", {"like": "project/src/limits.py:4"}),
    ("read", {"what": "limit_retries"}),
    ("read", {"what": "project/src/limits.py"}),
    ("usages", {"name": "limit_retries"}),
    ("outline", {}),
    ("index_status", {}),
)

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


async def told(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    [content] = answer.content
    assert isinstance(content, TextContent)
    assert not answer.is_error, content.text
    return content.text


@contextmanager
def renamed(folder: Path) -> Iterator[None]:
    away = folder.rename(folder.with_name("away"))
    yield
    away.rename(folder)


def point(link: Path, folder: Path) -> None:
    """Switch a link as deploys do, in one step."""
    new = link.with_name("new")
    new.symlink_to(folder)
    new.replace(link)


def release(folder: Path, word: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "app.py").write_text(f"def {word}():\n    return 1\n")
    return folder


@pytest.mark.parametrize("is_open_before", [False, True])
async def test_one_folder_that_is_gone_leaves_the_others_to_answer_with_a_note(
    connect: "Connect", project: Path, is_open_before: bool
) -> None:
    other = release(project.parent / "other", "limit_nothing")
    async with connect(project, other) as client:
        if is_open_before:
            for folder in (project, other):
                await told(client, "index_path", path=str(folder))
        with renamed(other):
            for tool, arguments in CALLS:
                reply = await told(client, tool, **arguments)
                assert f"The folder {other} that is served does not exist" in reply or "like" in arguments
                assert "limits.py" in reply or "handbook.md" in reply or tool == "index_status"
        assert "does not exist" not in await told(client, "search", query="limit_nothing")


async def test_a_folder_that_is_missing_at_the_start_is_served_when_it_comes(connect: "Connect", project: Path) -> None:
    later = project.parent / "later"
    async with connect(project, later) as client:
        assert f"The folder {later} that is served does not exist" in await told(client, "search", query="retries")
        release(later, "come_late")
        found = await told(client, "search", query="come_late")
        assert "later/app.py" in found
        assert "does not exist" not in found


async def test_a_link_that_is_switched_is_served_as_what_it_leads_to_now(connect: "Connect", project: Path) -> None:
    base = project.parent
    old, new = release(base / "releases" / "41", "ring_old"), release(base / "releases" / "42", "ring_new")
    link = base / "current"
    point(link, old)
    async with connect(link) as client:
        assert "ring_old" in await told(client, "read", what="ring_old")
        point(link, new)
        assert "ring_new" in await told(client, "read", what="ring_new")
        found = await told(client, "search", query="ring_new", path=str(link))
        assert f"in {new}," in found
        with anyio.fail_after(WAIT_SECONDS):
            while str(old) in await told(client, "index_status"):
                await anyio.lowlevel.checkpoint()
        (new / "app.py").write_text("def ring_newer():\n    return 2\n")
        assert "ring_newer" in await told(client, "search", query="ring_newer", wait_seconds=10)


async def test_the_filters_of_a_search_of_several_folders_are_told_as_they_were_given(
    connect: "Connect", project: Path
) -> None:
    """Once the answer of all told those of the last folder."""
    other = release(project.parent / "other", "limit_nothing")
    async with connect(project, other) as client:
        paths = [str(other), str(project / "src")]
        found = await told(client, "search", query="limit", path=paths, exclude=["docs/**"])
        assert ", exclude docs/**) from" in found
        assert "/src/**" not in found


async def test_a_folder_that_several_roots_have_is_asked_in_each(connect: "Connect", project: Path) -> None:
    other = release(project.parent / "other" / "src", "limit_nothing").parent
    async with connect(other, project) as client:
        found = await told(client, "search", query="limit", path="src")
        assert "other/src/app.py" in found
        assert "project/src/limits.py" in found
        outlined = await told(client, "outline", path="src")
        assert "limit_nothing" in outlined
        assert "limit_retries" in outlined


async def test_a_file_of_a_root_inside_another_is_found_once(connect: "Connect", project: Path) -> None:
    async with connect(project, project / "src") as client:
        found = await told(client, "search", query="limit_retries")
        assert "src/limits.py" in found
        assert "project/src/limits.py" not in found
        lines = await told(client, "search", query="def limit_retries", mode="exact")
        assert lines.startswith("1 line")


async def test_another_checkout_inside_a_project_is_answered_by_its_own_index(
    connect: "Connect", project: Path
) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *arguments], cwd=project, check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "all")
    git("worktree", "add", "--quiet", ".trees/feature")
    release(project / ".trees/feature/new", "only_on_the_feature")
    async with connect(project) as client:
        assert ".trees" not in await told(client, "search", query="limit_retries")
        found = await told(client, "search", query="only_on_the_feature", path=".trees/feature")
        assert "new/app.py" in found


async def test_a_slip_in_a_name_is_told_the_nearest_by_the_folder_that_has_it(
    connect: "Connect", project: Path
) -> None:
    other = release(project.parent / "other", "open_door")
    async with connect(project, other) as client:
        found = await told(client, "usages", name="limit_retris")
        assert found.startswith(
            "In project:\nlimit_retris is no word of any file in the index. Did you mean limit_retries?"
        )
        assert "other" not in found


async def test_a_note_and_an_answer_that_several_folders_share_are_told_once(connect: "Connect", project: Path) -> None:
    other = release(project.parent / "other", "open_door")
    async with connect(project, other) as client:
        assert (await told(client, "search", query="repo:web retries")).count("`repo:web` is taken as words") == 1
        nowhere = await told(client, "usages", name="zzqqxx")
        assert nowhere.startswith("In project, other:\nzzqqxx is no word of any file")


async def test_the_definition_in_one_folder_comes_before_a_mention_in_another(
    connect: "Connect", project: Path
) -> None:
    first = release(project.parent / "first", "other_thing")
    (first / "app.py").write_text("def other_thing():\n    shared_word = 1\n    return shared_word\n")
    second = release(project.parent / "second", "shared_word")
    async with connect(first, second) as client:
        found = await told(client, "search", query="shared_word")
        assert found.index("second/app.py") < found.index("first/app.py")
