"""Print the definitions of HCL, found by python-hcl2: path, line, name. Paths are read from standard input."""

import sys
from collections.abc import Iterator
from pathlib import Path

import hcl2
from lark import Token, Tree
from lark.exceptions import LarkError


def main() -> None:
    """Print those of each path."""
    for path in sys.stdin.read().split():
        try:
            tree = hcl2.parses_to_tree(Path(path).read_text("utf-8") + "\n")
        except LarkError:
            continue
        print(f"{path}\t0\t")
        for block in tree.children[0].find_pred(lambda it: it.data == "block"):
            if block in tree.children[0].children:
                for line, name in definitions(block):
                    print(f"{path}\t{line}\t{name}")


def text(node: Token | Tree[Token]) -> str:
    """Return all of a node's text."""
    return str(node) if isinstance(node, Token) else "".join(map(text, node.children))


def first_line(node: Token | Tree[Token]) -> int:
    """Return the line of a node's first token; 0 without one."""
    if isinstance(node, Token):
        return node.line or 0
    return next((line for it in node.children if (line := first_line(it))), 0)


def definitions(block: Tree[Token]) -> Iterator[tuple[int, str]]:
    """Yield the last label of a block, or the names of local values."""
    words: list[str] = []
    for it in block.children:
        word = text(it).strip()
        if word == "{":
            break
        words.append(word.strip('"'))
    if words[0] != "locals":
        yield first_line(block), words[-1] if len(words) > 1 else f"?{words[0]}"
        return
    for body in block.children:
        for entry in body.children if isinstance(body, Tree) and body.data == "body" else ():
            if isinstance(entry, Tree) and entry.data == "attribute":
                yield first_line(entry), text(entry.children[0]).strip()


if __name__ == "__main__":
    main()
