"""Static token vectors shipped with CQM: no service, no download, thousands of chunks a second.

A text's vector is the direction of the sum of its tokens' vectors, as in WordLlama and model2vec. The vectors are
trained on pairs of questions and code by `training/vectors.py`, from packages used for no reported figure. Before
tokenizing, identifiers are split at case and underscores and lower-cased. A word occurring n times counts 1 + ln n
times (sublinear tf, Manning et al., Introduction to Information Retrieval, 6.4.1): a frequent `self` doesn't drown the
rest. The lengths of the trained vectors are the only other weights.

Words of at most 32 characters become tokens by byte pair encoding with byte fallback, read from a file of the
`tokenizers` library. The library itself takes 28 MB with its dependencies.
"""

import hashlib
import json
import math
import mmap
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, pairwise
from operator import mul
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from cqm.chunkers.extras import how_to_repair
from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.service.base import Meter, stacked, validated
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, RejectedText, Space
from cqm.index.remote.variables import NO_VARIABLES
from cqm.index.text.terms import ONLY_WORDS, ONLY_WORDS_AND_LINES, remembered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.index.model.spaces import Vectors

MAX_CHARACTERS = 32_768
"""Characters used of a text; a longer one is reported as cut."""
FOLDER = Path(__file__).with_name("static")
"""Folder of the models' files."""
_NO_WORD = "it has no word"
_INSTEAD = "set embedding.provider to another"
_RECIPE = "1"
"""Change it with everything changing a text's vector: it is the space's version."""
_KINDS = {"I8": "<i1", "F32": "<f4"}
"""NumPy's names of a safetensors file's types."""
_LONGEST_MERGED = 500
"""In characters; longer words are data."""
_KNOWN_WORDS = 65_536
"""Identifiers with remembered words, and words with remembered tokens; about 20 MB each at most."""
# Words of identifiers: HTTP + Server, parse + Url, utf + 8. Scripts without spaces stay in runs. All have a limited
# length, since the tokenizer takes a word whole.
_WORD = re.compile(r"[A-Z]{1,32}(?![a-z])|[A-Z]?[a-zÀ-ɏ]{1,32}|\d{1,32}|[^\W\d_a-zA-ZÀ-ɏ]{1,32}")
# All characters of words, so no word crosses its ends; À-ɏ contains two signs.
_IDENTIFIER = re.compile(r"[\w\xd7\xf7]+")

Pieces = Callable[[str], tuple[int, ...]]
"""Gives the numbers of a word's tokens."""


def words_of(text: str) -> Iterator[str]:
    """Split a text into the words given to the tokenizer: identifiers split, in lower case."""
    identifiers = text.translate(ONLY_WORDS).split() if text.isascii() else _IDENTIFIER.findall(text)
    # Texts repeat identifiers, so each is split once: half the time.
    return chain.from_iterable(map(words_of_identifier, identifiers))


def lines_of_identifiers(text: str) -> Iterator[list[str]]:
    """Split each line of a text into its identifiers."""
    if text.isascii():
        return map(str.split, text.translate(ONLY_WORDS_AND_LINES).split("\n"))
    return map(_IDENTIFIER.findall, text.split("\n"))


@remembered(_KNOWN_WORDS)
def words_of_identifier(identifier: str) -> tuple[str, ...]:
    """Split an identifier into words, in lower case."""
    return tuple(map(str.lower, _WORD.findall(identifier)))


def word_vectors(words: Sequence[str]) -> "NDArray[np.float32]":
    """Return the vectors of words in lower case by the default model, shape (words, dimensions); their lengths count.

    Raises:
        EmbeddingError: the model's files are gone or others.
    """
    import numpy as np

    model = _load(MODELS[DEFAULT_MODEL], FOLDER, MODELS[DEFAULT_MODEL].dimensions[-1])
    tokens = list(map(model.tokens_of, words))
    rows = np.fromiter(chain.from_iterable(tokens), np.intp)
    sizes = np.fromiter(map(len, tokens), np.intp, len(tokens))
    vectors = np.zeros((len(words), model.dimensions), np.float32)
    if len(rows):
        starts = (np.cumsum(sizes) - sizes)[sizes > 0]
        vectors[sizes > 0] = np.add.reduceat(model.codes[rows] * model.scales[rows], starts)
    return vectors


def tokens_of_words(words: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yield the numbers of each word's tokens by the default model; words are in lower case.

    Raises:
        EmbeddingError: the model's files are gone or others.
    """
    model = MODELS[DEFAULT_MODEL]
    return map(_load(model, FOLDER, model.dimensions[-1]).tokens_of, words)


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A model's files, beside this module, and the SHA-256 of their content.

    Attributes:
        weights: safetensors file with "codes", 8-bit numbers of shape (tokens, dimensions), and "scales", a factor per
            token.
        tokenizer: file of the `tokenizers` library.
        dimensions: allowed lengths of its vectors, the full length last.
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
    """An `Embedder` over the installed static vectors. Its first use takes about 70 MB.

    Parameters:
        options: model and dimensions; the others are ignored.
        folder: of the model's files; None for those shipped with CQM.
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
        """See `Embedder.facts`; loads nothing. `MAX_CHARACTERS` is the only limit of texts."""
        return replace(known_facts(self._options, NO_VARIABLES), dimensions=self.space().dimensions)

    def refresh(self) -> None:
        """See `Embedder.refresh`. Does nothing: a release's files don't change."""

    def usage(self, role: Role | None = None) -> Usage:
        """See `Embedder.usage`; each call counts as a request."""
        return self._meter.total(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`. Rejects texts without words."""
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
        began, model = time.monotonic(), self._loaded()
        sums = model.sums_of_words([text[:MAX_CHARACTERS] for text in texts])
        indices = tuple(index for index, it in enumerate(sums) if it)
        embeddings = Embeddings(
            indices,
            _unit([it.total for it in sums if it], model),
            self.space(),
            tuple(RejectedText(index, _NO_WORD) for index, it in enumerate(sums) if not it),
            tuple(index for index in indices if len(texts[index]) > MAX_CHARACTERS),
        )
        tokens = sum(it.tokens for it in sums if it)
        self._meter.add(Usage(1, len(texts), tokens, seconds=time.monotonic() - began), role)
        return embeddings

    def _loaded(self) -> "_LoadedModel":
        with self._lock:
            if self._model is None:
                _, model, dimensions = _chosen(self._options)
                self._model = _load(model, self._folder or FOLDER, dimensions)
            return self._model


class _Summed(NamedTuple):
    """The sum of a text's word vectors, shape (dimensions,), and the number of the text's tokens."""

    total: "NDArray[np.float32]"
    tokens: int


@dataclass(frozen=True, slots=True)
class _LoadedModel:
    """A model in memory. Its numbers stay in their file, and are multiplied as they are needed.

    Attributes:
        codes: one row per token, shape (tokens, dimensions).
        scales: a factor for each row, shape (tokens, 1).
        tokens_of: row numbers of a word's tokens.
    """

    codes: "NDArray[np.int8]"
    scales: "NDArray[np.float32]"
    tokens_of: Callable[[str], Sequence[int]]

    @property
    def dimensions(self) -> int:
        return int(self.codes.shape[1])

    def sums_of_words(self, texts: Sequence[str]) -> "list[_Summed | None]":
        """Sum up the weighted vectors of each text's words; None for a text without words."""
        import numpy as np

        counted = [Counter(words_of(text)) for text in texts]
        tokens = [list(map(self.tokens_of, counts)) for counts in counted]
        sizes = [list(map(len, each)) for each in tokens]
        # All texts at once: separate calls of NumPy took a third of a text's time.
        rows = np.fromiter(chain.from_iterable(chain.from_iterable(tokens)), np.intp)
        weights = 1 + np.log(np.fromiter(chain.from_iterable(counts.values() for counts in counted), np.float32))
        weights = np.repeat(weights, np.fromiter(chain.from_iterable(sizes), np.intp))
        # Texts share most of their tokens, so each is multiplied once.
        is_used = np.zeros(len(self.codes), np.bool_)
        is_used[rows] = True
        used = np.flatnonzero(is_used)
        vectors = self.codes.take(used, 0) * self.scales.take(used, 0)
        places = np.empty(len(self.codes), np.intp)
        places[used] = np.arange(len(used))
        rows = places[rows]
        found: list[_Summed | None] = []
        end = 0
        for counts, each in zip(counted, sizes, strict=True):
            start, end = end, end + sum(each)
            total = weights[start:end] @ vectors.take(rows[start:end], 0)
            found.append(_Summed(total, sum(map(mul, counts.values(), each))) if counts else None)
        return found


def _unit(sums: "Sequence[NDArray[np.float32]]", model: _LoadedModel) -> "Vectors":
    rows = stacked(sums, model.dimensions)
    vectors, usable = validated(rows, texts=len(sums), dimensions=model.dimensions, source="The embedded model")
    if not usable.all():
        message = "The embedded model gave a vector without a direction."
        raise EmbeddingError(message)
    return vectors


def _chosen(options: EmbeddingOptions) -> tuple[str, StaticModel, int]:
    """Return name, files and dimensions of the configured model."""
    name = options.model or DEFAULT_MODEL
    model = MODELS.get(name)
    if model is None:
        message = f"embedding.model {name!r}: expected one of {', '.join(MODELS)}, the embedded ones."
        raise EmbeddingError(message, remedy="Set one of them, or another embedding.provider.")
    if options.dimensions not in {0, *model.dimensions}:
        lengths = ", ".join(map(str, model.dimensions))
        message = f"embedding.dimensions {options.dimensions}: expected 0, or one of {lengths}, which {name} has."
        raise EmbeddingError(message, remedy="Set one of them.")
    return name, model, options.dimensions or model.dimensions[-1]


@lru_cache(maxsize=2)
def _load(model: StaticModel, folder: Path, dimensions: int) -> _LoadedModel:
    weights = arrays_of(checked(folder / model.weights, model.weights_sha256))
    tokens_of = word_pieces(checked(folder / model.tokenizer, model.tokenizer_sha256)[:])
    codes, scales = weights["codes"][:, :dimensions], weights["scales"][:, None]
    return _LoadedModel(codes, scales, remembered(_KNOWN_WORDS)(tokens_of))


class _Tokens(NamedTuple):
    """Numbers of tokens, and ranks of merging pairs, lowest first."""

    vocabulary: dict[str, int]
    ranks: dict[tuple[str, str], int]


def word_pieces(file: bytes) -> Pieces:
    """Return the tokenizer of a file: a token's word stays whole, any other is merged from its characters.

    A word longer than `_LONGEST_MERGED` is merged in parts: the time grows with the square of a part's length.

    Parameters:
        file: JSON; BPE without normalizer and pre-tokenizer, with `byte_fallback` and `ignore_merges`.
    """
    told = json.loads(file)["model"]
    model = _Tokens(told["vocab"], dict(zip(map(tuple, told["merges"]), count())))

    def pieces(word: str) -> tuple[int, ...]:
        whole = model.vocabulary.get(word)
        if whole is not None:
            return (whole,)
        if len(word) <= _LONGEST_MERGED:
            return _merged(word, model)
        parts = (word[start : start + _LONGEST_MERGED] for start in range(0, len(word), _LONGEST_MERGED))
        return tuple(chain.from_iterable(_merged(part, model) for part in parts))

    return pieces


def _merged(word: str, model: _Tokens) -> tuple[int, ...]:
    parts, rank_of, never = list(_characters(word, model.vocabulary)), model.ranks.get, len(model.ranks)
    ranks = [rank_of(pair, never) for pair in pairwise(parts)]
    while (least := min(ranks, default=never)) != never:
        place = ranks.index(least)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        # Only the pairs beside the merged one are others now.
        del ranks[place]
        if place:
            ranks[place - 1] = rank_of((parts[place - 1], parts[place]), never)
        if place < len(ranks):
            ranks[place] = rank_of((parts[place], parts[place + 1]), never)
    return tuple(model.vocabulary[part] for part in parts)


def _characters(word: str, vocabulary: dict[str, int]) -> Iterator[str]:
    """Yield the characters of a word; for a character without token, its bytes."""
    for character in word:
        if character in vocabulary:
            yield character
        else:
            yield from (f"<0x{byte:02X}>" for byte in character.encode())


def arrays_of(content: mmap.mmap) -> "dict[str, NDArray[Any]]":
    """Return the arrays of a safetensors file, which was checked: the length of a JSON header, the header, the data."""
    import numpy as np

    start = 8 + int.from_bytes(content[:8], "little")
    arrays = {}
    for name, told in json.loads(content[8:start]).items():
        begin, _ = told["data_offsets"]
        kind, shape = _KINDS[told["dtype"]], told["shape"]
        arrays[name] = np.frombuffer(content, kind, math.prod(shape), start + begin).reshape(shape)
    return arrays


def checked(file: Path, sha256: str, instead: str = _INSTEAD) -> mmap.mmap:
    """Map a file of a model and check its hash: other weights would silently give other vectors.

    Parameters:
        instead: to be done without the file, as its error says.

    Raises:
        EmbeddingError: it is gone or another.
    """
    try:
        with file.open("rb") as opened:
            content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        message = f"{file} cannot be read: {error}."
        raise EmbeddingError(message, remedy=_remedy(instead)) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        message = f"{file} is not the file of this release."
        raise EmbeddingError(message, remedy=_remedy(instead))
    return content


def _remedy(instead: str) -> str:
    return f"Install CQM again: {how_to_repair()}. Or {instead}."
