"""Read the first results of a search together with the question: a small cross-encoder, in NumPy.

The words of question and text go through a transformer at once (Nogueira and Cho, arXiv:1901.04085): it sees which of
them belong together. Vectors of each alone cannot. `training/reader_train.py` trains it, and explains its input: tokens
of the static model, marked if the other side has them too. A long text gives its beginning and the window with most of
the question's words.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cqm.index.embedding.static_model import arrays_of, checked, tokens_of_words, words_of
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked, in_order, spread
from cqm.index.text.terms import encodable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int32]

ASKED, HEADED, NAMED, LONGEST = 31, 24, 10, 256
"""Tokens read of a question, of path and symbol together, of a symbol, and looked at in a text. It was trained with
them."""
TOLD, HEAD = 64, 24
"""Tokens read of a text: its first ones, the rest being a window into `LONGEST`. It was trained with 128 and 48, which
take a fifth more time. For 1,901 sentences of the split "train", the reciprocal rank of the lines is .578 with 128 and
48, .577 with these and .575 with 48 and 20; for 1,674 held out .538, .540 and .543."""
_FILE = Path(__file__).with_name("static") / "reader-1.safetensors"
_SHA256 = "9bf093bcb77b21a87c36798c2429034e837737ea0d52e3f8ab735c046a1bf7bc"
_SPECIAL, _FIRST = 2, 1
"""Numbers before those of the static model's tokens: 0 fills, 1 begins."""
READ = 4
"""Results read. For 1,352 sentences about packages not learned from, the reciprocal rank of the lines with 4, 8, 16 and
30 is .595, .596, .597 and .597; without any it is .584. So few need no deadline: an answer is the same on a busy
machine."""
_CHARACTERS = 8_192
"""Most characters of a text."""
_WEIGHT = 0.2
"""Weight of a logit beside the other parts of a score."""
_OF_HEAD = 64
"""Numbers of a state read by an attention head."""
_EPSILON = 1e-12


class Passage(NamedTuple):
    """A text to read, with its name."""

    path: str
    symbol: str
    text: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """Numbers of a layer, as in BERT: matrices of shape (from, to) with their biases, and norms."""

    mixed: "tuple[Floats, Floats]"
    joined: "tuple[Floats, Floats]"
    first: "tuple[Floats, Floats]"
    wide: "tuple[Floats, Floats]"
    narrow: "tuple[Floats, Floats]"
    second: "tuple[Floats, Floats]"


@dataclass(frozen=True, slots=True)
class _Model:
    """A reader in memory.

    Attributes:
        codes, scales: of the tokens' vectors, shapes (tokens, width) and (tokens,).
        rarity: of the tokens, in the training texts.
        places, marks: vectors of slots and of marks.
        score: weights of the first token's state.
    """

    codes: "NDArray[np.int8]"
    scales: "Floats"
    rarity: "Floats"
    places: "Floats"
    marks: "Floats"
    norm: "tuple[Floats, Floats]"
    layers: tuple[_Layer, ...]
    heads: int
    score: "Floats"
    bias: float


def _read_model(arrays: "Mapping[str, NDArray[Any]]") -> _Model:
    """Make a reader of the arrays named in `training/reader_model.py`; 8-bit matrices have scales."""
    import numpy as np

    def array(name: str) -> "Floats":
        scales = arrays.get(f"{name}.scales")
        return arrays[name] if scales is None else arrays[name] * scales[:, None]

    def linear(name: str) -> "tuple[Floats, Floats]":
        return np.ascontiguousarray(array(f"{name}.weight").T), array(f"{name}.bias")

    def norm(name: str) -> "tuple[Floats, Floats]":
        return array(f"{name}.weight"), array(f"{name}.bias")

    layers: list[_Layer] = []
    while f"layers.{len(layers)}.mixed.bias" in arrays:
        at = f"layers.{len(layers)}"
        layers.append(
            _Layer(
                linear(f"{at}.mixed"), linear(f"{at}.joined"), norm(f"{at}.first"),
                linear(f"{at}.wide"), linear(f"{at}.narrow"), norm(f"{at}.second"),
            )
        )  # fmt: skip
    return _Model(
        arrays["tokens.weight"], arrays["tokens.weight.scales"], array("rarity"), array("places.weight"),
        array("marks.weight"), norm("norm"), tuple(layers), arrays["tokens.weight"].shape[1] // _OF_HEAD,
        array("score.weight")[0], float(array("score.bias")[0]),
    )  # fmt: skip


class _Row(NamedTuple):
    """Question and text as the model gets them."""

    tokens: "Numbers"
    slots: "Numbers"
    marks: "Numbers"


@cache
def _model() -> _Model:
    return _read_model(arrays_of(checked(_FILE, _SHA256, "set rerank.reader to false")))


def read_together(question: Question, ranked: Sequence[Ranked], texts: Sequence[str]) -> Sequence[Ranked]:
    """Reorder the first results by the reader's scores, the part `reader` of the score.

    Parameters:
        question: one without words, or longer than in the model's training, is not read.
        ranked: best first.
        texts: of the first of them, in their order; the others stay after these.

    Raises:
        EmbeddingError: the model's files are gone or others.
    """
    asked = numbers(question.said, ASKED + 1)
    if not texts or not 0 < len(asked) <= ASKED:
        return ranked
    # Longer ones have no more tokens to read, and are remembered in short.
    passages = [
        Passage(it.candidate.path, it.candidate.symbol, text[:_CHARACTERS])
        for it, text in zip(ranked, texts, strict=False)
    ]
    said = scores(asked, passages)
    mean = sum(said) / len(said)
    read = [_with(entry, _WEIGHT * (logit - mean), logit) for entry, logit in zip(ranked, said, strict=False)]
    return [*spread(in_order(read), read[0].weights.repeat), *ranked[len(read) :]]


def _with(entry: Ranked, part: float, logit: float) -> Ranked:
    return entry._replace(score=entry.score + part, further=(*entry.further, ("reader", part)), number=logit)


def scores(asked: Sequence[int], passages: Sequence[Passage]) -> list[float]:
    """Score how likely passages answer a question: logits, comparable within a question.

    Parameters:
        asked: tokens of the question.
        passages: each is read by itself.

    Raises:
        EmbeddingError: the model's files are gone or others.
    """
    model = _model()
    return _read([_laid_out(asked, it, model.rarity) for it in passages], model)


def numbers(text: str, most: int) -> list[int]:
    """Return the first tokens of a text, up to a limit."""
    words = tuple(islice(words_of(encodable(text)), most))
    return [_SPECIAL + it for it in islice(chain.from_iterable(tokens_of_words(words)), most)]


@lru_cache(maxsize=1 << 8)
def _tokens_of(passage: Passage) -> "tuple[Numbers, Numbers]":
    """Tokens of path and symbol, the last ones of each, and of the text."""
    import numpy as np

    named = numbers(passage.symbol, LONGEST)[-NAMED:]
    path = numbers(passage.path, LONGEST)[-(HEADED - len(named)) :]
    return np.array([*path, *named], np.int32), np.array(numbers(passage.text, LONGEST), np.int32)


def _laid_out(asked: Sequence[int], passage: Passage, rarity: "Floats") -> _Row:
    import numpy as np

    headed, told = _tokens_of(passage)
    question = np.array(asked, np.int32)
    of_text = np.isin(told, question)
    if len(told) > TOLD:
        span = TOLD - HEAD
        sums = np.concatenate([[0.0], np.cumsum(np.where(of_text, rarity[told], 0.0))])
        gains = sums[HEAD + span :] - sums[HEAD:-span]
        start = int(gains.argmax()) + HEAD
        kept = np.concatenate([np.arange(HEAD), np.arange(start, start + span)])
        told, of_text = told[kept], of_text[kept]
    of_head = np.isin(headed, question)
    in_text = np.isin(question, np.concatenate([headed, told]))
    first = np.array([_FIRST], np.int32)
    return _Row(
        np.concatenate([first, question, headed, told]),
        np.concatenate(
            [
                [0],
                1 + np.arange(len(question)),
                1 + ASKED + np.arange(len(headed)),
                1 + ASKED + HEADED + np.arange(len(told)),
            ]
        ),
        np.concatenate([[0], 3 * in_text, 1 + 3 * of_head, 2 + 3 * of_text]),
    )


def _read(rows: Sequence[_Row], model: _Model) -> list[float]:
    """Scores of rows. All tokens of all rows are in one matrix; only attention keeps them apart."""
    import numpy as np

    starts = [0, *accumulate(len(row.tokens) for row in rows)]
    tokens, slots, marks = (np.concatenate(it) for it in zip(*rows, strict=True))
    states = model.codes[tokens] * model.scales[tokens, None] + model.places[slots] + model.marks[marks]
    states = _normed(states, model.norm)
    width = states.shape[1]
    for layer in model.layers[:-1]:
        mixed = _through(states, layer.mixed)
        found = [_attended(mixed[at:end, :width], mixed[at:end, width:], model.heads) for at, end in pairwise(starts)]
        states = _finished(states, np.concatenate(found), layer)
    # In the last layer, only the first token's state counts.
    last = model.layers[-1]
    matrix, added = last.mixed
    firsts = states[starts[:-1]]
    asking = _through(firsts, (matrix[:, :width], added[:width]))
    mixed = _through(states, (matrix[:, width:], added[width:]))
    found = [
        _attended(asking[row : row + 1], mixed[at:end], model.heads) for row, (at, end) in enumerate(pairwise(starts))
    ]
    told: list[float] = (_finished(firsts, np.concatenate(found), last) @ model.score + model.bias).tolist()
    return told


def _attended(asking: "Floats", mixed: "Floats", heads: int) -> "Floats":
    """Attention of some tokens of a row to all of them.

    Parameters:
        asking: queries, shape (asking tokens, width).
        mixed: keys, then values, shape (tokens, 2 * width).
    """
    import numpy as np

    own, width = asking.shape
    queries = asking.reshape(own, heads, -1).transpose(1, 0, 2)
    keys, values = mixed.reshape(len(mixed), 2, heads, -1).transpose(1, 2, 0, 3)
    near: Floats = np.matmul(queries, keys.transpose(0, 2, 1))
    near *= 1 / math.sqrt(width // heads)
    near -= near.max(-1, keepdims=True)
    np.exp(near, out=near)
    near /= near.sum(-1, keepdims=True)
    found: Floats = np.matmul(near, values).transpose(1, 0, 2).reshape(own, width)
    return found


def _finished(states: "Floats", found: "Floats", layer: _Layer) -> "Floats":
    """Return the rest of a layer behind attention."""
    import numpy as np

    states = _normed(states + _through(found, layer.joined), layer.first)
    wide = _through(states, layer.wide)
    np.maximum(wide, 0, out=wide)
    return _normed(states + _through(wide, layer.narrow), layer.second)


def _through(states: "Floats", linear: "tuple[Floats, Floats]") -> "Floats":
    matrix, added = linear
    found: Floats = states @ matrix
    found += added
    return found


def _normed(states: "Floats", norm: "tuple[Floats, Floats]") -> "Floats":
    """Layer normalisation (Ba et al., arXiv:1607.06450)."""
    import numpy as np

    scale, shift = norm
    states = states - states.mean(-1, keepdims=True)
    states /= np.sqrt(np.einsum("tn,tn->t", states, states)[:, None] / states.shape[1] + np.float32(_EPSILON))
    states *= scale
    states += shift
    return states
