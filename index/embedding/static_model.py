"""Static vectors of tokens that come with CQM: no service, no download, thousands of chunks a second.

A text's vector points where the sum of its tokens' vectors does, as in WordLlama and model2vec. They are trained on
pairs of questions and code by `training/vectors.py`, from packages that no reported figure is of. Identifiers are split
at case and underscores and put in lower case before they meet the tokenizer. A word that occurs n times counts 1 + ln n
times (sublinear tf, Manning et al., Introduction to Information Retrieval, 6.4.1), so that a frequent `self` does not
drown the rest; the lengths of the trained vectors hold all other weights.
"""

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.service.base import stacked, validated
from cqm.index.embedding.service.meter import Meter
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, RejectedText, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.index.model.spaces import Vectors

MAX_CHARACTERS = 32_768
"""Of a text; what follows has no part in its vector, and the text is reported as cut."""
FOLDER = Path(__file__).with_name("static")
"""Where the models' files are."""
_NO_WORD = "it has no word"
_REINSTALL = "Reinstall cqm, or set embedding.provider to another."
_RECIPE = "1"
"""Change it with everything that gives the same text another vector: it is the space's version."""
_KNOWN_WORDS = 65_536
"""Words whose tokens are remembered, some 20 MB at most."""
# Words of identifiers: HTTP + Server, parse + Url, utf + 8. Scripts without spaces stay in runs. All bounded, since the
# tokenizer takes a word whole.
_WORD = re.compile(r"[A-Z]{1,32}(?![a-z])|[A-Z]?[a-zÀ-ɏ]{1,32}|\d{1,32}|[^\W\d_a-zA-ZÀ-ɏ]{1,32}")


def words_of(text: str) -> Iterator[str]:
    """The words of a text as the tokenizer gets them: identifiers split, in lower case."""
    return map(str.lower, _WORD.findall(text))


@dataclass(frozen=True, slots=True)
class StaticModel:
    """The files of a model, which are beside this one, and the SHA-256 of their content.

    Attributes:
        weights: safetensors file with "codes", 8-bit numbers of shape (tokens, dimensions), and "scales", what to
            multiply each token's by.
        tokenizer: file of the `tokenizers` library.
        dimensions: what its vectors may be shortened to, the full length last.
    """

    weights: str
    weights_sha256: str
    tokenizer: str
    tokenizer_sha256: str
    dimensions: tuple[int, ...]


MODELS: Mapping[str, StaticModel] = {
    "code-256": StaticModel(
        weights="code-256.safetensors",
        weights_sha256="d7884e386aa25a7f7c4a94ad801a6f54726a6ad0ddf68516cc712a5b22800966",
        tokenizer="code-256.tokenizer.json",
        tokenizer_sha256="3538ad20a295148224dca780881b42962778643c7fdd484bb33856bf43ad3df3",
        dimensions=(64, 128, 256),
    ),
}
DEFAULT_MODEL = "code-256"


class StaticEmbedder:
    """An `Embedder` over the static vectors of an installed package. Its first use takes about 70 MB.

    Parameters:
        options: model and dimensions; the others do not apply.
        folder: where the model's files are; None for those that CQM comes with.
    """

    def __init__(self, options: EmbeddingOptions, folder: Path | None = None) -> None:
        self._options = options
        self._folder = folder
        self._lock = Lock()
        self._model: _LoadedModel | None = None
        self._meter = Meter()

    def space(self) -> Space:
        """See `Embedder.space`; loads nothing."""
        name, _, dimensions = _chosen(self._options)
        return Space("embedded", name, dimensions, _RECIPE)

    def facts(self) -> ModelFacts:
        """See `Embedder.facts`; loads nothing. Texts have no limit but `MAX_CHARACTERS`."""
        return replace(known_facts(self._options), dimensions=self.space().dimensions)

    def refresh(self) -> None:
        """See `Embedder.refresh`; the files of a release do not change."""

    def usage(self, role: Role | None = None) -> Usage:
        """See `Embedder.usage`; each call is a request."""
        return self._meter.total(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`. A text without any word is rejected."""
        return self._counted(texts, Role.DOCUMENT)

    def embed_query(self, text: str) -> PlacedVector:
        """See `Embedder.embed_query`."""
        embeddings = self._counted([text], Role.QUERY)
        if embeddings.rejected:
            message = f"The text has no vector: {embeddings.rejected[0].reason}."
            raise RefusedInputError(message, remedy="Ask with a word.")
        return PlacedVector(embeddings.space, embeddings.vectors[0])

    def close(self) -> None:
        """See `Embedder.close`."""
        with self._lock:
            self._model = None

    def _counted(self, texts: Sequence[str], role: Role) -> Embeddings:
        began = time.monotonic()
        embeddings = self._embedded(texts)
        self._meter.add(Usage(1, len(texts), sum(map(estimate, texts)), seconds=time.monotonic() - began), role)
        return embeddings

    def _embedded(self, texts: Sequence[str]) -> Embeddings:
        model = self._loaded()
        sums = [model.sum_of_words(text[:MAX_CHARACTERS]) for text in texts]
        indices = tuple(index for index, total in enumerate(sums) if total is not None)
        return Embeddings(
            indices,
            _unit([total for total in sums if total is not None], model),
            self.space(),
            tuple(RejectedText(index, _NO_WORD) for index, total in enumerate(sums) if total is None),
            tuple(index for index in indices if len(texts[index]) > MAX_CHARACTERS),
        )

    def _loaded(self) -> "_LoadedModel":
        with self._lock:
            if self._model is None:
                _, model, dimensions = _chosen(self._options)
                self._model = _load(model, self._folder or FOLDER, dimensions)
            return self._model


@dataclass(frozen=True, slots=True)
class _LoadedModel:
    table: "NDArray[np.float32]"
    """A row a token, shape (tokens, dimensions)."""
    tokens_of: Callable[[str], Sequence[int]]
    """The rows of a word."""

    @property
    def dimensions(self) -> int:
        return int(self.table.shape[1])

    def sum_of_words(self, text: str) -> "NDArray[np.float32] | None":
        """The weighted sum of the text's word vectors, shape (dimensions,); None for a text without words."""
        import numpy as np

        counts = Counter(words_of(text))
        if not counts:
            return None
        tokens = [self.tokens_of(word) for word in counts]
        weights = 1 + np.log(np.fromiter(counts.values(), np.float32))
        rows = np.fromiter(chain.from_iterable(tokens), np.intp)
        total: NDArray[np.float32] = np.repeat(weights, [len(row) for row in tokens]) @ self.table[rows]
        return total


def _unit(sums: "Sequence[NDArray[np.float32]]", model: _LoadedModel) -> "Vectors":
    rows = stacked(sums, model.dimensions)
    vectors, usable = validated(rows, texts=len(sums), dimensions=model.dimensions, source="The embedded model")
    if not usable.all():
        message = "The embedded model gave a vector without a direction."
        raise EmbeddingError(message)
    return vectors


def _chosen(options: EmbeddingOptions) -> tuple[str, StaticModel, int]:
    """Name, files and dimensions of the model that is asked for."""
    name = options.model or DEFAULT_MODEL
    model = MODELS.get(name)
    if model is None:
        message = f"There is no embedded model {name!r}."
        raise EmbeddingError(message, remedy=f"Set embedding.model to one of: {', '.join(MODELS)}.")
    if options.dimensions not in {0, *model.dimensions}:
        lengths = ", ".join(map(str, model.dimensions))
        message = f"The embedded model {name} has no vectors of {options.dimensions} dimensions."
        raise EmbeddingError(message, remedy=f"Set embedding.dimensions to 0 or one of: {lengths}.")
    return name, model, options.dimensions or model.dimensions[-1]


def _load(model: StaticModel, folder: Path, dimensions: int) -> _LoadedModel:
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    weights = load(_checked(folder / model.weights, model.weights_sha256))
    tokenizer = Tokenizer.from_str(_checked(folder / model.tokenizer, model.tokenizer_sha256).decode())
    table = weights["codes"][:, :dimensions] * weights["scales"][:, None]

    @lru_cache(maxsize=_KNOWN_WORDS)
    def tokens_of(word: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(word, add_special_tokens=False).ids)

    return _LoadedModel(table, tokens_of)


def _checked(file: Path, sha256: str) -> bytes:
    """A file's content, when it is what was released: other weights would silently make other vectors."""
    try:
        content = file.read_bytes()
    except OSError as error:
        message = f"{file} cannot be read: {error}."
        raise EmbeddingError(message, remedy=_REINSTALL) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        message = f"{file} is not the file of this release."
        raise EmbeddingError(message, remedy=_REINSTALL)
    return content
