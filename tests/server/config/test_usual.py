"""A command that asks gets the settings in force, also where nothing is loaded that validates them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from cqm.server.config.project_root import user_file
from cqm.server.config.settings import load_settings
from cqm.server.config.usual import AskedSettings, UsualSettings, asked_settings
from cqm.server.errors import SettingsError


@pytest.fixture(autouse=True)
def nobody_set_anything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("CQM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))


def needed(settings: AskedSettings, root: Path) -> tuple[object, ...]:
    """All that a command reads of the settings."""
    page = (settings.search.limit, settings.search.mode, settings.server.token_budget)
    return *page, settings.index.shared, settings.index.idle_seconds, settings.index_options(root)


PAGES: tuple[Mapping[str, object], ...] = (
    {},
    {"search.limit": 3},
    {"search.mode": "exact"},
    {"search.limit": 100, "search.mode": "semantic"},
)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_where_nobody_set_anything_they_are_the_defaults(project: Path, page: Mapping[str, object]) -> None:
    given = asked_settings(project, page)
    assert isinstance(given, UsualSettings)
    assert needed(given, project) == needed(load_settings(project, overrides=page), project)


def test_each_source_is_heeded_as_ever(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_settings(project, {"server.token_budget": "300"}).server.token_budget == 300
    assert asked_settings(project, {"search.limit": "7"}).search.limit == 7
    with pytest.raises(SettingsError, match=r"search\.mode"):
        asked_settings(project, {"search.mode": "fast"})
    (project / "cqm.yml").write_text("search: {limit: 4}\n")
    assert asked_settings(project, {}).search.limit == 4
    (project / "file.py").write_text("")
    assert asked_settings(project / "file.py", {}).search.limit == 4
    (project / "cqm.yml").unlink()
    (project / "cqm.yml").symlink_to("nowhere")
    with pytest.raises(SettingsError, match="it is a link"):
        asked_settings(project, {})
    (project / "cqm.yml").unlink()
    user_file().parent.mkdir(parents=True)
    user_file().write_text("search: {limit: 5}\n")
    assert asked_settings(project, {}).search.limit == 5
    user_file().unlink()
    monkeypatch.setenv("CQM_SEARCH_LIMIT", "6")
    assert asked_settings(project, {}).search.limit == 6
    monkeypatch.setenv("CQM_SEARCH_LIMIT", "")
    assert isinstance(asked_settings(project, {}), UsualSettings)


def test_a_command_about_all_indexes_heeds_the_users_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "cqm.yml").write_text("search: {limit: 4}\n")
    usual = asked_settings(None, {})
    assert isinstance(usual, UsualSettings)
    assert usual.store_options() == load_settings(None).store_options()
    user_file().parent.mkdir(parents=True)
    user_file().write_text("store: {url: 'http://127.0.0.1:6333'}\n")
    assert asked_settings(None, {}).store_options().url == "http://127.0.0.1:6333"


def test_another_folder_has_options_of_its_own(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/cqm.yml").write_text("chunk: {max_tokens: 300}\n")
    assert asked_settings(project, {}).index_options(tmp_path / "other").chunk.max_tokens == 300
