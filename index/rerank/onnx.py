"""A cross-encoder on this machine, through onnxruntime: the user's own model, in a folder.

Works with any sequence classifier with one column in its first output, a logit, or two, the logits of "does not answer"
and "answers": cross-encoder/ms-marco-MiniLM-L6-v2, BAAI/bge-reranker-base and the like. Nogueira and Cho, Passage
Re-ranking with BERT, arXiv:1901.04085.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cqm.chunkers.extras import how_to_add
from cqm.index.model.errors import RerankError
from cqm.index.rerank.base import Deadline, in_time, readable

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped]
    import tokenizers
    from numpy.typing import NDArray

_WEIGHTS = ("model.onnx", "onnx/model.onnx")
"""Paths of weights in a folder: as packed for this, or as in a model's own repository."""
_TOKENIZER = "tokenizer.json"
_REMEDY = f"Give a folder with {_TOKENIZER} and {' or '.join(_WEIGHTS)} of a cross-encoder in rerank.folder."
_WINDOW = 512
"""Tokens of question and text together if the tokenizer's file has no limit: usual for models of this kind."""
_BATCH = 16
"""Texts at once; the deadline is checked between batches."""
_PADS = ("[PAD]", "<pad>")
"""Padding tokens of BERT's and RoBERTa's tokenizers."""
_NUMBERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_ERRORS = 3
"""Log level of onnxruntime; lower levels warn about machines without a graphics card."""


class OnnxReranker:
    """A `Reranker` over a model's files. Its first use loads them within that use's deadline.

    Parameters:
        folder: with the weights, model.onnx or onnx/model.onnx, and tokenizer.json.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        self._lock = Lock()
        self._model: _CrossEncoder | None = None

    def scores(self, question: str, texts: Sequence[str], deadline_seconds: float) -> tuple[float, ...]:
        """See `Reranker.scores`."""
        if not texts:
            return ()
        source = f"The cross-encoder in {self._folder}"
        return in_time(deadline_seconds, source, lambda it: self._loaded().scores(question, texts, it))

    def close(self) -> None:
        """See `Reranker.close`."""
        with self._lock:
            self._model = None

    def _loaded(self) -> "_CrossEncoder":
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


@dataclass(frozen=True, slots=True)
class _CrossEncoder:
    folder: Path
    tokenizer: "tokenizers.Tokenizer"
    session: "onnxruntime.InferenceSession"

    def scores(self, question: str, texts: Sequence[str], deadline: Deadline) -> tuple[float, ...]:
        """See `Reranker.scores`."""
        scores = [0.0] * len(texts)
        # Texts of similar length together: a batch is as long as its longest text.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(order), _BATCH):
            deadline.left()
            places = order[start : start + _BATCH]
            pairs = [self.tokenizer.encode(readable(question), readable(texts[place])) for place in places]
            for place, score in zip(places, self._scores_of(pairs), strict=True):
                scores[place] = score
        return tuple(scores)

    def _scores_of(self, pairs: "list[tokenizers.Encoding]") -> list[float]:
        import numpy as np

        _pad(self.tokenizer, pairs)
        told = {
            "input_ids": [pair.ids for pair in pairs],
            "attention_mask": [pair.attention_mask for pair in pairs],
            "token_type_ids": [pair.type_ids for pair in pairs],
        }
        inputs = {it.name: np.array(told[it.name], _NUMBERS[it.type]) for it in self.session.get_inputs()}
        with _translating(self.folder):
            logits: NDArray[np.float64] = np.asarray(self.session.run(None, inputs)[0], np.float64)
        scores = _answering(logits.reshape(len(pairs), -1)) if logits.size in {len(pairs), 2 * len(pairs)} else None
        if scores is None or not np.isfinite(scores).all():
            message = f"The model in {self.folder} gives no score for each text: its output has shape {logits.shape}."
            raise RerankError(message, remedy=_REMEDY)
        return [float(score) for score in scores]


def _answering(logits: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return a single logit as it is, of two the probability of the second; shape (texts, 1 or 2) to (texts,)."""
    import numpy as np

    if logits.shape[1] == 1:
        return logits[:, 0]
    probability: NDArray[np.float64] = (1 + np.tanh((logits[:, 1] - logits[:, 0]) / 2)) / 2
    return probability


def _pad(tokenizer: "tokenizers.Tokenizer", pairs: "list[tokenizers.Encoding]") -> None:
    """Pad all pairs to the longest, with the tokenizer's own token: RoBERTa's positions depend on it."""
    token, number = next(
        ((token, number) for token in _PADS if (number := tokenizer.token_to_id(token)) is not None), (_PADS[0], 0)
    )
    longest = max(len(pair.ids) for pair in pairs)
    for pair in pairs:
        pair.pad(longest, pad_id=number, pad_token=token)


def _load(folder: Path) -> _CrossEncoder:
    file = next((folder / name for name in _WEIGHTS if (folder / name).exists()), folder / _WEIGHTS[0])
    model = _CrossEncoder(folder, _tokenizer(folder / _TOKENIZER), _session(file))
    for wanted in model.session.get_inputs():
        if wanted.name not in {"input_ids", "attention_mask", "token_type_ids"} or wanted.type not in _NUMBERS:
            message = f"The model in {folder} wants the input {wanted.name} of {wanted.type}: it is no cross-encoder."
            raise RerankError(message, remedy=_REMEDY)
    return model


def _tokenizer(file: Path) -> "tokenizers.Tokenizer":
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        message = "A cross-encoder on this machine needs tokenizers, which is not installed."
        raise RerankError(message, remedy=f"Run `{how_to_add('late')}`.") from error
    try:
        tokenizer = Tokenizer.from_str(file.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"The file {file} of a reranker cannot be read: {error.strerror}."
        raise RerankError(message, remedy=_REMEDY) from error
    except Exception as error:  # tokenizers raises nothing more precise
        message = f"The file {file} of a reranker is no tokenizer: {error}."
        raise RerankError(message, remedy=_REMEDY) from error
    tokenizer.enable_truncation((tokenizer.truncation or {}).get("max_length", _WINDOW), strategy="longest_first")
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # Control tokens written in a text are ordinary text.
    return tokenizer


def _session(file: Path) -> "onnxruntime.InferenceSession":
    try:
        import onnxruntime
    except ImportError as error:
        message = "A cross-encoder on this machine needs onnxruntime, which is not installed."
        raise RerankError(message, remedy=f"Run `{how_to_add('late')}`.") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS
    with _translating(file.parent):
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


@contextmanager
def _translating(folder: Path) -> Iterator[None]:
    """Turn onnxruntime's errors into ours."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

    try:
        yield
    except (
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NoSuchFile,
        state.NotImplemented,
        state.RuntimeException,
    ) as error:
        message = f"The model in {folder} cannot be run: {error}."
        raise RerankError(message, remedy=_REMEDY) from error
