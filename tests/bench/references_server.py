"""Compare `usages` with the references that a language server resolves.

    npm install pyright typescript
    python tests/bench/references_server.py TREE --ending py --server pyright-langserver --stdio
    python tests/bench/references_server.py TREE --ending ts --server tsc --lsp --stdio

Of TREE, `--of` definitions are drawn, found by a pattern for each language (names.py), and those kept to which the
server knows a reference beside the definition. Of these, two tables are printed: how many of the server's lines are
told, and for each kind how many of the told lines the server resolves to that definition, those told as sure apart from
those told as perhaps of another. A word search, beside it, finds the lines with the name in files of the same language.
"""

import argparse
import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from names import definitions
from references import Place, _by_word, _pages, _texts, _told

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions

_LANGUAGES = {"py": "python", "ts": "typescript", "js": "javascript", "tsx": "typescriptreact"}


class Server:
    """A language server over stdio."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._next = 0
        self.ask("initialize", {
            "processId": None, "rootUri": root.as_uri(), "capabilities": {},
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
        })  # fmt: skip
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, params: object) -> Any:
        """Send a request and return its result; answer the server's own requests with nothing."""
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._next and "method" not in message:
                return message.get("result")
            if "method" in message and "id" in message:
                asked = message.get("params", {}).get("items", [])
                self._send({"id": message["id"], "result": [None for _ in asked] if asked else None})

    def open(self, path: Path, language: str) -> None:
        """Show a file to the server."""
        item = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": path.read_text("utf-8", "replace")}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        size = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        found: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return found


def main() -> None:
    """Draw definitions, ask both, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--ending", choices=_LANGUAGES, required=True)
    parser.add_argument("--of", type=int, default=80)
    parser.add_argument("--home", type=Path, help="keeps the index")
    parser.add_argument("--server", nargs=argparse.REMAINDER, required=True)
    given = parser.parse_args()
    tree = given.tree.resolve()
    found = [it for it in definitions(tree) if it.path.endswith(f".{given.ending}")]
    times = Counter(it.name for it in found)
    found = [it for it in found if times[it.name] == 1]
    random.Random(7).shuffle(found)
    server = Server(given.server, tree)
    for path in sorted({it.path for it in found}):
        server.open(tree / path, _LANGUAGES[given.ending])
    of_kind: defaultdict[str, Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    with Index.open(tree, IndexOptions(home=given.home) if given.home else IndexOptions()) as index:
        index.update()
        texts = {path: lines for path, lines in _texts(index, tree) if path.endswith(f".{given.ending}")}
        for it in found:
            if total["symbols"] >= given.of or it.path not in texts:
                continue
            wanted = _resolved(server, tree, it.path, it.line, it.name) & _places(texts)
            if wanted <= {(it.path, it.line)}:
                continue
            pages = list(_pages(index, it.name))
            told, word = _told(pages), set(_by_word(texts, it.name))
            total.update(symbols=1, wanted=len(wanted), told=len(wanted & told), word=len(word))
            total.update(by_word=len(wanted & word))
            if wanted - told:
                print(f"  {it.name}: lacking {sorted(wanted - told)[:3]}")
            for ref in (ref for page in pages for ref in page.references if ref.path in texts):
                sure = "" if ref.is_sure else ", perhaps"
                of_kind[f"{ref.kind}{sure}"].update(told=1, right=(ref.path, ref.line) in wanted)
    server.close()
    print(
        f"{tree.name}, {total['symbols']} symbols: the server's {total['wanted']} lines,"
        f" told {_share(total, 'told', 'wanted')}"
    )
    print(f"word search: recall {_share(total, 'by_word', 'wanted')}, precision {_share(total, 'by_word', 'word')}")
    for kind, of_it in sorted(of_kind.items()):
        print(f"  {kind:24} {of_it['right']:6} of {of_it['told']:6}  {_share(of_it, 'right', 'told')}")


def _share(counts: Counter[str], part: str, whole: str) -> str:
    return f"{counts[part] / max(1, counts[whole]):.3f}"


def _places(texts: dict[str, list[str]]) -> set[Place]:
    return {(path, number) for path, lines in texts.items() for number in range(1, len(lines) + 1)}


def _resolved(server: Server, tree: Path, path: str, line: int, name: str) -> set[Place]:
    text = (tree / path).read_text("utf-8", "replace").split("\n")[line - 1]
    at = re.search(rf"\b{re.escape(name)}\b", text)
    assert at
    result = server.ask("textDocument/references", {
        "textDocument": {"uri": (tree / path).as_uri()}, "position": {"line": line - 1, "character": at.start()},
        "context": {"includeDeclaration": True},
    })  # fmt: skip
    root = f"{tree.as_uri()}/"
    return {(it["uri"].removeprefix(root), it["range"]["start"]["line"] + 1) for it in result or ()}


if __name__ == "__main__":
    main()
