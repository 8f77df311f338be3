"""Find things on a machine: the user's home, folders of programs, programs themselves."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    """A user's machine.

    Attributes:
        home: the user's home folder.
        platform: as `sys.platform` has it: "linux", "darwin", "win32".
    """

    home: Path
    platform: str
    variables: Mapping[str, str]

    def path(self, template: str) -> Path:
        """Fill a path of a client's row; a folder which the client's own variable moves is taken from there.

        Parameters:
            template: such as "{config}/zed/settings.json".
        """
        config = self._folder("XDG_CONFIG_HOME", self.home / ".config")
        roaming = self._folder("APPDATA", self.home / "AppData" / "Roaming")
        app = {"darwin": self.home / "Library" / "Application Support", "win32": roaming}.get(self.platform, config)
        folders = {
            "home": self.home,
            "config": config,
            "app": app,
            "claude_file": self._folder("CLAUDE_CONFIG_DIR", self.home),
            "claude": self._folder("CLAUDE_CONFIG_DIR", self.home / ".claude"),
            "codex": self._folder("CODEX_HOME", self.home / ".codex"),
            "copilot": self._folder("COPILOT_HOME", self.home / ".copilot"),
            "grok": self._folder("GROK_HOME", self.home / ".grok"),
        }
        return Path(template.format_map(folders))

    def program(self, names: Sequence[str]) -> str | None:
        """Find the first installed program of these names; None without one."""
        found = (shutil.which(name, path=self.variables.get("PATH", os.defpath)) for name in names)
        return next(filter(None, found), None)

    def _folder(self, variable: str, default: Path) -> Path:
        value = Path(self.variables.get(variable, ""))
        return value if value.is_absolute() else default


def this_machine() -> Machine:
    """Return the machine and user of this process."""
    return Machine(Path.home(), sys.platform, os.environ)
