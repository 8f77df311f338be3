"""Labels of chunks on a page: name and size, with all facts about the chunk on hovering."""

from collections.abc import Iterator

from cqm.chunkers.model import Chunk, SymbolFacts
from cqm.server.page import safe
from cqm.server.preview.as_json import chunk_object
from cqm.server.preview.preview import Preview
from cqm.server.preview.text import shown, size_of

TINTS = 6
_DEEPEST = 4
_LONGEST_VALUE = 400
_MOST_SYMBOLS = 6
_MOST_CHILDREN = 12


def tint(chunk: Chunk) -> int:
    """Choose one of the alternating tints for a chunk."""
    return chunk.index % TINTS


def shade(chunk: Chunk) -> str:
    """CSS classes of a chunk's tint, and of its depth within other chunks."""
    return f"t{tint(chunk)} d{min(chunk.level, _DEEPEST)}" if chunk.level else f"t{tint(chunk)}"


def anchor(column: int, number: int) -> str:
    """Make the id of a chunk's label on the page.

    Parameters:
        column: of the strategy, from 0.
        number: of the chunk, from 0.
    """
    return f"c{column}-{number + 1}"


def label(column: int, made: Preview, chunk: Chunk) -> str:
    """Write the label above the first line of a chunk."""
    share = min(chunk.tokens / made.limit(chunk), 1)
    over = " over" if chunk.tokens > made.limit(chunk) else ""
    is_one = chunk.start_line == chunk.end_line
    lines = f"line {chunk.start_line}" if is_one else f"lines {chunk.start_line}–{chunk.end_line}"  # noqa: RUF001 - a range
    name = f"<strong>{safe(chunk.symbol)}</strong>" if chunk.symbol else ""
    return (
        f"<div class='label {shade(chunk)}' id='{anchor(column, chunk.index)}' tabindex='0'>"
        f"<b>{chunk.index + 1}</b>{name}<span class='kind'>{safe(chunk.kind)}</span><span>{lines}</span>"
        f"<span class='size'><i class='meter{over}'><i style='width:{share:.0%}'></i></i>{chunk.tokens} tokens</span>"
        f"{_facts(column, made, chunk)}</div>"
    )


def _facts(column: int, made: Preview, chunk: Chunk) -> str:
    rows = [
        *_places(column, made, chunk),
        *(("symbol", _symbol(facts)) for facts in chunk.symbols[:_MOST_SYMBOLS]),
        *_more(len(chunk.symbols) - _MOST_SYMBOLS),
        *_metadata(chunk),
    ]
    items = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows if value)
    return f"<dl class='facts'>{items}</dl>"


def _places(column: int, made: Preview, chunk: Chunk) -> Iterator[tuple[str, str]]:
    yield "size", safe(size_of(made, chunk))
    yield "characters", f"{chunk.start:,} to {chunk.end:,}"
    yield "bytes", f"{chunk.start_byte:,} to {chunk.end_byte:,}"
    yield "context", _code(chunk.context)
    yield "reads as", _code(chunk.content)
    yield "defines", safe(_cut(", ".join(chunk.defines))) if len(chunk.defines) > 1 else ""
    numbers = {it.id: it.index for it in made.report.chunks} if chunk.parent or chunk.children else {}
    yield "inside", _link(column, numbers[chunk.parent]) if chunk.parent else ""
    children = [_link(column, numbers[it]) for it in chunk.children[:_MOST_CHILDREN]]
    rest = len(chunk.children) - len(children)
    yield "holds", ", ".join([*children, *([f"{rest} more"] if rest else [])])
    yield "id", f"<code>{chunk.id}</code>"


def _metadata(chunk: Chunk) -> Iterator[tuple[str, str]]:
    known = chunk_object(chunk)["metadata"] if chunk.metadata else {}
    if not isinstance(known, dict):
        return
    for name, value in (known | known.get("facts", {})).items():
        if name != "facts":
            text = ", ".join(map(str, value)) if isinstance(value, list) else shown(value)
            yield safe(name.replace("_", " ")), safe(_cut(text))


def _symbol(facts: SymbolFacts) -> str:
    """Write a symbol with the facts shown by its grammar."""
    known = {
        "visibility": facts.visibility,
        "returns": facts.returns,
        "complexity": facts.complexity or "",
        "calls": ", ".join(facts.calls),
        "uses": ", ".join(facts.imports_used),
    }
    details = "; ".join(f"{name} {value}" for name, value in known.items() if value)
    doc = facts.doc.strip().partition("\n")[0]
    parts = (_code(facts.signature or facts.name), safe(_cut(doc)), f"<small>{safe(_cut(details))}</small>")
    return "".join(f"<div>{part}</div>" for part in parts if part)


def _more(count: int) -> Iterator[tuple[str, str]]:
    if count > 0:
        yield "symbols", f"{count} more"


def _link(column: int, number: int) -> str:
    return f"<a href='#{anchor(column, number)}'>{number + 1}</a>"


def _code(text: str) -> str:
    return f"<pre>{safe(_cut(text.strip(chr(10))))}</pre>" if text.strip() else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} …"
