"""The reader: what it says of texts, and the order of the first results after it has read them."""

from math import isfinite

import pytest
import reader_layout as layout
from hypothesis import given, settings
from hypothesis import strategies as st

from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, OfFile
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import Ranked, weights_of
from cqm.index.rerank import reader
from cqm.index.rerank.reader import LONGEST, Passage, numbers, read_together, scores

QUESTION = "Wait longer after each failed attempt before the request is sent again"
ANSWER = Passage(
    "net/client.py",
    "Client.send",
    "def send(self, request):\n    for attempt in range(self.attempts):\n        try:\n"
    "            return self.post(request)\n        except ConnectionError:\n"
    "            sleep(self.delay * 2 ** attempt)\n",
)
ASKED = numbers(QUESTION, LONGEST)
OTHERS = [
    Passage("net/client.py", "Client.close", "def close(self):\n    self.pool.clear()\n    self.socket.close()\n"),
    Passage("ui/canvas.py", "Canvas.paint", "def paint(self, shape):\n    self.draw(shape.outline, shape.colour)\n"),
    Passage("net/request.py", "Request", "class Request:\n    url: str\n    body: bytes\n"),
]
TEXTS = st.text(alphabet=st.sampled_from("ab_Z 9\n\t.(é中\x00\ud800"), max_size=400)


def ranked_of(passages: list[Passage]) -> list[Ranked]:
    """Results of equal scores."""
    file = OfFile(FileFeatures(), None)
    return [
        Ranked(
            Candidate(str(place), it.path, (), 1, 2, symbol=it.symbol),
            1.0,
            ChunkFeatures(terms=1.0),
            file,
            weights_of({"terms": 1.0}),
        )
        for place, it in enumerate(passages)
    ]


def test_the_text_that_answers_is_put_first() -> None:
    passages = [*OTHERS, ANSWER]
    read = read_together(read_question(QUESTION), ranked_of(passages), [it.text for it in passages])
    assert read[0].candidate.symbol == ANSWER.symbol
    assert sum(entry.parts["reader"] for entry in read) == pytest.approx(0, abs=1e-6)
    assert all(sum(entry.parts.values()) == pytest.approx(entry.score) for entry in read)


def test_numbers_are_those_of_the_trained_model() -> None:
    """PyTorch gave them, with the model that `training/reader_train.py` wrote."""
    assert scores(ASKED, [ANSWER, *OTHERS]) == pytest.approx([-1.7335, -3.9427, -5.5321, -2.4989], abs=1e-3)


def test_far_down_in_a_long_text_the_lines_with_the_words_of_the_question_are_read() -> None:
    filler = "\n".join(f"    self.field_{number} = option_{number}" for number in range(30))
    path, _symbol, text = ANSWER
    long = [Passage(path, "Client", f"class Client:\n{filler}\n{it}") for it in (text, OTHERS[1].text)]
    with_answer, without = scores(ASKED, long)
    assert with_answer > without + 0.5


def test_results_without_a_text_stay_behind_in_their_order() -> None:
    passages = [*OTHERS, ANSWER]
    first = ranked_of(passages)
    read = read_together(read_question(QUESTION), first, [it.text for it in OTHERS[:2]])
    assert {entry.candidate.id for entry in read[:2]} == {"0", "1"}
    assert read[2:] == first[2:]


def test_training_lays_out_what_is_read_with_the_same_numbers() -> None:
    taken = (layout.ASKED, layout.HEADED, layout.NAMED, layout.STORED)
    assert taken == (reader.ASKED, reader.HEADED, reader.NAMED, reader.LONGEST)
    assert reader.HEAD < reader.TOLD <= layout.TOLD
    assert (layout.SPECIAL, layout.CLS) == (reader._SPECIAL, reader._FIRST)


@pytest.mark.parametrize("question", ["", "?!", "to be or not to be " * 20])
def test_without_words_or_with_more_than_it_was_trained_with_the_order_stays(question: str) -> None:
    first = ranked_of(OTHERS)
    texts = [it.text for it in OTHERS]
    assert read_together(read_question(question), first, texts) == first


@settings(max_examples=30)
@given(st.lists(TEXTS, min_size=1, max_size=9), TEXTS, st.integers(0, 8))
def test_any_text_has_a_score_which_does_not_depend_on_those_beside_it(texts: list[str], name: str, place: int) -> None:
    passages = [Passage(name, name, text) for text in texts]
    found = scores(ASKED, passages)
    assert len(found) == len(texts)
    assert all(map(isfinite, found))
    at = place % len(texts)
    assert scores(ASKED, [passages[at]]) == pytest.approx([found[at]], abs=1e-4)
