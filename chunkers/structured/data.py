"""Cut JSON, YAML and TOML by structure: each piece holds whole entries, named by their path of keys."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.structured import spans_of_json, spans_of_toml, spans_of_yaml
from cqm.chunkers.structured.entries import Draft, Shape, drafts_of
from cqm.chunkers.structured.key_paths import Path, names_of, path_text, scalar_of, step
from cqm.chunkers.structured.spans_of_json import ARRAY, OBJECT, Node, Parsed, member

JSON = "json"
YAML = "yaml"
TOML = "toml"

_MOST_NAMES = 256


def pieces_of_data(text: str, root: Node, options: ChunkOptions) -> list[Piece]:
    """Cut data at the entries of its containers; a symbol is the path of keys to a piece's entries.

    A piece of several entries is named after their container, or after the largest entry at the top. A Kubernetes
    document is named by its kind and name. A piece's context shows the containers around it.

    Parameters:
        root: its root container; see `tree_of`.
    """
    return [piece_of(text, draft) for draft in drafts_of(text, root, Shape(), options)]


def tree_of(text: str, language: str) -> tuple[Node | None, list[str]]:
    """Return the root container of JSON, YAML or TOML, and warnings; None without one."""
    parsed = _parser(text, language)(text)
    if not any(value.children if parsed.error >= 0 else value.kind in (OBJECT, ARRAY) for value in parsed.values):
        return None, [] if not text or text.isspace() else [f"not parsed: no keys or items of {language}"]
    values = [_resource(text, value) for value in parsed.values]
    warnings = []
    if parsed.error >= 0:
        line = text.count("\n", 0, parsed.error) + 1
        warnings.append(f"line {line} is no {language}: cut as far as keys and brackets tell")
    if len(values) == 1 and not values[0].key:
        return values[0], warnings
    if language == YAML and all(value.kind == OBJECT and value.children and not value.key for value in values):
        return Node(OBJECT, 0, len(text), children=_members(values)), warnings
    return Node(ARRAY, 0, len(text), children=values), warnings


def _members(documents: Sequence[Node]) -> list[Node]:
    # Unnamed documents would only be numbers in a path. The opening of one goes with its first key.
    first = (document.children[0]._replace(entry=document.entry) for document in documents)
    rest = (document.children[1:] for document in documents)
    return [node for one, others in zip(first, rest, strict=True) for node in (one, *others)]


def _parser(text: str, language: str) -> Callable[[str], Parsed]:
    # Every JSON text is YAML too.
    if language == JSON or (language == YAML and text.lstrip()[:1] in ("{", "[") and not text.startswith("{{")):
        return spans_of_json.parse
    return spans_of_toml.parse if language == TOML else spans_of_yaml.parse


def _resource(text: str, value: Node) -> Node:
    kind, name = member(value, "kind"), member(value, "metadata", "name")
    if kind is None or name is None or member(value, "apiVersion") is None:
        return value
    return value._replace(key=f"{scalar_of(text, kind)}/{scalar_of(text, name)}")


def piece_of(text: str, draft: Draft) -> Piece:
    """Make the piece of a draft, named by the path of its entries."""
    symbol = path_text(subject_of(text, draft))
    defines = tuple(dict.fromkeys(islice(_defined(text, draft), _MOST_NAMES)))
    facts = {"key_path": symbol} if symbol else {}
    return Piece(draft.start, draft.end, "key", symbol, defines, context_of(draft.outer), facts=facts)


def subject_of(text: str, draft: Draft) -> Path:
    """Return the path of a draft's subject: its own entry, or the container or entry with most of its text."""
    if draft.lead is not None:
        return (*draft.lead.parent, step(text, draft.lead.node, draft.lead.number))
    if not draft.entries:
        return draft.inside
    sizes: Counter[Path] = Counter()
    for entry in draft.entries:
        sizes[entry.parent] += entry.node.end - entry.node.entry
    parent = sizes.most_common(1)[0][0]
    entries = [entry for entry in draft.entries if entry.parent == parent]
    if len(entries) > 1 and parent:
        return parent
    largest = max(entries, key=lambda entry: entry.node.end - entry.node.entry)
    return (*parent, step(text, largest.node, largest.number))


def _defined(text: str, draft: Draft) -> Iterator[str]:
    if draft.entries:
        first = draft.entries[0].parent
        yield from (path_text(first[:depth]) for depth in range(len(draft.outer) + 1, len(first) + 1))
    for entry in draft.entries:
        yield from names_of(text, *entry)


def context_of(path: Path) -> str:
    """Return the containers around a piece, a line each, in YAML."""
    return "\n".join(f"{'  ' * depth}{part}:" for depth, part in enumerate(path))
