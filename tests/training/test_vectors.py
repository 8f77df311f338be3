"""Static vectors are trained so that questions are near to what answers them."""

import gzip
import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

ASKED = ("paint", "fetch", "erase", "greet", "count", "guess", "merge", "shout")
DONE = ("canvas", "socket", "unlink", "salute", "tally", "random", "union", "upper")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs whose questions share no word with their texts, but always have the same words for the same thing."""
    chosen = Random(0)
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        for number in range(2100):
            asked, done = chosen.choice([*zip(ASKED, DONE, strict=True)])
            words = " ".join(chosen.sample(("table", "row", "page", "item", "node"), 2))
            pair = {"package": f"p{number % 9}", "path": "a.py", "symbol": "", "question": f"{asked} the {words}"}
            lines.write(json.dumps(pair | {"text": f"def f{number}(x):\n    return {done}(x.value)"}) + "\n")
    return path


def nearest(table: np.ndarray, tokenizer: Tokenizer) -> list[int]:
    def unit(word: str) -> np.ndarray:
        total = table[tokenizer.encode(word, add_special_tokens=False).ids].sum(0)
        return total / np.linalg.norm(total)

    return [int(np.argmax([unit(word) @ unit(done) for done in DONE])) for word in ASKED]


def test_training_brings_a_word_of_questions_to_the_words_of_their_texts(pairs: Path, tmp_path: Path) -> None:
    import vectors  # and scipy, which each process that collects tests would import

    tokenizer = vectors.vocabulary(pairs)
    table = vectors.started(tokenizer)
    counted = vectors.counted(pairs, tokenizer)
    assert nearest(table, tokenizer) != [*range(len(ASKED))]
    vectors.train(table, counted, epochs=6, size=256)
    assert nearest(table, tokenizer) == [*range(len(ASKED))]
    turned = vectors.rotated(table, counted.texts)
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.linalg.norm(table, axis=1), rel=1e-3)
    vectors.save(turned, tokenizer, tmp_path)
    kept = load_file(tmp_path / "code-256.safetensors")
    assert kept["codes"].dtype == np.int8
    assert nearest(kept["codes"] * kept["scales"][:, None], tokenizer) == [*range(len(ASKED))]


def test_every_word_has_tokens(pairs: Path) -> None:
    import vectors

    tokenizer = vectors.vocabulary(pairs)
    for word in ("paint", "größe", "ファイル", "q" * 32, "Ω"):
        assert tokenizer.encode(word, add_special_tokens=False).ids
