"""An index for a team by the installed command: published on one machine, taken and edited on another."""

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from qdrant_double import QdrantDouble

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")

READING = ("/points", "/points/query/batch", "/points/scroll", "/points/count")


def machine(cqm: "Cqm", name: str, qdrant: QdrantDouble) -> "Cqm":
    """Another user's machine with a clone of the project, and the team's server in their own cqm.yml."""
    home = cqm.project.parent / f"home of {name}"
    (home / ".config" / "cqm").mkdir(parents=True)
    (home / ".config" / "cqm" / "cqm.yml").write_text(f"store: {{url: '{qdrant.url}', only_bases: true}}\n")
    shutil.copytree(cqm.project, cqm.project.parent / name)
    return replace(cqm, project=cqm.project.parent / name, environment=cqm.environment | {"HOME": str(home)})


def results(cqm: "Cqm", *arguments: str) -> list[tuple[object, ...]]:
    """Return what a search finds; scores without their last digits."""
    found = cqm.json("search", *arguments)["results"]
    return [(it["path"], it["start_line"], it["text"], round(it["score"], 4)) for it in found]


def test_a_team_reads_one_index_and_each_machine_finds_its_own_changes(cqm: "Cqm", qdrant: QdrantDouble) -> None:
    ci, own = machine(cqm, "ci", qdrant), machine(cqm, "own", qdrant)
    published = ci.json("publish", "shop")
    assert (published["name"], published["files"], published["deleted"]) == ("shop", 3, [])
    qdrant.requests.clear()
    assert own.json("take", "shop")["chunks_written"] == 0
    checks = {it["name"]: it["verdict"] for it in own.json("doctor", code=1)["checks"]}
    assert checks["store"] == "ok"
    # A key that may only read is enough.
    assert {it.method for it in qdrant.requests} == {"GET", "POST"}
    assert not [it.path for it in qdrant.requests if it.method == "POST" and not it.path.endswith(READING)]
    assert results(own, "greet") == results(ci, "greet")
    assert "its chunks in the base shop (cqm_base-shop-" in own.run("status").stdout

    before = qdrant.ids("cqm_base-shop")
    (own.project / "src" / "greeting.py").write_text("def greet_all(names):\n    return [f'hi {it}' for it in names]\n")
    (own.project / "docs" / "guide.md").unlink()
    assert own.paths("greet_all")[0] == "src/greeting.py"
    assert "docs/guide.md" not in own.paths("greeting people")
    assert results(own, "greet") == results(machine(own, "like own", qdrant), "greet")
    assert results(ci, "greet") != results(own, "greet")
    assert qdrant.ids("cqm_base-shop") == before

    (ci.project / "src" / "later.py").write_text("def wave_later():\n    return 'bye'\n")
    told = ci.run("publish", "shop", "--keep", "1")
    assert told.returncode == 0
    assert "shop: 4 files" in told.stdout
    assert "deleted 1 older base" in told.stdout
    gone = own.run("search", "greet_all")
    assert gone.returncode == 1
    assert "Run `cqm take shop` to have the present one." in gone.stderr
    assert own.run("take", "shop").returncode == 0
    assert "src/later.py" not in own.paths("wave_later")
    (own.project / "src" / "later.py").write_text("def wave_later():\n    return 'bye'\n")
    assert own.paths("wave_later")[0] == "src/later.py"
    assert own.paths("greet_all")[0] == "src/greeting.py"
    assert len(qdrant.collections) == 1
    assert own.run("remove", "--yes").returncode == 0
    assert len(qdrant.collections) == 1


def test_what_cannot_be_published_or_taken_is_told_before_the_work(cqm: "Cqm", qdrant: QdrantDouble) -> None:
    refused = cqm.run("publish", "shop")
    assert refused.returncode == 1
    assert "store.url names none" in refused.stderr
    own = machine(cqm, "own", qdrant)
    assert "no name of a base" in own.run("publish", "../shop").stderr
    assert qdrant.requests == []
    unknown = own.run("take", "shop")
    assert unknown.returncode == 1
    assert "There is no base shop" in unknown.stderr
    assert "`cqm publish NAME` makes one" in unknown.stderr


def test_a_project_cannot_name_the_server_of_a_base(cqm: "Cqm", qdrant: QdrantDouble) -> None:
    (cqm.project / "cqm.yml").write_text(f"store: {{url: '{qdrant.url}'}}\n")
    for command in ("take", "publish"):
        refused = cqm.run(command, "shop")
        assert refused.returncode == 2
        assert '"store.url" is refused' in refused.stderr
    assert qdrant.requests == []
