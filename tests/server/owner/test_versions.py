"""An owner and its clients run the same CQM: after an update of it, the newer one has the index."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from cqm.index.model.errors import IndexInUseError
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.server.owner.messages import PROTOCOL, Build, this_build

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

OLD = Build(PROTOCOL, "0.0.1")
NEW = Build(PROTOCOL, "999.0")
OWNING = """
import sys
from pathlib import Path
from cqm.server.owner.messages import Build
from cqm.server.owner.process import own
own(Path(sys.argv[1]), build=Build(int(sys.argv[2]), sys.argv[3]))
"""


@contextmanager
def owner_of(place: "Place", build: Build) -> Iterator["subprocess.Popen[str]"]:
    """An owner that says that it runs another CQM."""
    place.folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", OWNING, str(place.folder), str(build.protocol), build.version]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == "null\n"
        yield owner


@pytest.mark.parametrize("build", [OLD, NEW, Build(PROTOCOL + 1, "0.0.1")], ids=["older", "newer", "other protocol"])
def test_an_owner_of_another_version_that_nobody_uses_makes_way(place: "Place", build: Build) -> None:
    with owner_of(place, build) as owner, place.open() as index:
        assert index.update().added == 3
        assert place.owner != owner.pid
        assert owner.wait() == 0


def test_an_older_owner_makes_way_for_a_newer_client_and_its_own_are_told(place: "Place") -> None:
    with owner_of(place, OLD), place.open(build=OLD) as old:
        old.update()
        with place.open() as new:
            assert new.search(Query("compute_1")).hits
            with pytest.raises(IndexInUseError, match=rf"in use by CQM {this_build().version} for process") as refused:
                old.search(Query("compute_1"))
            assert "Restart this program" in refused.value.remedy
        # With nobody else there, the newer one makes way in its turn; CQM may have been put back.
        with pytest.raises(IndexInUseError), place.open():
            old.search(Query("compute_1"))


def test_a_newer_owner_with_clients_refuses_an_older_one(place: "Place") -> None:
    with owner_of(place, NEW), place.open(build=NEW, idle_seconds=0) as new:
        with pytest.raises(IndexInUseError, match=rf"in use by CQM 999.0 .+; this is CQM {this_build().version}"):
            place.open()
        assert new.update().added == 3


def test_an_owner_ends_what_its_clients_have_begun_before_it_makes_way(large: "Place", background: Any) -> None:
    begun = Event()

    def begin(progress: Progress) -> None:
        if progress.phase == "indexing":
            begun.set()

    with owner_of(large, OLD) as owner, large.open(build=OLD) as old:
        going_on = background(lambda: old.update(report=begin))
        assert begun.wait(240)
        with large.open() as new:
            summary = going_on.result()
            assert (summary.added, summary.cancelled) == (2000, False)
            assert new.status(look=True).pending == 0
            assert owner.wait() == 0


def test_versions_are_compared_by_their_numbers() -> None:
    assert Build(1, "0.9.1").order < Build(1, "0.10.0").order < Build(2, "0.1").order
    assert replace(OLD, version="1.2.3").order[:2] == (PROTOCOL, (1, 2, 3))
    before = ["unknown", "0.1.9", "0.2.0.dev3", "0.2.0a1.dev2", "0.2.0a1", "0.2.0b2", "0.2.0rc1", "0.2.0rc2"]
    ordered = [*before, "0.2.0", "0.2.0.post1.dev2", "0.2.0.post1", "0.2.1.dev1", "0.2.1", "0.2.1.1"]
    backwards = ordered[::-1]
    assert sorted(backwards, key=lambda version: Build(1, version).order) == ordered


@pytest.mark.parametrize("same", ["0.2", "v0.2.0", "0.2.0.0", "0.2.0+of.a.distribution"])
def test_a_version_may_be_written_in_other_ways(same: str) -> None:
    assert Build(1, same).order == Build(1, "0.2.0").order


def test_a_version_of_endless_digits_was_an_error_of_the_owner() -> None:
    assert Build(1, f"0.{'9' * 5_000}").order < Build(1, "1.0").order


def test_an_owner_of_a_release_candidate_makes_way_for_the_release(place: "Place") -> None:
    candidate = Build(PROTOCOL, f"{this_build().version}rc1")
    with owner_of(place, candidate), place.open(build=candidate), place.open(idle_seconds=0) as index:
        assert index.update().added == 3
