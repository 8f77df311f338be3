"""An owner keeps the last questions of its clients in memory, for people to look at."""

from typing import TYPE_CHECKING

import pytest

from cqm.index.model.query import Query

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]


def test_the_questions_of_agents_are_told_to_a_page_and_its_own_are_not_kept(place: "Place") -> None:
    with place.open() as agent, place.open(remembered=False) as page:
        agent.update()
        agent.search(Query("compute_1"))
        agent.usages("compute_2")
        page.search(Query("typed by a person"))
        usages, search = page.asked()
        assert (usages.method, usages.text, usages.found) == ("usages", "compute_2", 1)
        assert (search.method, search.text) == ("search", "compute_1")
        assert search.query == Query("compute_1")
        assert search.answer
        assert search.answer.hits[0].symbol == "compute_1"
        assert "process" in search.client
