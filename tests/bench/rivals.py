"""Chunk files with another chunker, in an interpreter that has it: for `chunking_compared.py`, which starts it.

Usage: PYTHON rivals.py NAME, then a line of JSON per file on standard input: {"path", "language", "text"}. Each is
answered by a line {"seconds": CPU, "chunks": [[text, claimed first line or null], ...]}, or {"unsupported": why}.

Every chunker is given the same limit, 2,048 characters, where it takes one. It imports nothing of ours.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 2048
Chunks = list[tuple[str, "int | None"]]


def astchunk() -> Callable[[str, str, str], Chunks]:
    """The cAST paper's chunker; it knows four languages, and its limit counts characters that are not blank."""
    from astchunk import ASTChunkBuilder

    builders: dict[str, Any] = {}

    def cut(_path: str, language: str, text: str) -> Chunks:
        name = "typescript" if language in ("typescript", "tsx") else language
        if name not in builders:
            builders[name] = ASTChunkBuilder(max_chunk_size=LIMIT, language=name, metadata_template="default")
        windows = builders[name].chunkify(text)
        return [(window["content"], window["metadata"]["start_line_no"] + 1) for window in windows]

    return cut


def chonkie() -> Callable[[str, str, str], Chunks]:
    """Chonkie's code chunker (1.5.6; later ones download at run time). It tells characters, not lines."""
    from chonkie import CodeChunker

    chunkers: dict[str, Any] = {}

    def cut(_path: str, language: str, text: str) -> Chunks:
        if language not in chunkers:
            chunkers[language] = CodeChunker(tokenizer="character", chunk_size=LIMIT, language=language)
        return [(piece.text, text.count("\n", 0, piece.start_index) + 1) for piece in chunkers[language].chunk(text)]

    return cut


def llamaindex() -> Callable[[str, str, str], Chunks]:
    """llama-index's CodeSplitter; it tells no positions."""
    from llama_index.core.node_parser import CodeSplitter

    splitters: dict[str, Any] = {}

    def cut(_path: str, language: str, text: str) -> Chunks:
        if language not in splitters:
            splitters[language] = CodeSplitter(language=language, max_chars=LIMIT)
        return [(piece, None) for piece in splitters[language].split_text(text)]

    return cut


def semble() -> Callable[[str, str, str], Chunks]:
    """Semble's chunker, whose size is fixed at 750 characters."""
    from semble.chunking.chunking import chunk_source

    return lambda path, language, text: [
        (piece.content, piece.start_line) for piece in chunk_source(text, path, language)
    ]


def chunkhound() -> Callable[[str, str, str], Chunks]:
    """ChunkHound's parser, with its own sizes."""
    from chunkhound.core.detection import detect_language
    from chunkhound.parsers.parser_factory import create_parser_for_language
    from loguru import logger

    logger.remove()
    parsers: dict[Any, Any] = {}

    def cut(path: str, _language: str, text: str) -> Chunks:
        language = detect_language(Path(path))
        if language not in parsers:
            parsers[language] = create_parser_for_language(language)
        return [(piece.code, piece.start_line) for piece in parsers[language].parse_content(text, Path(path), 1)]

    return cut


RIVALS = {each.__name__: each for each in (astchunk, chonkie, llamaindex, semble, chunkhound)}


def main() -> None:
    """Answer each line."""
    cut = RIVALS[sys.argv[1]]()
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        file = json.loads(line)
        started = time.process_time()
        try:
            chunks = cut(file["path"], file["language"], file["text"])
        except Exception as error:  # noqa: BLE001 - a rival on one file of many; its answer tells it
            answer: dict[str, Any] = {"unsupported": f"{type(error).__name__}: {error}"}
        else:
            answer = {"seconds": time.process_time() - started, "chunks": chunks}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
