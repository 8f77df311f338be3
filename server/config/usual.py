"""Settings of commands using an index; pydantic is loaded only if something is set."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cqm.index.disk.locations import folder_of
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.query import SearchMode
from cqm.server.config.project_root import FILE_NAME, user_file
from cqm.server.config.sections import IndexSection, SearchSection, ServerSection

_PREFIX = "CQM_"


class AskedSettings(Protocol):
    """The part of `Settings` needed by most commands."""

    @property
    def index(self) -> IndexSection:
        """The options of indexes."""

    @property
    def search(self) -> SearchSection:
        """Defaults of a search."""

    @property
    def server(self) -> ServerSection:
        """The budget of a reply."""

    def index_options(self, root: Path) -> IndexOptions:
        """Return the options of the index of `root`."""

    def store_options(self) -> StoreOptions:
        """Return the server of indexes, or of parts of them."""


@dataclass(frozen=True, slots=True)
class UsualSettings:
    """The defaults, plus the command's own limit and mode."""

    root: Path | None
    search: SearchSection = field(default_factory=SearchSection)
    index: IndexSection = field(default_factory=IndexSection)
    server: ServerSection = field(default_factory=ServerSection)

    def index_options(self, root: Path) -> IndexOptions:
        """Return the defaults; another folder may have a cqm.yml of its own."""
        return IndexOptions() if root == self.root else asked_settings(root, {}).index_options(root)

    def store_options(self) -> StoreOptions:
        """Return the defaults."""
        return StoreOptions()


def asked_settings(root: Path | None, overrides: Mapping[str, object]) -> AskedSettings:
    """Return the settings in force for a command; see `load_settings`.

    Parameters:
        root: the indexed folder or file; None for a command about all indexes.
        overrides: of the command line, by dotted name.

    Raises:
        SettingsError: a source is refused.
    """
    search = _page(overrides)
    files = [user_file()] if root is None else [user_file(), folder_of(root) / FILE_NAME]
    if search is None or _says_something() or not all(map(_is_absent, files)):
        from cqm.server.config.settings import load_settings  # start-up time

        return load_settings(root, overrides=overrides)
    return UsualSettings(root, search)


def _page(overrides: Mapping[str, object]) -> SearchSection | None:
    """Return the limit and mode of a command's own options, checked by click; None if there are other overrides."""
    usual = SearchSection()
    limit, mode = overrides.get("search.limit", usual.limit), overrides.get("search.mode", usual.mode)
    if overrides.keys() - {"search.limit", "search.mode"} or not isinstance(limit, int) or mode not in list(SearchMode):
        return None
    return SearchSection(limit, SearchMode(str(mode)))


def _says_something() -> bool:
    """Whether a variable of ours is set; an empty one is not."""
    return any(value and name.startswith(_PREFIX) for name, value in os.environ.items())


def _is_absent(file: Path) -> bool:
    """Whether there is no file; an inaccessible one is not absent."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
