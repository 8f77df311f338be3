"""Token embeddings of a whole document, pooled into one vector a span: late chunking.

Each token is embedded while the model sees the whole document, and only then are tokens gathered to chunks, so that a
chunk's vector knows what "it" or "the city" stands for (Guenther et al. 2024, arXiv:2409.04701).
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
    """A text as its model reads it, without the control tokens that the model adds.

    Attributes:
        ids: the tokens' numbers.
        offsets: the characters of the text that each stands for, half-open, shape (tokens, 2).
    """

    ids: Sequence[int]
    offsets: "NDArray[np.int64]"


class TokenEncoder(Protocol):
    """A model that tells the embedding of each token. Nothing is loaded or contacted before its first use."""

    @property
    def name(self) -> str:
        """The vector space: vectors may be compared only when these names are equal."""

    @property
    def window(self) -> int:
        """How many tokens it reads at once."""

    def tokenize(self, text: str) -> Tokens:
        """The tokens of a text of any length; starts never go back."""

    def encode(self, ids: Sequence[int]) -> "Rows":
        """The embeddings of up to `window` tokens that are read together, shape (len(ids), dimensions).

        Every value is finite and no row is zero. The lengths of the rows are the model's own.
        """

    def close(self) -> None:
        """Give back connections and memory; a later call opens them again."""


class Window(NamedTuple):
    """Tokens that are read together, from start to end, and those of them whose embeddings count: first to last."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class TokenEmbeddings:
    """The tokens of a document with their embeddings; 4 x dimensions bytes a token.

    Attributes:
        starts: the character that each token begins at, ascending, shape (tokens,).
        rows: shape (tokens, dimensions).
    """

    starts: "NDArray[np.int64]"
    rows: "Rows"

    def between(self, span: Span) -> tuple[int, int]:
        """The tokens that begin in a span of characters, as a half-open range of their positions."""
        first, last = self.starts.searchsorted(span)
        return int(first), int(last)


def windows(tokens: int, size: int, overlap: int) -> Iterator[Window]:
    """Overlapping windows over so many tokens; each token counts in one, that where it lies most centrally.

    An average of a token's embeddings would blend a reading that lacks what comes next with one that lacks what came
    before; the middle of an overlap has the same share of both sides in either window, so that is where to change over.
    The last window reaches back over more than the overlap, rather than to be short.

    Parameters:
        tokens: how many there are, 0 or more.
        size: of a window.
        overlap: tokens that neighbours share at least; at most size / 2, so that no third window reaches in.
    """
    starts = [*range(0, tokens - size, size - overlap), max(0, tokens - size)] if tokens else []
    changes = [0, *((before + size + after) // 2 for before, after in pairwise(starts)), tokens]
    for start, (first, last) in zip(starts, pairwise(changes), strict=False):
        yield Window(start, min(start + size, tokens), first, last)


def embed_tokens(encoder: TokenEncoder, text: str, overlap: int) -> TokenEmbeddings:
    """Embed every token of a text, each in the window where it lies most centrally.

    Parameters:
        encoder: the model; what it raises passes.
        text: of any length.
        overlap: tokens that neighbouring windows share; at most half of the encoder's window.
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
    """One unit vector a span, shape (spans, dimensions); None when the document has no token.

    A token counts for the span that it begins in. A span in which no token begins (blanks, characters that the model
    drops) takes the embedding of the token before it, or of the first one: what the model saw there.

    Parameters:
        embeddings: of the document.
        spans: characters of the document.
        pooling: a key of `POOLINGS`.
    """
    import numpy as np

    if not len(embeddings.starts):
        return None
    pool = POOLINGS[pooling]
    vectors = [_unit(pool(rows), rows) for rows in (_rows_of(embeddings, span) for span in spans)]
    return np.stack(vectors) if vectors else np.empty((0, embeddings.rows.shape[1]), np.float32)


def text_vector(encoder: TokenEncoder, text: str, pooling: str = "mean") -> "Rows | None":
    """The unit vector of a whole text, such as a question; None when it has no token.

    For callers that search `ChunkReport.vectors`: the product of those rows with it is how like each chunk is to it.

    Parameters:
        encoder: the one that embedded the chunks.
        text: one longer than the encoder's window is read in windows.
        pooling: a key of `POOLINGS`: the one that the chunks were pooled by.
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
    if not length:  # Embeddings that cancel each other out.
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
"""How the tokens of a chunk become its vector.

"mean": their mean, as in the paper and as most embedding models are trained. "cls": the chunk's own first token, in the
place of the one token [CLS] that a document has; for models that gather a text's meaning in its first token.
"attention": their mean by the weights of scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762, eq. 1)
with the chunk's mean as the query, so that tokens that say what the chunk says weigh more than its outliers.
"""
