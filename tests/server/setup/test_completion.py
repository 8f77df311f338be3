"""`cqm completion`: scripts for four shells, and what they ask for."""

import pytest
from click.testing import CliRunner

from cqm.chunkers.code.syntax import parse
from cqm.chunkers.grammars import BUNDLE, grammar
from cqm.server.cli.main import app
from cqm.server.setup.completion import SHELLS, PowerShellComplete

SHELLS_PARSED = {"bash", "powershell"}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_which_asks_cqm(shell: str) -> None:
    done = CliRunner().invoke(app, ["completion", shell])
    assert done.exit_code == 0
    assert f"{shell}_complete" in done.stdout
    assert "_CQM_COMPLETE" in done.stdout
    if shell in SHELLS_PARSED:
        assert not parse(done.stdout.encode(), grammar(BUNDLE, shell)).root_node.has_error


@pytest.mark.parametrize(
    ("words", "word", "wanted"),
    [
        ("cqm sea", "sea", ["search"]),
        ("cqm setup --no", "--no", ["--no-env", "--no-check"]),
        ("cqm completion ", "", ["bash", "zsh", "fish", "powershell"]),
        ('cqm search "a b" --mode ', "", None),
        ("cqm setup --root ", "", [""]),
        ("cqm setup --client z", "z", ["zed", "zcode"]),
        ("cqm preview --strategy s", "s", ["sentence", "semantic"]),
        ("cqm search x --set search.", "search.", ["search.limit=", "search.mode="]),
        ("cqm nosuch ", "", [""]),
        ("cqm grep ", "", [""]),
        ('cqm "a question" ', "", [""]),
        ("cqm help se", "se", ["search", "serve", "setup"]),
    ],
)
def test_powershell_is_offered_commands_options_and_values_and_paths_are_its_own(
    monkeypatch: pytest.MonkeyPatch, words: str, word: str, wanted: list[str] | None
) -> None:
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_WORD", word)
    offered = PowerShellComplete(app, {}, "cqm", "_CQM_COMPLETE").complete().split("\n")
    values = [line.partition("\t")[0] for line in offered]
    if wanted is None:
        assert "exact" in values
    else:
        assert values == wanted
