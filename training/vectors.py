"""Train the static vectors of `cqm.index.embedding.static_model` on pairs of questions and texts.

Usage: python training/vectors.py pairs.jsonl.gz --out index/embedding/static

Wants SciPy and the package wordllama beside what CQM wants. It takes about a minute per 100,000 pairs on two cores, and
the same pairs give the same vectors on the same machine.

1. A vocabulary: byte pair encoding of the words in the pairs, in lower case (Sennrich et al., arXiv:1508.07909), as
   frequent as they are there. Words that no merge makes end in bytes, so that every word has tokens.
2. A token starts as the sum of WordLlama's vectors of its text. A random start costs .02 of MRR.
3. A text points where the weighted sum of its tokens does, exactly as it is embedded later. Each question is to be
   nearer to its text than to the other texts of its batch, and each text to its question (InfoNCE, arXiv:1807.03748; in
   both directions as in CLIP, arXiv:2103.00020). Batches are made of pieces of packages: what has to be told apart
   later is of one tree too.
4. The vectors are rotated so that the first dimensions say most (principal axes of the texts), which is why they may be
   shortened, and kept in 8 bits with a scale a token, which changes no figure.
"""

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, trainers

from cqm.index.embedding.static_model import words_of

Floats = NDArray[np.float32]

VOCABULARY = 32_000
"""Tokens."""
_ALPHABET = 400
"""Characters with a token of their own; others are made of bytes."""
_LEAST_COUNT, _MOST_COUNT = 4, 20_000
"""Of a word, to have a part in the vocabulary, and for how many of it it counts at most."""
_READ_CHARACTERS = 2_000
"""Of a text, for the vocabulary."""
EPOCHS = 3
BATCH = 2_048
PIECE = 64
"""Pairs of one package in a batch, at most at a time."""
TEMPERATURE = 0.08
RATE = 0.01
_WARM_UP = 20
"""Steps."""
_MOMENTUM, _SECOND_MOMENTUM = 0.9, 0.99
_START_SIZE = 0.1
"""Mean size of the numbers of the vectors at the start: together with the rate, how far a step goes."""
_SEED = 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Questions and the texts that answer them, as the weights of their tokens: sparse, shape (pairs, tokens)."""

    questions: sp.csr_matrix
    texts: sp.csr_matrix
    packages: Sequence[str]


def read(path: Path) -> Iterator[Mapping[str, str]]:
    """The pairs of a file, as `pairs.py` writes them."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def vocabulary(path: Path) -> Tokenizer:
    """Learn the tokens of the words in pairs."""
    counts: Counter[str] = Counter()
    for pair in read(path):
        said = (pair["question"], pair["path"], pair["symbol"], pair["text"][:_READ_CHARACTERS])
        counts.update(words_of(" ".join(said)))
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, ignore_merges=True))
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[f"<0x{byte:02X}>" for byte in range(256)],
        limit_alphabet=_ALPHABET,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_repeated(counts), trainer)
    return tokenizer


def _repeated(counts: Mapping[str, int]) -> Iterator[str]:
    """Words in proportion to their counts: the trainer counts for itself."""
    for word, count in sorted(counts.items()):
        for _ in range(min(count, _MOST_COUNT) // _LEAST_COUNT):
            yield word


def started(tokenizer: Tokenizer) -> Floats:
    """Where the tokens' vectors start, shape (tokens, 256)."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise SystemExit("Install wordllama==0.2.2.post0: the vectors start from its own.")
    folder = Path(spec.origin).parent
    [known] = load_file(folder / "weights/l2_supercat_256.safetensors").values()
    pieces = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    vectors: Floats = np.random.default_rng(_SEED).normal(0, 0.05, (tokenizer.get_vocab_size(), 256)).astype(np.float32)
    for token, row in tokenizer.get_vocab().items():
        if not re.fullmatch(r"<0x\w\w>", token):
            vectors[row] = known[pieces.encode(token, add_special_tokens=False).ids].astype(np.float32).sum(0)
    return vectors * (_START_SIZE / np.abs(vectors).mean())


def counted(path: Path, tokenizer: Tokenizer) -> Pairs:
    """The tokens of pairs, weighted as they are when embedded."""
    known: dict[str, list[int]] = {}
    questions, texts, packages = [], [], []
    for pair in read(path):
        header = "\n".join(filter(None, (pair["path"], pair["symbol"], pair["text"])))
        sides = _weights(pair["question"], tokenizer, known), _weights(header, tokenizer, known)
        if all(map(len, sides)):
            questions.append(sides[0])
            texts.append(sides[1])
            packages.append(pair["package"])
    width = tokenizer.get_vocab_size()
    return Pairs(_stacked(questions, width), _stacked(texts, width), packages)


def _weights(text: str, tokenizer: Tokenizer, known: dict[str, list[int]]) -> dict[int, float]:
    total: Counter[int] = Counter()
    for word, count in Counter(words_of(text)).items():
        if word not in known:
            known[word] = tokenizer.encode(word, add_special_tokens=False).ids
        for token in known[word]:
            total[token] += 1 + np.log(count)
    return total


def _stacked(rows: Sequence[Mapping[int, float]], width: int) -> sp.csr_matrix:
    starts = np.cumsum([0, *map(len, rows)])
    tokens = np.fromiter((token for row in rows for token in row), np.int32, starts[-1])
    weights = np.fromiter((weight for row in rows for weight in row.values()), np.float32, starts[-1])
    return sp.csr_matrix((weights, tokens, starts), shape=(len(rows), width))


def train(vectors: Floats, pairs: Pairs, epochs: int = EPOCHS, size: int = BATCH) -> None:
    """Change vectors so that questions are near to their texts.

    Parameters:
        vectors: of the tokens; changed in place.
        pairs: what to learn from.
        epochs: how often each pair is seen.
        size: pairs in a batch, about.
    """
    chance = np.random.default_rng(_SEED)
    mean, square = np.zeros_like(vectors), np.zeros(len(vectors), np.float32)
    seen = np.zeros(len(vectors), np.int32)
    steps = epochs * len(pairs.packages) / size
    for step, batch in enumerate(batch for _ in range(epochs) for batch in _batches(pairs.packages, size, chance)):
        loss, rows, slope = _slope(vectors, pairs.questions[batch], pairs.texts[batch])
        # Adam (arXiv:1412.6980) over the tokens of the batch alone, with one second moment a token.
        seen[rows] += 1
        times = seen[rows].astype(np.float32)[:, None]
        mean[rows] = _MOMENTUM * mean[rows] + (1 - _MOMENTUM) * slope
        square[rows] = _SECOND_MOMENTUM * square[rows] + (1 - _SECOND_MOMENTUM) * (slope**2).mean(1)
        deviation = np.sqrt(square[rows][:, None] / (1 - _SECOND_MOMENTUM**times)) + 1e-9
        rate = RATE * min(1.0, (step + 1) / _WARM_UP) * max(0.02, 1 - step / steps)
        vectors[rows] -= rate * mean[rows] / (1 - _MOMENTUM**times) / deviation
        if step % 50 == 0:
            sys.stdout.write(f"step {step:5} of {steps:.0f}, loss {loss:.3f}\n")


def _batches(packages: Sequence[str], size: int, chance: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """All pairs once, in batches made of pieces of packages."""
    by_package: dict[str, list[int]] = {}
    for index, package in enumerate(packages):
        by_package.setdefault(package, []).append(index)
    shuffled = [chance.permutation(some) for some in by_package.values()]
    pieces = [some[start : start + PIECE] for some in shuffled for start in range(0, len(some), PIECE)]
    batch: list[NDArray[np.intp]] = []
    for place in chance.permutation(len(pieces)):
        batch.append(pieces[place])
        if sum(map(len, batch)) >= size:
            yield np.concatenate(batch)
            batch = []


def _slope(
    vectors: Floats, questions: sp.csr_matrix, texts: sp.csr_matrix
) -> tuple[float, NDArray[np.int32], NDArray[Any]]:
    """The loss of a batch, the tokens in it, and the gradient of their vectors."""
    both = sp.vstack([questions, texts]).tocsr()
    rows, inner = np.unique(both.indices, return_inverse=True)
    both = sp.csr_matrix((both.data, inner, both.indptr), shape=(both.shape[0], len(rows)))
    sums = np.asarray(both @ vectors[rows])
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    units = sums / lengths
    asked, told = np.split(units, 2)
    near = asked @ told.T / TEMPERATURE
    by_question, by_text = _shares(near, 1), _shares(near, 0)
    same = np.arange(len(asked))
    pull = (by_question + by_text) / 2
    pull[same, same] -= 1
    pull /= len(asked) * TEMPERATURE
    turned = np.concatenate([pull @ told, pull.T @ asked])
    turned -= (turned * units).sum(1, keepdims=True) * units
    return float(-np.log(by_question[same, same] + 1e-12).mean()), rows, np.asarray(both.T @ (turned / lengths))


def _shares(near: NDArray[Any], axis: int) -> NDArray[Any]:
    """Softmax."""
    powers = np.exp(near - near.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


def rotated(vectors: Floats, texts: sp.csr_matrix) -> Floats:
    """The same vectors with the principal axes of some texts as dimensions, those that say most first."""
    sums = np.asarray(texts @ vectors)
    units = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    _, axes = np.linalg.eigh((units.T @ units).astype(np.float64))
    return np.asarray(vectors @ axes[:, ::-1].astype(np.float32))


def save(vectors: Floats, tokenizer: Tokenizer, folder: Path) -> None:
    """Write the vectors, in 8 bits, and the tokenizer."""
    scales = np.maximum(np.abs(vectors).max(1), 1e-9).astype(np.float32) / 127
    folder.mkdir(parents=True, exist_ok=True)
    codes = np.round(vectors / scales[:, None]).astype(np.int8)
    save_file({"codes": codes, "scales": scales}, folder / "code-256.safetensors")
    (folder / "code-256.tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = vocabulary(given.pairs)
    vectors, pairs = started(tokenizer), counted(given.pairs, tokenizer)
    sys.stdout.write(f"{len(pairs.packages)} pairs, {len(vectors)} tokens\n")
    train(vectors, pairs)
    save(rotated(vectors, pairs.texts[::5]), tokenizer, given.out)


if __name__ == "__main__":
    main()
