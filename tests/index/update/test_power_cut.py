"""The power of a machine is cut while it indexes.

What the disk holds then is told in `tests/bench/disk_model.py`; `tests/bench/power_cut.py` does the same more often.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from power_cut import Fresh, cuts, outcome_of, said_in
from recording import build_shim

# A minute alone, on a busy machine several.
pytestmark = [pytest.mark.processes, pytest.mark.timeout(900)]

SEED = 20
CUTS = 10


@pytest.mark.fault("power cut")
def test_after_a_power_cut_an_index_answers_with_what_its_files_said_and_an_update_makes_it_a_fresh_one(
    tmp_path: Path,
) -> None:
    if build_shim(tmp_path) is None:
        pytest.skip("this wants Linux and a C compiler")
    place = tmp_path / "place"
    place.mkdir()
    made, fresh = list(cuts(place, SEED, CUTS, rounds=1)), Fresh()
    assert len(made) > CUTS / 3
    outcomes = {cut.call: outcome_of(cut, place, said_in(place), fresh) for cut in made}
    assert {call: outcome.wrong for call, outcome in outcomes.items() if outcome.wrong} == {}
    # To build everything anew is right and costs much: it is for the first seconds of an index, and for a cut within
    # the moment in which Edge makes a file of vectors; 0 of 126 cuts after the first phase, where it was 20 of 284.
    assert sum(bool(outcome.damage) for outcome in outcomes.values() if outcome.phase != "1 create") <= 1
