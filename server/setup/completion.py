"""Scripts which have shells complete commands and options of `cqm`."""

import os
from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

VARIABLE = "_CQM_COMPLETE"
"""Set by the scripts, and read by click."""


class PowerShellComplete(ShellComplete):
    """Completion for PowerShell, which click lacks. Paths are left to the shell."""

    name = "powershell"
    source_template = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($word, $command, $position)
    $env:%(complete_var)s = "powershell_complete"
    $env:COMP_WORDS = $command.ToString()
    $env:COMP_WORD = $word
    %(prog_name)s | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $help)
    }
    Remove-Item "Env:%(complete_var)s", "Env:COMP_WORDS", "Env:COMP_WORD" -ErrorAction Ignore
}
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one under the cursor, and that one."""
        words = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        word = os.environ.get("COMP_WORD", "")
        return (words[:-1] if word and words and words[-1] == word else words), word

    def format_completion(self, item: CompletionItem) -> str:
        """Write a completion as a line of the value and its help."""
        return "" if item.type in {"dir", "file"} else f"{item.value}\t{item.help or ''}"


SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
    "powershell": PowerShellComplete,
}


def _clients() -> Iterable[str]:
    from cqm.server.setup.clients import CLIENTS  # each value is asked for alone, here and below

    return (row.id for row in CLIENTS)


def _strategies() -> Iterable[str]:
    from cqm.chunkers.strategies.table import BY_NAME

    return ("auto", *BY_NAME)


def _groups() -> Iterable[str]:
    from cqm.server.config.settings import load_settings
    from cqm.server.errors import SettingsError

    try:
        return load_settings().groups
    except SettingsError:
        # A shell shows no reasons; the command will.
        return ()


def _settings() -> Iterable[str]:
    from cqm.server.config.settings import every_option

    return (f"{name}=" for name in every_option())


VALUES: Mapping[str, Callable[[], Iterable[str]]] = {
    "clients": _clients,
    "groups": _groups,
    "settings": _settings,
    "strategies": _strategies,
}
"""Values of options for a shell to offer, by the kind of them."""


def register() -> None:
    """Tell click of PowerShell, before it completes."""
    add_completion_class(PowerShellComplete)


def script(command: click.Command, program: str, shell: str) -> str:
    """Return the script of a shell.

    Parameters:
        command: all commands.
        program: their name.
        shell: one of `SHELLS`.
    """
    # That of bash itself starts bash to ask for its version.
    return ShellComplete.source(SHELLS[shell](command, {}, program, VARIABLE))
