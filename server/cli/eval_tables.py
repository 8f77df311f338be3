"""The measures of `cqm eval` as tables in Markdown."""

from collections.abc import Iterator, Sequence

from cqm.index.evaluation.evaluation import MEASURES, Summary


def totals(summaries: Sequence[Summary]) -> str:
    """A table for each level that any question has figures of, with a row for each group."""
    return "\n".join(filter(None, (_table(level, summaries) for level in MEASURES)))


def _table(level: str, summaries: Sequence[Summary]) -> str:
    """Empty when no group has a figure."""
    figures = [each.figures[level] for each in summaries]
    if all(value is None for row in figures for value in row.values()):
        return ""
    return "".join(f"{line}\n" for line in _lines(level, summaries))


def _lines(level: str, summaries: Sequence[Summary]) -> Iterator[str]:
    width = max(len(level), *(len(each.group) for each in summaries))
    names = list(MEASURES[level])
    yield f"| {level:{width}} | questions | {' | '.join(f'{name:>9}' for name in names)} |"
    yield f"|{'-' * (width + 2)}|{'|'.join(['----------:'] * (len(names) + 1))}|"
    for each in summaries:
        cells = " | ".join(_cell(each.figures[level][name]) for name in names)
        count = each.with_lines if level.startswith("span") else each.questions
        yield f"| {each.group:{width}} | {count:9} | {cells} |"


def _cell(value: float | None) -> str:
    return " " * 9 if value is None else f"{value:9.3f}"
