"""Cut CSV, TSV and similar into whole records, with the header as context of all pieces but the first."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.splitting import Span, Unit, even_spans, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE_RECORDS = 50
_LONGEST_SAMPLE = 20_000

# In characters: a longer cell is an unclosed quote.
_LONGEST_RECORD = 100_000
_LONGEST_HEADER = 1_000
_MOST_COLUMNS = 100
_NUMBER = re.compile(r"\s*[-+]?(?=[.,:/%$€-]*+\d)[\d.,:/%$€-]++\s*(?:[eE][-+]?\d+)?")


class _Table(NamedTuple):
    # `header` is empty if the first record is none; `loose` is the first line where quotes no longer count, or 0.
    records: list[Span]
    delimiter: str
    header: str
    columns: tuple[str, ...]
    loose: int


def pieces_of_table(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut a table between its records, and inside a record only if it is over the limit.

    The delimiter is the one which splits the first records into equal numbers of fields. Quoted line ends are
    respected. The first record is a header if all its fields are different non-numeric texts.
    """
    table = _table(text)
    warnings = [f"line {table.loose}: a quote is never closed, so lines are records from there"] if table.loose else []
    return list(_pieces(text, table, options.max_tokens * QUARTERS)), warnings


def _pieces(text: str, table: _Table, limit: int) -> Iterator[Piece]:
    units: list[Unit] = []
    for start, end in table.records:
        size = quarters(text[start:end])
        fits = size <= limit
        units.extend([Unit(end, size, 1)] if fits else line_units(text, (start, end), limit, line_strength))
    following = 0
    for start, end in even_spans(0, units, limit):
        first = following
        while following < len(table.records) and table.records[following][0] < end:
            following += 1
        rows = (first, following) if not table.header else (max(first, 1), following)
        yield _piece((start, end), rows, table)


def _piece(span: Span, rows: tuple[int, int], table: _Table) -> Piece:
    count = max(rows[1] - rows[0], 0)
    first = rows[0] + (0 if table.header else 1)
    facts: dict[str, Fact] = {"delimiter": table.delimiter, "rows": count}
    if count:
        facts["first_row"] = first
    if table.columns:
        facts["columns"] = table.columns
    name = "" if not count else f"row {first}" if count == 1 else f"rows {first}-{first + count - 1}"
    context = table.header if span[0] else ""
    return Piece(*span, "rows", name, () if span[0] else table.columns, context, facts=facts)


def _table(text: str) -> _Table:
    samples = [(delimiter, _sample(text, delimiter)) for delimiter in _DELIMITERS]
    delimiter, fields = max(samples, key=lambda sample: _consistency(sample[1]))
    if _consistency(fields) <= 0:
        delimiter = ""
    records, loose = _records(text, delimiter)
    columns = tuple(_fields(text[slice(*records[0])], delimiter)) if records else ()
    if not _is_header(columns):
        return _Table(records, delimiter, "", (), loose)
    header = text[slice(*records[0])].rstrip("\r\n")[:_LONGEST_HEADER]
    return _Table(records, delimiter, header, columns[:_MOST_COLUMNS], loose)


def _sample(text: str, delimiter: str) -> list[int]:
    head = text[:_LONGEST_SAMPLE]
    records = _records(head, delimiter)[0][:_SAMPLE_RECORDS]
    if len(records) > 1 and len(head) < len(text) and records[-1][1] == len(head):
        records.pop()
    counts = (len(_fields(head[start:end], delimiter)) for start, end in records if head[start:end].strip())
    return list(counts)


def _consistency(counts: list[int]) -> float:
    """Rate a delimiter: the share of records with the commonest number of fields, if over 1."""
    if not counts:
        return 0.0
    fields, times = Counter(counts).most_common(1)[0]
    # Among equally regular delimiters, prefer more fields.
    return times / len(counts) + min(fields, 100) / 1_000 if fields > 1 else 0.0


def _records(text: str, delimiter: str) -> tuple[list[Span], int]:
    opens = re.compile(rf'(?:^|{re.escape(delimiter)})[ ]*"' if delimiter else r'^[ ]*"')
    records: list[Span] = []
    start = position = loose = 0
    quoted = False
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        if not loose and text.count('"', position, end) % 2:
            quoted = not quoted if quoted else opens.search(text[position:end]) is not None
        position = end
        if quoted and end - start > _LONGEST_RECORD:
            loose = text.count("\n", 0, start) + 1
            quoted, position = False, text.find("\n", start) + 1
        if not quoted:
            records.append((start, position))
            start = position
    if start < len(text):
        records.append((start, len(text)))
    return records, loose


def _fields(record: str, delimiter: str) -> list[str]:
    """Return the fields of a record, without quotes."""
    if not delimiter:
        return [record.strip().strip('"')]
    pattern = re.compile(rf'[ ]*"((?:[^"]|"")*+)"[^{re.escape(delimiter)}]*+|([^{re.escape(delimiter)}]*+)')
    fields, position, record = [], 0, record.rstrip("\r\n")
    while position <= len(record):
        match = pattern.match(record, position)
        if match is None:
            break
        fields.append(" ".join((match[1].replace('""', '"') if match[1] is not None else match[2]).split()))
        position = match.end() + 1
    return fields


def _is_header(fields: tuple[str, ...]) -> bool:
    if not fields or len(set(fields)) < len(fields):
        return False
    return all(field and not _NUMBER.fullmatch(field) for field in fields)
