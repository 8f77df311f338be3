"""Charts of the quality report as inline SVG; classes of the surrounding page give the colours."""

from collections.abc import Iterator, Mapping
from html import escape

_WIDTH, _HEIGHT = 1000, 240
_LEFT, _BOTTOM, _TOP = 52, 40, 12
_MOST_BARS = 40
_MOST_STEPS = 5
_SHOWN_SHARE = 0.995
"""Share of chunks with bars of their own; larger chunks share one bar at the end."""
_LEAST_SHOWN = 512

_ROW, _NAME_WIDTH, _COUNT_WIDTH, _CHART_WIDTH = 24, 116, 52, 300
_NAME_LENGTH = 17
_MOST_ROWS = 12


def histogram(sizes: Mapping[int, int], step: int) -> str:
    """Draw bars of chunks by tokens.

    Parameters:
        sizes: chunks by the largest size of a step.
        step: tokens a step; steps are joined until they are few enough.
    """
    step, bars, over = _bars(sizes, step)
    most = max(*bars, over)
    rule = _round_step(most)
    top = -(-most // rule) * rule or rule
    wide = (_WIDTH - _LEFT) / (len(bars) + (1 if over else 0))
    parts = [*_rules(top, rule)]
    for index, count in enumerate(bars):
        title = f"{index * step + 1} to {(index + 1) * step} tokens: {count:,} chunks"
        parts.append(_bar("bar", index, count / top, wide, title))
        if index % max(1, len(bars) // 10) == 0:
            parts.append(_label(_LEFT + index * wide, f"{index * step}", "middle" if index else "start"))
    if over:
        title = f"over {len(bars) * step} tokens: {over:,} chunks"
        parts += [
            _bar("over", len(bars), over / top, wide, title),
            _label(_LEFT + (len(bars) + 0.5) * wide, f"{len(bars) * step}+", "middle"),
        ]
    parts.append(_label((_LEFT + _WIDTH) / 2, "tokens", "middle", line=2))
    label = "Histogram of chunks by tokens"
    return f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{label}'>{''.join(parts)}</svg>"


def shares(counts: Mapping[str, int]) -> str:
    """Draw one bar divided by the shares of named counts, with a legend below."""
    total, place = sum(counts.values()) or 1, 0.0
    parts, legend = [], []
    for index, (name, count) in enumerate(counts.items()):
        width = _WIDTH * count / total
        parts.append(f"<rect class='s{index}' x='{place:.1f}' y='0' width='{width:.1f}' height='14'/>")
        legend.append(
            f"<li><i class='s{index}'></i>{name} tokens: {count:,} <span class='dim'>{count / total:.1%}</span></li>"
        )
        place += width
    bar = f"<svg viewBox='0 0 {_WIDTH} 14' preserveAspectRatio='none' aria-hidden='true'>{''.join(parts)}</svg>"
    return f"{bar}<ul class='legend'>{''.join(legend)}</ul>"


def breakdown(counts: Mapping[str, int]) -> str:
    """Draw a bar for each name, the largest first; the smallest share the last bar."""
    rows = list(counts.items())
    if len(rows) > _MOST_ROWS:
        rest = rows[_MOST_ROWS - 1 :]
        rows = [*rows[: _MOST_ROWS - 1], (f"{len(rest)} others", sum(count for _, count in rest))]
    total, most = sum(counts.values()) or 1, max(count for _, count in rows)
    parts = "".join(
        _named_bar(place, name, count, count / most, count / total) for place, (name, count) in enumerate(rows)
    )
    return f"<svg viewBox='0 0 {_CHART_WIDTH} {len(rows) * _ROW}' role='img'>{parts}</svg>"


def _bars(sizes: Mapping[int, int], step: int) -> tuple[int, list[int], int]:
    """Compute the tokens of a bar, the chunks in each bar, and the number of larger chunks."""
    total, seen, top = sum(sizes.values()), 0, _LEAST_SHOWN
    for size, count in sorted(sizes.items()):
        if seen >= _SHOWN_SHARE * total:
            break
        seen, top = seen + count, max(top, size)
    while top > _MOST_BARS * step:
        step *= 2
    bars = [0] * -(-top // step)
    for size, count in sizes.items():
        if size <= len(bars) * step:
            bars[-(-size // step) - 1] += count
    return step, bars, total - sum(bars)


def _rules(top: int, step: int) -> Iterator[str]:
    """Draw lines across the chart with their counts."""
    for count in range(0, top + 1, step):
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * count / top
        yield f"<line class='rule' x1='{_LEFT}' x2='{_WIDTH}' y1='{y:.1f}' y2='{y:.1f}'/>"
        yield f"<text x='{_LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{count:,}</text>"


def _round_step(most: int) -> int:
    """Choose 1, 2 or 5 times a power of ten, so at most five steps reach a count."""
    power = 1
    while most > _MOST_STEPS * 5 * power:
        power *= 10
    return next(power * times for times in (1, 2, 5) if most <= _MOST_STEPS * times * power)


def _bar(kind: str, index: int, share: float, wide: float, title: str) -> str:
    tall = max((_HEIGHT - _BOTTOM - _TOP) * share, 1.5 if share else 0)
    x, y = _LEFT + index * wide + 1, _HEIGHT - _BOTTOM - tall
    box = f"x='{x:.1f}' y='{y:.1f}' width='{wide - 2:.1f}' height='{tall:.1f}' rx='2'"
    return f"<rect class='{kind}' {box}><title>{title}</title></rect>"


def _label(x: float, text: str, anchor: str, line: int = 1) -> str:
    y = _HEIGHT - _BOTTOM + 17 * line
    return f"<text x='{x:.1f}' y='{y}' text-anchor='{anchor}'>{text}</text>"


def _named_bar(place: int, name: str, count: int, share: float, of_all: float) -> str:
    y, room = place * _ROW, _CHART_WIDTH - _NAME_WIDTH - _COUNT_WIDTH - 12
    box = f"x='{_NAME_WIDTH}' y='{y + 6}' height='12' rx='3'"
    short = name if len(name) <= _NAME_LENGTH else f"{name[: _NAME_LENGTH - 1]}…"
    return (
        f"<g><title>{escape(name)}: {count:,} ({of_all:.1%})</title>"
        f"<text class='name' x='0' y='{y + 16}'>{escape(short)}</text>"
        f"<rect class='track' {box} width='{room}'/><rect class='bar' {box} width='{max(room * share, 2):.1f}'/>"
        f"<text x='{_CHART_WIDTH}' y='{y + 16}' text-anchor='end'>{count:,}</text></g>"
    )
