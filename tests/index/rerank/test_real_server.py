"""llama.cpp's own server with a reranker; see `tests/servers/make_rerank_gguf.py`."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.rerank import Reranker, open_reranker

pytestmark = pytest.mark.servers

PLENTY = 60.0
"""Seconds that no test waits for."""
QUESTION = "How is a file removed?"
TEXTS = [
    "def unlink(path): os.remove(path)",
    "socket.create_connection((host, port))",
    "return a + b",
    "ファイルを消す",
]


@pytest.fixture
def opened(rerank_url: str) -> Iterator[Callable[..., Reranker]]:
    """Open rerankers over the server that are closed with the test."""
    with ExitStack() as stack:

        def opened(path: str = "/v1/rerank", key: str = "CQM_TEST_OPENAI_KEY") -> Any:
            reranker = open_reranker(
                RerankOptions(provider="http", url=rerank_url + path, api_key_env=key), variables=os.environ
            )
            assert reranker is not None
            stack.callback(reranker.close)
            return reranker

        yield opened


def test_each_text_gets_its_own_score_in_whatever_order_the_server_lists_them(opened: Any) -> None:
    reranker = opened()
    scores = reranker.scores(QUESTION, TEXTS, PLENTY)
    assert len(set(scores)) == len(TEXTS)
    assert reranker.scores(QUESTION, TEXTS[::-1], PLENTY) == pytest.approx(scores[::-1], abs=1e-3)
    assert reranker.scores("What adds up?", TEXTS, PLENTY) != pytest.approx(scores, abs=1e-3)


def test_both_dialects_of_the_server_give_the_same_scores(opened: Any) -> None:
    as_jina, as_tei = (opened(path).scores(QUESTION, TEXTS, PLENTY) for path in ("/v1/rerank", "/rerank"))
    assert as_tei == pytest.approx(as_jina, abs=1e-3)


def test_texts_over_the_models_context_are_shortened_until_it_takes_them(opened: Any) -> None:
    long = "file " * 3000
    assert len(opened().scores(QUESTION, [long, *TEXTS], PLENTY)) == 1 + len(TEXTS)


def test_a_wrong_key_is_refused_by_the_name_of_its_variable(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CQM_TEST_WRONG_KEY", "sk-wrong")
    with pytest.raises(RerankError, match=r"answered 401.*CQM_TEST_WRONG_KEY") as caught:
        opened(key="CQM_TEST_WRONG_KEY").scores(QUESTION, TEXTS, PLENTY)
    assert "sk-wrong" not in str(caught.value)
