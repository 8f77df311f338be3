"""CPU time of redaction beside that of chunking, over files of folders: `python secrets_speed.py FOLDER...`."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.index.model.secrets import SecretOptions
from cqm.index.secrets.redaction import redact
from cqm.index.secrets.tokens import load_rules

_MOST_BYTES = 1_000_000
_MOST_FILES = 1_000
_ROUNDS = 3

Files = Sequence[tuple[str, str]]


def main() -> None:
    """Print both, the best of three rounds each, and their ratio."""
    began = time.process_time()
    load_rules()
    print(f"rules loaded in {time.process_time() - began:.2f} s CPU")
    paths = sorted(it for folder in sys.argv[1:] for it in Path(folder).rglob("*.*") if it.is_file())
    files = [(str(path), text) for path in paths[:: max(1, len(paths) // _MOST_FILES)] if (text := _text(path))]
    rounds = [(_seconds(files, _redact), _seconds(files, _chunk)) for _ in range(_ROUNDS)]
    finding, cutting = (min(column) for column in zip(*rounds, strict=True))
    size = sum(len(text) for _, text in files) / 1e6
    print(f"{len(files)} files, {size:.1f} MB: redaction {finding:.2f} s, chunking {cutting:.2f} s", end="")
    print(f": {finding / cutting:.1%}")


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) <= _MOST_BYTES else ""


def _redact(path: str, text: str) -> object:
    return redact(text, path, SecretOptions())


def _chunk(path: str, text: str) -> object:
    return chunk(Document(path, text))


def _seconds(files: Files, work: Callable[[str, str], object]) -> float:
    began = time.process_time()
    for path, text in files:
        work(path, text)
    return time.process_time() - began


if __name__ == "__main__":
    main()
