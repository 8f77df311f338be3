"""An open index of a server follows its files, unless the settings say otherwise."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import STARTING_LOCK, index_folder, make_private_folder
from cqm.server.config.settings import load_settings
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.workspace import workspace as workspaces
from cqm.server.workspace.workspace import OpenIndex, Workspace

pytestmark = pytest.mark.processes


@pytest.fixture(params=[True, False], ids=["shared", "alone"])
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    overrides = {
        "index.home": str(tmp_path / "indexes"),
        "index.shared": str(request.param).lower(),
        "embedding.provider": "none",
    }
    made = Workspace(load_settings(overrides=overrides, environment={}, user=tmp_path / "none.yml"))
    yield made
    made.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    (root / "app.py").write_text("def begin():\n    return 1\n")
    return root


def compared(workspace: Workspace, root: Path) -> OpenIndex:
    opened = workspace.open(root)
    assert opened.watch_state() in {"not yet", "off"}
    assert not opened.is_in_step
    opened.start_or_join().result()
    assert opened.is_in_step
    return opened


def test_an_index_that_takes_long_to_open_holds_up_no_other(tmp_path: Path, root: Path) -> None:
    slow = root.with_name("slow")
    slow.mkdir()
    overrides = {"index.home": str(tmp_path / "indexes"), "embedding.provider": "none"}
    settings = load_settings(overrides=overrides, environment={}, user=tmp_path / "none.yml")
    workspace = Workspace(settings)
    folder = index_folder(slow, settings.index_options(slow))
    make_private_folder(folder)
    with ThreadPoolExecutor() as threads:
        # As another process does that starts an owner.
        with FileLock(folder / STARTING_LOCK):
            opening = threads.submit(workspace.open, slow)
            others = [threads.submit(workspace.open, root) for _ in range(2)]
            first, second = (it.result(timeout=40) for it in others)
            assert first is second
            assert not opening.done()
            closing = threads.submit(workspace.close)
        late = opening.result(timeout=40)
        closing.result(timeout=40)
    assert workspace.open_roots() == ()
    # An index that was being opened is closed, too.
    with pytest.raises(CqmError, match="closed"):
        late.index.status()


def test_an_index_is_followed_once_its_files_were_compared(workspace: Workspace, root: Path) -> None:
    opened = compared(workspace, root)
    assert opened.watch_state() == "changes are indexed as they happen"
    assert opened.wait(240)
    assert opened.backlog().count == 0


def test_an_index_whose_watch_is_off_begins_none(workspace: Workspace, root: Path) -> None:
    (root / "cqm.yml").write_text("watch:\n  enabled: false\n")
    opened = compared(workspace, root)
    assert opened.watch_state() == "off"
    assert not opened.wait(240)
    assert opened.backlog().count is None
    assert "not followed" in opened.index.backlog().problem


@pytest.mark.parametrize("workspace", [True], ids=["shared"], indirect=True)
def test_a_call_by_the_former_client_while_settings_change_leaves_no_note(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = workspace.open(root)
    former = opened.index

    def with_a_late_call(*arguments: Any, **options: Any) -> OpenedIndex:
        made = open_index(*arguments, **options)
        former.status()
        return made

    monkeypatch.setattr(workspaces, "open_index", with_a_late_call)
    (root / "cqm.yml").write_text("scan: {exclude: [priv/]}\n")
    while opened.index is former:
        workspace.open(root)
    assert workspace.notice(root) == ""
