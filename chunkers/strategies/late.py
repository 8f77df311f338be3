"""Late chunking: boundaries by a model's own tokens, and vectors pooled after reading the whole document.

An index cuts where no model may run: without an encoder, at sentences by estimated sizes. Its vectors come later.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.model import Chunk, Cut, Piece
from cqm.chunkers.splitting import Span, Unit, even_spans
from cqm.chunkers.strategies.pooling import POOLINGS, TokenEncoder, embed_tokens, pooled, pooled_in_order
from cqm.chunkers.strategies.rules import Choice, Given, Rule, Whole
from cqm.chunkers.strategies.sentences import AFTER_HEADING, sentences_of
from cqm.chunkers.tokens import QUARTERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TOKEN_END, _WORD_END = -2, -1
"""Ratings of cuts inside a sentence: worse than any rating of `sentences_of`."""
_STEPS = 1_000_000
"""Resolution of a similarity, since ratings are whole numbers."""


@dataclass(frozen=True, slots=True)
class LateOptions:
    """Late chunking (Guenther et al. 2024, arXiv:2409.04701). Sizes are in tokens of the encoder.

    Attributes:
        encoder: the model. None leaves the vectors to the caller; sizes are estimated, and boundaries are sentences.
        pooling: "mean", "cls" or "attention": see `pooling.POOLINGS`.
        boundaries: "sentence" groups whole sentences, and preferably whole paragraphs; "token" cuts between words for
            even sizes; "semantic" cuts between the least similar sentences, by the cosine of their late-chunked
            vectors, and makes the encoder read the document again.
        target_tokens: the limit of a chunk; a longer sentence is divided between words, with a warning. 16 to 8192; the
            paper measured with 256.
        window_overlap: tokens shared by neighbouring windows in a document longer than the encoder's window: each token
            is read with at least half as many on either side. 0 to half of the window.
    """

    encoder: TokenEncoder | None
    pooling: str = "mean"
    boundaries: str = "sentence"
    target_tokens: int = 256
    window_overlap: int = 64


def cut_late(text: str, _language: str, options: LateOptions) -> Cut:
    """Cut a text at the boundaries named by the options; see `LateOptions`. The encoder's errors pass through."""
    if not text:
        return [], []
    if options.encoder is None:
        limit = options.target_tokens * QUARTERS
        spans = even_spans(0, sentences_of(text, (0, len(text)), longest=limit), limit)
        return [Piece(start, end, "text") for start, end in spans], []
    starts = options.encoder.tokenize(text).offsets[:, 0].tolist()
    sentences = BOUNDARIES[options.boundaries](text, options)
    units, divided = _measured(_Reading(text, starts), sentences or [Unit(len(text), 0, 0)], options.target_tokens)
    warnings = [] if starts else ["The encoder finds no token in the text: there are no vectors."]
    if sentences and divided:
        warnings.append(f"{divided} of {len(sentences)} sentences are over {options.target_tokens} tokens: divided.")
    return [Piece(start, end, "text") for start, end in even_spans(0, units, options.target_tokens)], warnings


def late_vectors(text: str, chunks: Sequence[Chunk], options: LateOptions) -> "NDArray[np.float32] | None":
    """Return the vectors of a document's chunks, shape (chunks, dimensions); None without a token, or an encoder."""
    if options.encoder is None:
        return None
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    return pooled_in_order(options.encoder, text, spans, options.pooling, options.window_overlap)


def _sentences(text: str, _options: LateOptions) -> list[Unit]:
    return sentences_of(text, (0, len(text)))


def _sentences_by_likeness(text: str, options: LateOptions) -> list[Unit]:
    """Return sentences, rating a cut higher the less similar its neighbours are; worst after a heading."""
    units = sentences_of(text, (0, len(text)))
    spans = list(pairwise([0, *(unit.end for unit in units)]))
    encoder = options.encoder
    vectors = pooled(embed_tokens(encoder, text, options.window_overlap), spans, "mean") if encoder else None
    if vectors is None:
        return units
    likeness = [*(vectors[:-1] * vectors[1:]).sum(axis=1).tolist(), 0]
    return [
        unit if unit.strength == AFTER_HEADING else unit._replace(strength=int((2 - value) * _STEPS))
        for unit, value in zip(units, likeness, strict=True)
    ]


def _no_sentences(_text: str, _options: LateOptions) -> list[Unit]:
    return []


BOUNDARIES: Mapping[str, Callable[[str, LateOptions], list[Unit]]] = {
    "sentence": _sentences,
    "token": _no_sentences,
    "semantic": _sentences_by_likeness,
}
"""For each kind of boundary, the units kept whole within `target_tokens`, with ratings of the cuts between them."""

LATE_RULES: Mapping[str, Rule] = {
    "encoder": Given(
        ("name", "window", "tokenize", "encode"), "a token encoder (chunkers.strategies.pooling)", optional=True
    ),
    "pooling": Choice(tuple(POOLINGS)),
    "boundaries": Choice(tuple(BOUNDARIES)),
    "target_tokens": Whole(16, 8192),
    "window_overlap": Whole(0, lambda options: options.encoder.window // 2 if options.encoder else 4096),
}
"""The rule of each option."""


class _Reading(NamedTuple):
    """A text with the first characters of its tokens, ascending."""

    text: str
    starts: Sequence[int]

    def tokens_of(self, span: Span) -> Sequence[int]:
        """Return the starts of the tokens which begin in a span."""
        return self.starts[bisect_left(self.starts, span[0]) : bisect_left(self.starts, span[1])]


def _measured(reading: _Reading, sentences: Sequence[Unit], limit: int) -> tuple[list[Unit], int]:
    """Return the sentences with sizes in tokens, longer ones divided at tokens, and the number of these."""
    units: list[Unit] = []
    divided, start = 0, 0
    for end, _, strength in sentences:
        tokens = reading.tokens_of((start, end))
        if len(tokens) > limit:
            units.extend(_token_units(reading.text, tokens, end, strength))
            divided += 1
        else:
            units.append(Unit(end, len(tokens), strength))
        start = end
    return units, divided


def _token_units(text: str, tokens: Sequence[int], end: int, strength: int) -> Iterator[Unit]:
    """Yield one unit a token, up to the start of the next one; the last one gets the end and strength given."""
    size = 1
    for start, following in pairwise(tokens):
        if start == following:  # Tokens within one character stay together.
            size += 1
            continue
        yield Unit(following, size, _WORD_END if text[following - 1].isspace() else _TOKEN_END)
        size = 1
    yield Unit(end, size, strength)
