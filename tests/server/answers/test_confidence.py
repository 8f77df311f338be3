"""An answer tells whether it is one: nonsense and unknown names are told, what is there is not doubted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cqm.index.embedding import static_model
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions, RerankOptions
from cqm.index.model.query import Answer, Confidence, Query, SearchMode
from cqm.server.answers.as_json import answer_object
from cqm.server.answers.render import render_answer, shown_spans

pytestmark = pytest.mark.processes

FILES = {
    "shop/basket.py": (
        '"""The basket of a customer."""\n\n\nclass Basket:\n    """Articles that a customer wants to buy."""\n\n'
        "    def add_article(self, article, count=1):\n        self.articles[article] += count\n\n"
        "    def total_price(self):\n        return sum(it.price * n for it, n in self.articles.items())\n"
    ),
    "shop/mail.py": 'def send_receipt(order):\n    """Send the receipt of an order by mail."""\n    smtp.send(order)\n',
    "README.md": "# Shop\n\nA small shop: baskets, orders, receipts by mail.\n",
}


def indexed(folder: Path, rerank: RerankOptions) -> Index:
    for path, text in FILES.items():
        file = folder / "tree" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    opened = Index.open(folder / "tree", IndexOptions(home=folder / "home", workers=1, rerank=rerank))
    opened.update()
    return opened


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed(tmp_path_factory.mktemp("confidence"), RerankOptions()) as opened:
        yield opened


def ask(index: Index, question: str) -> tuple[Query, Answer]:
    query = Query(question)
    return query, index.search(query)


@pytest.mark.parametrize("question", ["asdkjhaskjdh", "medieval castle siege tactics", "IndifferentHash"])
def test_nonsense_and_what_is_not_there_has_no_answer(index: Index, question: str) -> None:
    query, answer = ask(index, question)
    assert answer.confidence is Confidence.NONE
    text = render_answer(query, answer, 2000)
    assert "nothing in the index seems to answer this" in text
    assert "def " not in text
    assert shown_spans(query, answer, 2000) == []
    assert all(hit.path in text for hit in answer.hits[:3])


@pytest.mark.parametrize(
    "question",
    [
        "Basket",
        "total_price",
        "send the receipt of an order by mail",
        "shop/mail.py:2",
        "README.md",
        "Basket.add_article",
    ],
)
def test_what_is_there_is_not_doubted(index: Index, question: str) -> None:
    query, answer = ask(index, question)
    assert answer.confidence is Confidence.HIGH
    assert "Note:" not in render_answer(query, answer, 2000)


def test_programs_are_told_the_confidence_and_get_all_results(index: Index) -> None:
    query, answer = ask(index, "asdkjhaskjdh")
    told = json.loads(json.dumps(answer_object(query, answer), default=str))
    assert told["confidence"] == "none"
    assert len(told["results"]) == len(answer.hits) > 0


def test_words_alone_tell_it_too(index: Index) -> None:
    assert index.search(Query("medieval siege", mode=SearchMode.LEXICAL)).confidence is Confidence.NONE
    assert index.search(Query("send receipt", mode=SearchMode.LEXICAL)).confidence is Confidence.HIGH


def test_without_the_reader_it_is_told_too(index: Index, tmp_path: Path) -> None:
    question = Query("sends the customer a receipt by mail if there is an order")
    with indexed(tmp_path, RerankOptions(reader=False)) as unread:
        assert unread.search(Query("medieval castle siege tactics")).confidence is Confidence.NONE
        answer = unread.search(question)
    assert answer.confidence is Confidence.HIGH
    # The chance goes by another regression.
    assert answer.hits[0].chance != index.search(question).hits[0].chance


def test_without_the_models_file_words_are_equally_rare_which_is_told(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_model, "FOLDER", tmp_path / "gone")
    answer = index.search(Query("send the zymurgic receipt", mode=SearchMode.LEXICAL))
    assert answer.hits
    assert "takes all words for equally rare" in answer.degraded


def test_a_page_further_on_is_shown_whole(index: Index) -> None:
    first = index.search(Query("asdkjhaskjdh", limit=1))
    query = Query("asdkjhaskjdh", limit=1, cursor=first.next_cursor)
    assert "The nearest names" not in render_answer(query, index.search(query), 2000)
