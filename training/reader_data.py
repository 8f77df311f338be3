"""Make the training data of the reader of the first results: questions, texts and packages, as plain words.

Usage: python training/reader_data.py pairs.jsonl.gz --out DIR

`pairs.py` made the pairs. Texts are split into words as the static model splits them, since the reader shares its
tokens. DIR gets `texts.xz` and `questions.xz`, a line each, with tabs between: a text's package, path, symbol and
words; a question's text (a line's number from 0), kind and words. A text of several questions stands once.
"""

import argparse
import lzma
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from vectors import read

from cqm.index.embedding.static_model import words_of

MOST_WORDS = 200
"""Of a text, a question and a path, for size: most texts have less."""
_LEVEL = 9 | lzma.PRESET_EXTREME


def words(text: str) -> str:
    """The first words of a text, with spaces between."""
    return " ".join(islice(words_of(text), MOST_WORDS))


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    known: dict[str, int] = {}
    with (
        lzma.open(given.out / "texts.xz", "wt", preset=_LEVEL, encoding="utf-8") as texts,
        lzma.open(given.out / "questions.xz", "wt", preset=_LEVEL, encoding="utf-8") as questions,
    ):
        for pair in read(given.pairs):
            said = words(pair["text"])
            row = "\t".join((pair["package"], words(pair["path"]), words(pair["symbol"]), said))
            asked = words(pair["question"])
            if not asked or not said:
                continue
            if row not in known:
                known[row] = len(known)
                texts.write(f"{row}\n")
            questions.write(f"{known[row]}\t{pair['kind']}\t{asked}\n")
    sys.stdout.write(f"{len(known)} texts\n")


if __name__ == "__main__":
    main()
