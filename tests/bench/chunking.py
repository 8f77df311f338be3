"""Measure the chunkers on trees of real repositories: what they cover, keep whole, and how fast they are.

Usage: python tests/bench/chunking.py TREE [TREE ...] [--all]

Only programs are measured, or with --all every file that can be read as text, whatever it holds.

What must stay whole is found here, by a walk of its own over each syntax tree: every function and method with the
comments directly above it and its decorators.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tree_sitter import Node, Parser

from cqm.chunkers.chunking import chunk
from cqm.chunkers.detect import language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.table import BY_NAME, dialect_of
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.text_of_file import read_text
from cqm.chunkers.tokens import estimate

FUNCTIONS = {
    "bash": {"function_definition"},
    "c": {"function_definition"},
    "cpp": {"function_definition"},
    "csharp": {"method_declaration", "constructor_declaration", "local_function_statement"},
    "elixir": set(),
    "go": {"function_declaration", "method_declaration"},
    "haskell": set(),
    "java": {"method_declaration", "constructor_declaration"},
    "javascript": {"function_declaration", "method_definition", "generator_function_declaration"},
    "kotlin": {"function_declaration", "secondary_constructor"},
    "lua": {"function_declaration"},
    "objc": {"method_definition", "function_definition"},
    "php": {"function_definition", "method_declaration"},
    "powershell": {"function_statement", "class_method_definition"},
    "python": {"function_definition"},
    "ruby": {"method", "singleton_method"},
    "rust": {"function_item", "function_signature_item"},
    "scala": {"function_definition"},
    "swift": {"function_declaration", "init_declaration"},
    "tsx": {"function_declaration", "method_definition"},
    "typescript": {"function_declaration", "method_definition"},
    "zig": {"function_declaration"},
}
ELIXIR_DEFINITIONS = {b"def", b"defp", b"defmacro", b"defmacrop"}
ATTACHED = {"comment", "line_comment", "block_comment", "multiline_comment", "haddock", "decorator", "attribute_item"}
WRAPPERS = {"decorated_definition", "export_statement", "template_declaration", "implementation_definition"}
ASSIGNMENTS = {"lexical_declaration", "assignment_statement", "variable_declaration"}
CLOSURES = {"arrow_function", "function_expression", "function_definition"}
TINY = 32


@dataclass
class Tally:
    """All that was counted for one language."""

    files: int = 0
    size: int = 0
    chunks: int = 0
    tiny: int = 0
    characters: int = 0
    covered: int = 0
    true_lines: int = 0
    true_texts: int = 0
    functions: int = 0
    whole: int = 0
    seconds: float = 0.0
    warnings: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another tally's counts to these."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


def documents(trees: list[Path], languages: set[str], *, everything: bool = False) -> Iterator[Document]:
    """The files of the trees that have a grammar, or every text, decoded."""
    for path in (path for tree in trees for path in sorted(tree.rglob("*"))):
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        language = language_of(path.name, data[:16_000].decode("utf-8", "replace"))
        if not (everything or language in BY_NAME) or (languages and language not in languages):
            continue
        try:
            text = read_text(path.name, data).text
        except UndecodableError:
            continue
        yield Document(str(path), text, dialect_of(language, text))


def functions(root: Node, language: str) -> Iterator[tuple[int, int]]:
    """The first and last rows of each function that is not inside another one, with comments and decorators above."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if is_function(node, language):
            yield first_row(node), last_row(node)
        else:
            waiting.extend(node.named_children)


def is_function(node: Node, language: str) -> bool:
    """Whether the node defines a function or method."""
    if language == "elixir":
        target = node.child_by_field_name("target") if node.type == "call" else None
        return target is not None and target.text in ELIXIR_DEFINITIONS
    if language == "haskell":
        return node.type in ("function", "bind") and bool(node.parent and node.parent.type == "declarations")
    if node.type in ASSIGNMENTS:
        return any(child.type in CLOSURES for child in assigned(node))
    return node.type in FUNCTIONS.get(language, ())


def assigned(node: Node) -> Iterator[Node]:
    """Yield what a declaration or assignment binds: "const f = () => ...", "M.f = function() ..."."""
    for child in node.named_children:
        if child.type in ("variable_declarator", "expression_list", "assignment_statement"):
            yield from assigned(child)
        else:
            yield child


def first_row(node: Node) -> int:
    """Where a function begins, with its decorators and the comments that end on the row above."""
    while node.parent is not None and node.parent.type in WRAPPERS:
        node = node.parent
    row: int = node.start_point[0]
    above = node.prev_sibling
    while above is not None and above.type in ATTACHED and last_row(above) + 1 >= row and starts_its_row(above):
        row = above.start_point[0]
        above = above.prev_sibling
    return row


def starts_its_row(node: Node) -> bool:
    """Whether nothing else stands before the node in its row."""
    before = node.prev_sibling
    return before is None or before.end_point[0] < node.start_point[0] or before.end_point[1] == 0


def last_row(node: Node) -> int:
    """The last row with something of the node; some grammars end it behind the line end or even the next comments."""
    text = (node.text or b"").rstrip()
    while node.type == "function_definition" and text.rpartition(b"\n")[2].lstrip().startswith(b"//"):
        text = text.rpartition(b"\n")[0].rstrip()
    return int(node.start_point[0]) + text.count(b"\n")


def measure(document: Document, options: ChunkOptions) -> Tally:
    """Chunk one document and check the result against its text and tree."""
    start = time.process_time()
    report = chunk(document, options)
    seconds = time.process_time() - start
    text, chunks = document.text, report.chunks
    tally = Tally(1, len(text.encode()), len(chunks), seconds=seconds, warnings=bool(report.warnings))
    tally.tiny = sum(estimate(piece.text) < TINY for piece in chunks)
    tally.characters = sum(not character.isspace() for character in text)
    tally.covered = covered(text, chunks)
    tally.true_texts = sum(text[piece.start : piece.end] == piece.text for piece in chunks)
    tally.true_lines = sum(text.count("\n", 0, piece.start) + 1 == piece.start_line for piece in chunks)
    if document.language in BY_NAME:
        count_functions(document, chunks, options, tally)
    return tally


def covered(text: str, chunks: tuple[Chunk, ...]) -> int:
    """Return how many characters that are not blank lie in some chunk."""
    total = position = 0
    for piece in sorted(chunks, key=lambda piece: piece.start):
        total += sum(not character.isspace() for character in text[max(position, piece.start) : piece.end])
        position = max(position, piece.end)
    return total


def count_functions(document: Document, chunks: tuple[Chunk, ...], options: ChunkOptions, tally: Tally) -> None:
    """Count functions within the limit and those of them that lie in one chunk."""
    tree = Parser(grammar(*BY_NAME[document.language].grammar)).parse(document.text.encode())
    lines = document.text.split("\n")
    for first, last in functions(tree.root_node, document.language):
        if estimate("\n".join(lines[first : last + 1]) + "\n") > options.max_tokens:
            continue
        tally.functions += 1
        if any(piece.start_line <= first + 1 and last + 1 <= piece.end_line for piece in chunks):
            tally.whole += 1
        else:
            tally.broken.append(f"{document.path}:{first + 1}-{last + 1}")


def percent(part: float, whole: float) -> str:
    """A share in percent, or a dash when there is nothing to share."""
    return f"{100 * part / whole:.2f}" if whole else "-"


def row(name: str, tally: Tally) -> str:
    """A line of the table."""
    cells = [
        f"{name:12}",
        f"{tally.files:6}",
        f"{tally.size / 1e6:7.2f}",
        f"{tally.chunks:7}",
        f"{percent(tally.covered, tally.characters):>8}",
        f"{percent(tally.true_lines, tally.chunks):>8}",
        f"{percent(tally.true_texts, tally.chunks):>8}",
        f"{tally.functions:7}",
        f"{percent(tally.whole, tally.functions):>8}",
        f"{percent(tally.tiny, tally.chunks):>7}",
        f"{tally.size / 1e6 / tally.seconds if tally.seconds else 0:7.2f}",
        f"{tally.warnings:6}",
    ]
    return " ".join(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--language", action="append", default=[], help="only this language; may be given again")
    parser.add_argument("--all", action="store_true", help="files of every type, not only programs")
    parser.add_argument("--broken", action="store_true", help="list the functions that were cut")
    parser.add_argument("--max-tokens", type=int, default=ChunkOptions().max_tokens)
    parser.add_argument("--min-tokens", type=int, default=ChunkOptions().min_tokens)
    arguments = parser.parse_args()
    options = ChunkOptions(arguments.max_tokens, arguments.min_tokens)
    tallies: dict[str, Tally] = defaultdict(Tally)
    for document in documents(arguments.trees, set(arguments.language), everything=arguments.all):
        tally = measure(document, options)
        tallies[document.language].add(tally)
        tallies["all"].add(tally)
    titles = "files      MB  chunks  covered  lines%   text%   funcs   whole%   tiny%   MB/s   warned"
    print(f"{'language':12} {titles}")
    for name in sorted(tallies, key=lambda name: (name == "all", name)):
        print(row(name, tallies[name]))
    if arguments.broken:
        print(*tallies["all"].broken, sep="\n")


if __name__ == "__main__":
    main()
