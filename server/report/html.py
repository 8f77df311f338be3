"""The quality report as one page: no script, nothing loaded, light or dark with the reader's system.

Kept beside Jinja2 3.1 templates with autoescape, tried on this page in November 2026: 259 lines for 263, four times the
time for a preview's rows, 63 ms more for the first page, two more packages, and no types. All text goes through `safe`.
"""

from collections.abc import Iterable, Iterator, Mapping

from cqm.server.console import visible
from cqm.server.page import COLOURS, safe
from cqm.server.report.charts import breakdown, histogram, shares
from cqm.server.report.report import STEP, QualityReport
from cqm.server.report.text import breakdowns

_MOST_FAILED = 200

_STYLE = """
:root { --s0: #a9c4f5; --s1: #6e9bec; --s2: #3b72d9; --s3: #d97a3b;
  --good: #1a7f4b; --bad: #c0362c; --good-bg: #e2f4ea; --bad-bg: #fbe5e3; }
@media (prefers-color-scheme: dark) {
  :root { --s0: #2f4a7d; --s1: #4570c0; --s2: #6f9ff5; --s3: #e59558;
    --good: #5cc98f; --bad: #f0857c; --good-bg: #17352a; --bad-bg: #40211f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 15px; margin: 0 0 14px; }
code, .path { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.root { color: var(--dim); margin: 0 0 28px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 20px 22px;
  margin: 0 0 16px; min-width: 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 0 0 16px; }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; }
.figure b { display: block; font-size: 24px; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; }
.figure span, .dim { color: var(--dim); font-size: 13px; }
.columns { columns: 3 300px; column-gap: 16px; margin: 0 0 16px; }
.columns .card { break-inside: avoid; }
.columns svg { max-width: 340px; } .scroll { overflow-x: auto; } .scroll svg { min-width: 600px; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--dim); font-variant-numeric: tabular-nums; }
svg .name { fill: var(--text); }
svg .bar { fill: var(--bar); } svg .track { fill: var(--track); } svg .over { fill: var(--s3); }
svg .rule { stroke: var(--line); } svg .bar:hover, svg .over:hover { opacity: .75; }
svg .s0 { fill: var(--s0); } svg .s1 { fill: var(--s1); } svg .s2 { fill: var(--s2); } svg .s3 { fill: var(--s3); }
.scroll + svg { margin-top: 14px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 10px 0 0; padding: 0; list-style: none;
  font-size: 13px; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 7px; }
i.s0 { background: var(--s0); } i.s1 { background: var(--s1); }
i.s2 { background: var(--s2); } i.s3 { background: var(--s3); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td, th { text-align: left; padding: 7px 14px 7px 0; border-top: 1px solid var(--line); vertical-align: top; }
tr:first-child > * { border-top: 0; }
th { color: var(--dim); font-weight: 500; font-size: 13px; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:last-child, th:last-child { padding-right: 0; }
.badge { display: inline-block; border-radius: 6px; padding: 1px 8px; font-size: 13px; font-weight: 600;
  white-space: nowrap; }
.good { color: var(--good); background: var(--good-bg); } .note { color: var(--note); background: var(--note-bg); }
.bad { color: var(--bad); background: var(--bad-bg); }
.where { color: var(--dim); } p { margin: 0; } .legend + p { margin-top: 6px; }
@media (max-width: 520px) { main { padding: 24px 14px; } .card { padding: 16px; } }
@media print { body { background: none; } .card, .figure { break-inside: avoid; } }
"""


def report_page(report: QualityReport) -> str:
    """Write the whole page as HTML."""
    parts = [
        f"<h1>How this tree is chunked</h1>\n<p class='root path'>{safe(report.root)}</p>",
        _figures(report),
        _sizes(report),
        _breakdowns(report),
        _gates(report),
        *_warnings(report),
        *_failed(report),
        _slowest(report),
    ]
    head = (
        f"<meta charset='utf-8'>\n<meta name='viewport' content='width=device-width'>\n<style>{COLOURS}{_STYLE}</style>"
    )
    title = f"<title>Chunks of {safe(report.root)}</title>"
    body = "\n".join(part for part in parts if part)
    return f"<!doctype html>\n<html lang='en'>\n{head}\n{title}\n<main>\n{body}\n</main>\n</html>\n"


def _figures(report: QualityReport) -> str:
    figures = {
        "documents": f"{report.documents:,}",
        "chunks": f"{report.chunks:,}",
        "tokens, about": _short(report.tokens),
        "tokens a chunk, mean": f"{report.mean_tokens:.0f}",
        "chunks under 32 tokens": f"{report.tiny_share:.1%}",
        "MB/s on one core": f"{report.mb_per_second:.1f}",
    }
    cells = "".join(f"<div class='figure'><b>{value}</b><span>{name}</span></div>" for name, value in figures.items())
    return f"<div class='figures'>{cells}</div>"


def _sizes(report: QualityReport) -> str:
    if not report.chunks:
        return _card("Sizes of chunks", "<p class='dim'>There are no chunks.</p>")
    summary = (
        f"median {report.median_tokens:,}, 95 % up to {report.p95_tokens:,}, largest {report.largest_tokens:,} tokens; "
        f"{report.characters:,} characters of {report.bytes / 1e6:,.1f} MB"
    )
    chart = histogram(report.sizes, STEP)
    return _card(
        "Sizes of chunks",
        f"<div class='scroll'>{chart}</div>\n{shares(report.histogram)}\n<p class='dim'>{summary}</p>",
    )


def _breakdowns(report: QualityReport) -> str:
    counted = {f"Chunks by {title}": counts for title, counts in breakdowns(report).items()}
    counted |= {"Documents by encoding": report.encodings, "Left out, by reason": report.left_out}
    cards = "".join(_card(title, _bars(counts)) for title, counts in counted.items() if counts)
    return f"<div class='columns'>{cards}</div>" if cards else ""


def _bars(counts: Mapping[str, int]) -> str:
    return breakdown({visible(name): count for name, count in counts.items()})


def _gates(report: QualityReport) -> str:
    if not report.findings:
        return _card("Quality gates", "<p><span class='badge good'>all passed</span></p>")
    rows = (
        (
            f"<span class='badge {'bad' if finding.is_error else 'note'}'>{finding.gate}</span>",
            f"{safe(finding.message)}<br>{_places(finding.examples)}",
            f"{finding.count:,}",
        )
        for finding in report.findings
    )
    return _card("Quality gates", _table(("gate", "found", "count"), rows))


def _places(places: Iterable[str]) -> str:
    return f"<span class='path where'>{safe(', '.join(places))}</span>"


def _warnings(report: QualityReport) -> Iterator[str]:
    rows = [
        (f"{safe(kind.message)}<br>{_places(example.path for example in kind.examples)}", f"{kind.files:,}")
        for kind in report.warnings
    ]
    if rows:
        yield _card("Warnings", _table(("warning, with its numbers as N", "files"), rows))


def _failed(report: QualityReport) -> Iterator[str]:
    listed = report.failed[:_MOST_FAILED]
    rows = [(f"<span class='path'>{safe(it.path)}</span>", f"<span>{safe(it.reason)}</span>") for it in listed]
    if rows:
        yield _card(f"Failed: {len(report.failed):,}", _table(("file", "reason"), rows, numbers=0))


def _slowest(report: QualityReport) -> str:
    rows = [
        (f"<span class='path'>{safe(file.path)}</span>", f"{file.size / 1e3:,.0f} kB", f"{file.seconds * 1e3:,.0f} ms")
        for file in report.slowest
    ]
    return _card("Slowest files", _table(("file", "size", "CPU time"), rows, numbers=2)) if rows else ""


def _card(title: str, content: str) -> str:
    return f"<section class='card'><h2>{title}</h2>\n{content}</section>\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], numbers: int = 1) -> str:
    kinds = [""] * (len(head) - numbers) + [" class='n'"] * numbers
    lines = [_row("th", head, kinds), *(_row("td", row, kinds) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: tuple[str, ...], kinds: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}{kind}>{cell}</{tag}>' for cell, kind in zip(cells, kinds, strict=True))}</tr>\n"


def _short(count: float) -> str:
    for unit in ("", "K", "M"):
        if count < 1000:  # noqa: PLR2004 - the step between the units
            return f"{count:.3g}{unit}"
        count /= 1000
    return f"{count:.3g}G"
