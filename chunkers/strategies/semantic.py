"""Group sentences while each is similar to the previous one, by the vectors of an embedding function."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import nextafter
from typing import TYPE_CHECKING

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import Cut, Piece
from cqm.chunkers.splitting import Unit
from cqm.chunkers.strategies.rules import TOKENIZER, Given, Real, Rule, Whole, Words
from cqm.chunkers.strategies.sentence import Group, even_groups, grouped, measure_of
from cqm.chunkers.strategies.sentences import AFTER_HEADING, AFTER_PARAGRAPH, sentences_of
from cqm.chunkers.tokens import QUARTERS, Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Embed = Callable[[Sequence[str]], "ArrayLike"]
"""From n texts to their vectors, shape (n, dimensions); any length, any dimensions."""

# Sentences embedded at once: their vectors need not all be in memory.
_AT_ONCE = 1024

# Texts and dimensions.
_AXES = 2


@dataclass(frozen=True, slots=True)
class SemanticOptions:
    """Similar sentences; sizes are in tokens of the tokenizer, or estimated ones (`tokens.estimate`).

    Attributes:
        embed: from sentences to vectors; see `Embed`. Its errors pass unchanged.
        threshold: a chunk ends where the cosine of neighbouring sentences' vectors is lower. 0 to 1; None for the
            cosine that gives stretches of target_tokens on average in this text. Cosines differ between models: at .7
            the built-in vectors end a chunk after nearly every sentence, others hardly ever.
        markers: a heading, paragraph or item beginning with one of them always begins a chunk.
        target_tokens: size of the chunks made from a stretch over max_tokens. 128 to 4096.
        max_tokens: a longer stretch is divided, a longer sentence too. target_tokens to 8192.
        min_tokens: a smaller chunk is joined to the more similar neighbour within max_tokens, but not across a marker.
            0 to target_tokens.
        tokenizer: counts exactly; None for the estimate.
    """

    embed: Embed
    threshold: float | None = None
    markers: tuple[str, ...] = ("##", "###", "---")
    target_tokens: int = 512
    max_tokens: int = 1024
    min_tokens: int = 64
    tokenizer: Tokenizer | None = None


SEMANTIC_RULES: Mapping[str, Rule] = {
    "embed": Given(("__call__",), "a function from sentences to vectors"),
    "threshold": Real(0, 1, optional=True),
    "markers": Words(),
    "target_tokens": Whole(128, 4096),
    "max_tokens": Whole(lambda options: options.target_tokens, 8192),
    "min_tokens": Whole(0, lambda options: options.target_tokens),
    "tokenizer": TOKENIZER,
}


@dataclass(frozen=True, slots=True)
class _Stretch:
    # With the similarity of its first sentence to the previous one.
    group: Group
    likeness: float


# Beyond any cosine: at a marker, and after a heading.
_APART, _TOGETHER = -2.0, 2.0


def cut_semantic(text: str, _language: str, options: SemanticOptions) -> Cut:
    """Cut a text between dissimilar neighbouring sentences; see `SemanticOptions`.

    Raises:
        ChunkOptionError: the function does not return one vector of finite numbers for each sentence.
    """
    limit = options.max_tokens * QUARTERS
    units = sentences_of(text, (0, len(text)), measure_of(options.tokenizer), longest=limit)
    if not units:
        return [], []
    starts = [0, *(unit.end for unit in units[:-1])]
    sentences = [text[start : unit.end].strip() for start, unit in zip(starts, units, strict=True)]
    likenesses = [_APART, *_likenesses(sentences, options.embed)]
    for number in range(1, len(units)):
        if units[number - 1].strength == AFTER_HEADING:
            likenesses[number] = _TOGETHER
        elif units[number - 1].strength >= AFTER_PARAGRAPH and sentences[number].startswith(options.markers):
            likenesses[number] = _APART
    target = options.target_tokens * QUARTERS
    threshold = _calibrated(units, likenesses, target) if options.threshold is None else options.threshold
    stretches = _joined(_stretches(units, likenesses, threshold), limit, options.min_tokens * QUARTERS)
    groups = (group for stretch in stretches for group in _divided(stretch.group, limit, target))
    return [Piece(group.start, group.end, "text") for group in groups], []


def _likenesses(sentences: Sequence[str], embed: Embed) -> list[float]:
    """Return the cosines of neighbouring sentences' vectors; 0 for a vector of zeros."""
    import numpy as np  # only where vectors are at hand

    result: list[float] = []
    before = None
    for first in range(0, len(sentences), _AT_ONCE):
        vectors = _vectors(sentences[first : first + _AT_ONCE], embed)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths > 0, lengths, 1)
        if before is not None:
            vectors = np.concatenate((before, vectors))
        result.extend(np.einsum("nd,nd->n", vectors[:-1], vectors[1:]).tolist())
        before = vectors[-1:]
    return result


def _vectors(sentences: Sequence[str], embed: Embed) -> "NDArray[np.float64]":
    import numpy as np  # only where vectors are at hand

    vectors = np.asarray(embed(sentences), dtype=np.float64)
    if vectors.ndim != _AXES or len(vectors) != len(sentences) or not np.isfinite(vectors).all():
        message = f"The function embed gave an array of shape {vectors.shape} for {len(sentences)} sentences."
        raise ChunkOptionError(message, remedy="Let it give one vector of finite numbers for each sentence.")
    return vectors


def _calibrated(units: Sequence[Unit], likenesses: Sequence[float], target: int) -> float:
    """Return the cosine for stretches of the target's size on average; a lower one begins a stretch."""
    wanted = round(sum(unit.size for unit in units) / target) - likenesses.count(_APART)
    free = sorted(likeness for likeness in likenesses if _APART < likeness < _TOGETHER)
    if wanted <= 0 or not free:
        return _APART
    at = free[min(wanted, len(free)) - 1]
    # With equal cosines all begin a stretch, or none: whichever is nearer to the number wanted.
    below, with_equal = bisect_left(free, at), bisect_right(free, at)
    return nextafter(at, _TOGETHER) if with_equal - wanted <= wanted - below else at


def _stretches(units: Sequence[Unit], likenesses: Sequence[float], threshold: float) -> list[_Stretch]:
    first = [number for number, likeness in enumerate(likenesses) if likeness < threshold or not number]
    edges = [0, *(unit.end for unit in units)]
    spans = [(edges[one], edges[other]) for one, other in pairwise([*first, len(units)])]
    groups = grouped(units, spans)
    return [_Stretch(group, likenesses[number]) for number, group in zip(first, groups, strict=True)]


def _joined(stretches: Sequence[_Stretch], limit: int, least: int) -> list[_Stretch]:
    result: list[_Stretch] = []
    following = [stretch.likeness for stretch in stretches[1:]] + [_APART]
    for stretch, after in zip(stretches, following, strict=True):
        before = result[-1] if result else None
        is_nearest = stretch.group.size < least and stretch.likeness >= after
        if (
            before
            and stretch.likeness > _APART
            and (before.group.size < least or is_nearest)
            and before.group.size + stretch.group.size <= limit
        ):
            result[-1] = replace(before, group=before.group.followed_by(stretch.group))
        else:
            result.append(stretch)
    return result


def _divided(group: Group, limit: int, target: int) -> list[Group]:
    return [group] if group.size <= limit else even_groups(group.start, group.units, target, limit)
