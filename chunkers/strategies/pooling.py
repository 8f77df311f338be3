"""Pool the token embeddings of a whole document into one vector a span: late chunking.

The model sees the whole document when it embeds each token; only then are tokens grouped into chunks. So a chunk's
vector knows the meaning of "it" or "the city" (Guenther et al. 2024, arXiv:2409.04701).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    """Embeddings in rows, shape (tokens, dimensions)."""

Span = tuple[int, int]


class Tokens(NamedTuple):
    """A text as tokens of its model, without the control tokens added by the model.

    Attributes:
        ids: the tokens' numbers.
        offsets: each token's characters of the text, half-open, shape (tokens, 2).
    """

    ids: Sequence[int]
    offsets: "NDArray[np.int64]"


class TokenEncoder(Protocol):
    """A model with an embedding for each token. Nothing is loaded or contacted before its first use."""

    @property
    def name(self) -> str:
        """Name of the vector space: only vectors with equal names may be compared."""

    @property
    def window(self) -> int:
        """Number of tokens read at once."""

    def tokenize(self, text: str) -> Tokens:
        """Return the tokens of a text of any length; starts never decrease."""

    def encode(self, ids: Sequence[int]) -> "Rows":
        """Embed up to `window` tokens read together; shape (len(ids), dimensions).

        Every value is finite and no row is zero. The rows are not normalised.
        """

    def close(self) -> None:
        """Close connections and free memory; a later call opens them again."""


class Window(NamedTuple):
    """Tokens read together, from start to end; the embeddings from first to last count."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class TokenEmbeddings:
    """The tokens of a document with their embeddings; 4 x dimensions bytes a token.

    Attributes:
        starts: the first character of each token, ascending, shape (tokens,).
        rows: shape (tokens, dimensions).
    """

    starts: "NDArray[np.int64]"
    rows: "Rows"

    def between(self, span: Span) -> tuple[int, int]:
        """Return the positions of tokens beginning in a span of characters, as a half-open range."""
        first, last = self.starts.searchsorted(span)
        return int(first), int(last)


def windows(tokens: int, size: int, overlap: int) -> Iterator[Window]:
    """Yield overlapping windows over a number of tokens; each token counts in its most central window.

    Averaging a token's embeddings would mix one reading without the following text and one without the preceding text.
    In the middle of an overlap either window shows as much of both sides, so the change-over is there. The last window
    has a larger overlap instead of being short.

    Parameters:
        tokens: their number, 0 or more.
        size: of a window.
        overlap: least number of tokens shared by neighbours; at most size / 2, so no third window overlaps.
    """
    starts = [*range(0, tokens - size, size - overlap), max(0, tokens - size)] if tokens else []
    changes = [0, *((before + size + after) // 2 for before, after in pairwise(starts)), tokens]
    for start, (first, last) in zip(starts, pairwise(changes), strict=False):
        yield Window(start, min(start + size, tokens), first, last)


def embed_tokens(encoder: TokenEncoder, text: str, overlap: int) -> TokenEmbeddings:
    """Embed every token of a text, each in its most central window.

    Parameters:
        encoder: the model; its errors pass through.
        overlap: tokens shared by neighbouring windows; at most half of the encoder's window.
    """
    import numpy as np

    ids, offsets = encoder.tokenize(text)
    blocks = [
        encoder.encode(ids[window.start : window.end])[window.first - window.start : window.last - window.start]
        for window in windows(len(ids), encoder.window, overlap)
    ]
    rows = np.concatenate(blocks) if blocks else np.empty((0, 0), np.float32)
    return TokenEmbeddings(np.maximum.accumulate(offsets[:, 0]), rows)


def pooled(embeddings: TokenEmbeddings, spans: Sequence[Span], pooling: str) -> "Rows | None":
    """Return one unit vector a span, shape (spans, dimensions); None if the document has no token.

    A token counts for the span it begins in. A span without such a token (blanks, characters dropped by the model)
    takes the embedding of the previous token, or of the first one.

    Parameters:
        spans: characters of the document.
        pooling: a key of `POOLINGS`.
    """
    import numpy as np

    if not len(embeddings.starts):
        return None
    pool = POOLINGS[pooling]
    vectors = [_unit(pool(rows), rows) for rows in (_rows_of(embeddings, span) for span in spans)]
    return np.stack(vectors) if vectors else np.empty((0, embeddings.rows.shape[1]), np.float32)


def pooled_in_order(
    encoder: TokenEncoder, text: str, spans: Sequence[Span], pooling: str, overlap: int
) -> "Rows | None":
    """Return the same as `pooled`, with only the tokens of one span and one window in memory.

    Parameters:
        encoder, text, overlap: as in `embed_tokens`.
        spans: characters of the document, in order; they don't overlap.
        pooling: a key of `POOLINGS`.
    """
    import numpy as np

    ids, offsets = encoder.tokenize(text)
    if not len(ids):
        return None
    starts = np.maximum.accumulate(offsets[:, 0])
    blocks = (
        encoder.encode(ids[window.start : window.end])[window.first - window.start : window.last - window.start]
        for window in windows(len(ids), encoder.window, overlap)
    )
    begin, rows = 0, next(blocks)
    vectors: list[Rows] = []
    for span in spans:
        first, last = map(int, starts.searchsorted(span))
        if first == last:
            first, last = max(0, first - 1), max(1, first)
        while begin + len(rows) < last:
            rows = np.concatenate((rows, next(blocks)))
        own = rows[first - begin : last - begin]
        vectors.append(_unit(POOLINGS[pooling](own), own))
        # The last one may stand for a span without a token.
        begin, rows = last - 1, rows[last - 1 - begin :]
    return np.stack(vectors) if vectors else np.empty((0, rows.shape[1]), np.float32)


def text_vector(encoder: TokenEncoder, text: str, pooling: str = "mean") -> "Rows | None":
    """Return the unit vector of a whole text, such as a question; None if it has no token.

    For searching `ChunkReport.vectors`: `report.vectors @ text_vector(encoder, question)` is each chunk's similarity.

    Parameters:
        text: text longer than the encoder's window is read in windows.
        pooling: the chunks' key of `POOLINGS`.
    """
    vectors = pooled(embed_tokens(encoder, text, encoder.window // 4), [(0, len(text))], pooling)
    return None if vectors is None else vectors[0]


def _rows_of(embeddings: TokenEmbeddings, span: Span) -> "Rows":
    first, last = embeddings.between(span)
    if first == last:
        first, last = max(0, first - 1), max(1, first)
    return embeddings.rows[first:last]


def _unit(vector: "Rows", rows: "Rows") -> "Rows":
    import numpy as np

    length = np.linalg.norm(vector)
    if not length:  # Embeddings cancelling each other out.
        return _unit(rows[0], rows)
    unit: Rows = (vector / length).astype(np.float32)
    return unit


def _mean(rows: "Rows") -> "Rows":
    mean: Rows = rows.mean(axis=0)
    return mean


def _first(rows: "Rows") -> "Rows":
    first: Rows = rows[0]
    return first


def _attended(rows: "Rows") -> "Rows":
    import numpy as np

    scores = rows @ rows.mean(axis=0) / np.sqrt(rows.shape[1])
    weights = np.exp(scores - scores.max())
    attended: Rows = weights @ rows / weights.sum()
    return attended


POOLINGS: Mapping[str, Callable[["Rows"], "Rows"]] = {"mean": _mean, "cls": _first, "attention": _attended}
"""Functions from a chunk's token embeddings to its vector.

"mean": their mean, as in the paper and in the training of most embedding models. "cls": the chunk's own first token,
instead of the document's one token [CLS]; for models which gather a text's meaning in its first token. "attention":
their mean, weighted by scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762, eq. 1) with the chunk's
mean as the query: tokens typical of the chunk weigh more than outliers.
"""
