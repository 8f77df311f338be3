"""`cqm outline` and `cqm read`, as people and scripts use them: from any folder of the project, as text and as JSON."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.processes


def test_a_project_is_mapped_and_a_file_outlined_from_any_folder_of_it(cqm: "Cqm") -> None:
    text = cqm.run("outline", "--token-budget", "400").stdout
    assert f"{cqm.project}: 3 files (python 2, markdown 1), 3 symbols.\n" in text
    assert " src/greeting.py  1 of 1 symbol\n  4-6  def greet(name: str) -> str\n" in text
    within = cqm.within("src")
    whole = within.run("outline", "parser.py").stdout
    assert whole.startswith("src/parser.py: 2 symbols, python.\n")
    assert "  4-10  class ConfigParser\n  7-10    def parse_line(self, line: str) -> tuple[str, str]\n" in whole
    assert within.run("outline", ".").stdout.startswith("src/: 2 files (python 2), ")
    found = within.json("outline", "../docs/guide.md")
    assert [it["symbol"] for it in found["files"][0]["symbols"]] == ["Guide", "Guide > Greeting people", "Guide > 設定"]
    assert len(cqm.json("list")["indexes"]) == 1


@pytest.mark.usefixtures("shared")
def test_a_symbol_or_lines_are_read_through_the_owner_too(cqm: "Cqm") -> None:
    found = cqm.json("read", "ConfigParser.parse_line")
    assert (found["path"], found["start_line"], found["end_line"], found["line"]) == ("src/parser.py", 7, 10, 7)
    assert found["text"] == "\n".join(cqm.text("src/parser.py").split("\n")[6:10])
    assert found["heads"] == [{"line": 4, "text": "class ConfigParser"}]
    within = cqm.within("src")
    assert within.run("read", "parser.py:4-5").stdout.endswith(
        'class ConfigParser:\n    """Reads key = value lines."""\n'
    )
    assert within.json("read", "greet", "--path", "greeting.py")["symbol"] == "greet"


def test_what_cannot_be_shown_is_told_with_the_reason_and_an_exit_code(cqm: "Cqm") -> None:
    (cqm.project / ".env").write_text("PASSWORD=hunter2\n")
    for arguments, message, code in (
        (("read", "nosuch"), "No symbol of the index is called `nosuch`.", 2),
        (("read", ".env"), ".env is not indexed: secret.", 2),
        (("outline", ".env"), ".env is not indexed: secret.", 2),
        (("read", "src/nosuch.py"), "src/nosuch.py does not exist.", 2),
        (("read", "src"), "src is a folder.", 2),
        (("read", "greet", "--token-budget", "9"), "9 is not in the range 200<=x<=24000", 2),
        (("outline", "--cursor", "x"), "`cursor x`: expected the cursor of the page before.", 2),
    ):
        done = cqm.run(*arguments)
        assert done.returncode == code, done.stderr
        assert message in done.stderr
        assert not done.stdout


def test_what_has_no_symbols_is_outlined_with_none(cqm: "Cqm") -> None:
    """Once this ended in a traceback."""
    for path, text in {"go.mod": "module x\n", "LICENSE": "Free.\n", "empty.py": "", "one/a.py": "x=1\n"}.items():
        (cqm.project / path).parent.mkdir(exist_ok=True)
        (cqm.project / path).write_text(text)
    assert cqm.run("outline", "go.mod").stdout == "go.mod: 0 symbols, gomod.\n"
    assert cqm.run("outline", "LICENSE").stdout == "LICENSE: 0 symbols, text.\n"
    assert cqm.run("outline", "empty.py").stdout == "empty.py: 0 symbols.\n"
    assert cqm.run("outline", "one").stdout.startswith("one/: 1 file (python 1), ")
    assert "0 more" not in cqm.run("outline", "--cursor", "9999").stdout
    for path in ("src", "docs", "one", "go.mod", "LICENSE", "empty.py"):
        target = cqm.project / path
        if target.is_dir():
            for file in target.iterdir():
                file.unlink()
            target.rmdir()
        else:
            target.unlink()
    assert cqm.run("outline").stdout == f"{cqm.project}: no files, 0 symbols.\n"


def test_a_path_was_about_the_folder_above_several_projects_and_all_of_them_were_indexed(cqm: "Cqm") -> None:
    above = cqm.project.parent / "several"
    for name in ("one", "other"):
        (above / name).mkdir(parents=True)
        (above / name / "cqm.yml").touch()
        (above / name / "app.py").write_text(f"def of_{name}():\n    pass\n")
    within = cqm.within("../several")
    assert within.json("read", "of_one", "--path", "one")["path"] == "app.py"
    assert within.run("outline", "one/app.py").stdout.startswith("app.py: 1 symbol, python.\n")
    assert [it["root"] for it in cqm.json("list")["indexes"]] == [str(above / "one")]


def test_changes_of_a_shallow_clone_say_what_it_lacks_until_it_is_whole(cqm: "Cqm", tmp_path: Path) -> None:
    """Its last commit was told to have written all files, and older ones as not there."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    whole, clone = tmp_path / "whole", cqm.within("clone")

    def git(folder: Path, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    whole.mkdir()
    git(whole, "init", "--quiet")
    for word in ("apple", "banana", "cherry", "damson"):
        (whole / f"{word}.py").write_text(f"def {word}():\n    return 1\n")
        git(whole, "add", ".")
        git(whole, "commit", "--quiet", "--message", f"Add the {word}")
    git(cqm.project, "clone", "--quiet", "--depth", "2", whole.as_uri(), "clone")
    deepen = "`git fetch --unshallow` brings"
    for what in ("HEAD~3", "HEAD~3..HEAD", "gone..HEAD"):
        done = clone.run("changes", what)
        assert done.returncode == 2
        assert "This clone is shallow" in done.stderr
        assert deepen in done.stderr
    last = clone.run("changes", "cherry").stdout
    assert "This clone is shallow and ends with it: what it changed is not known." in last
    assert ".py" not in last
    for what in ("the apple tree fell", "xyzzy", ""):
        assert f"This clone is shallow: older commits are not in it. {deepen}" in clone.run("changes", what).stdout
    newest = clone.json("changes", "HEAD")
    assert [part["path"] for part in newest["parts"]] == ["damson.py"]
    assert (newest["is_shallow"], newest["is_edge"]) == (True, False)
    git(clone.project, "fetch", "--quiet", "--unshallow")
    mended = clone.json("changes", "cherry")
    assert [part["path"] for part in mended["parts"]] == ["cherry.py"]
    assert not mended["is_shallow"]
    assert "apple" in clone.run("changes").stdout
