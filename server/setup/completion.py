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


class BashOfCqm(BashComplete):
    """Completion for bash. It reads `--mode=e` as three words."""

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' line
    for line in $(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1"); do
        case $line in
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
            plain,*=) compopt -o nospace; COMPREPLY+=("${line#plain,}") ;;
            plain,*) COMPREPLY+=("${line#plain,}") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one under the cursor, without a joining sign, and that one."""
        words, word = super().get_completion_args()
        return (words[:-1] if words[-1:] == ["="] else words), word


class ZshOfCqm(ZshComplete):
    """Completion for zsh, also where a start file has not asked for the shell's own."""

    source_template = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local -a told plain begun
    local kind value help
    (( $+commands[%(prog_name)s] )) || return 1
    local -a answer=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) \\
        %(complete_var)s=zsh_complete %(prog_name)s)}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    for kind value help in $answer; do
        case $kind in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $value == *= ]]; then begun+=("$value")
                elif [[ $help == _ ]]; then plain+=("$value")
                else told+=("$value:$help"); fi ;;
        esac
    done
    (( $#told )) && _describe -V unsorted told
    (( $#plain )) && compadd -V unsorted -a plain
    (( $#begun )) && compadd -S '' -V unsorted -a begun
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef %(complete_func)s %(prog_name)s
fi
"""


class FishOfCqm(FishComplete):
    """Completion for fish, with commas in helps, and with the name before the value of `--mode=e`."""

    source_template = """\
function %(complete_func)s
    set -l word (commandline -ct)
    set -l named (string match -r -- '^--[^=]+=' "$word")
    set -l words (commandline -cp | string collect)
    for line in (env %(complete_var)s=fish_complete COMP_WORDS="$words" COMP_CWORD="$word" %(prog_name)s)
        set -l part (string split -m 1 , -- $line)
        switch $part[1]
            case dir
                printf '%%s\\n' "$named"(__fish_complete_directories $part[2])
            case file
                printf '%%s\\n' "$named"(__fish_complete_path $part[2])
            case plain
                printf '%%s\\n' "$named"$part[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments '(%(complete_func)s)'
"""


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
    "bash": BashOfCqm,
    "zsh": ZshOfCqm,
    "fish": FishOfCqm,
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
    """Tell click of these shells, before it completes."""
    for shell in SHELLS.values():
        add_completion_class(shell)


def script(command: click.Command, program: str, shell: str) -> str:
    """Return the script of a shell, one of `SHELLS`."""
    # The one of bash starts bash to ask for its version.
    return ShellComplete.source(SHELLS[shell](command, {}, program, VARIABLE))
