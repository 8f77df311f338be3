"""A preview as one page: no script, nothing loaded, light or dark with the reader's system."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cqm.server.page import safe
from cqm.server.preview.labels import anchor, tint
from cqm.server.preview.preview import Preview
from cqm.server.preview.source import blocks, columns_of
from cqm.server.preview.style import STYLE
from cqm.server.preview.text import shown

MOST_CHARACTERS = 1_500_000
"""Characters of source on a page, all columns together; browsers stay quick with these."""
_MOST_BARS = 240
_STEPS = 24


def preview_page(previews: Sequence[Preview]) -> str:
    """Write the whole page as HTML; several previews of one document stand side by side."""
    document = previews[0].document
    head = f"<meta charset='utf-8'>\n<meta name='viewport' content='width=device-width'>\n<style>{STYLE}</style>"
    wide = " class='wide'" if len(previews) > 1 else ""
    body = "\n".join([f"<h1>{safe(document.path)}</h1>", *preview_parts(previews)])
    title = f"<title>Chunks of {safe(document.path)}</title>"
    return (
        f"<!doctype html>\n<html lang='en'>\n{head}\n{title}\n"
        f"<main{wide} style='--columns:{len(previews)}'>\n{body}\n</main>\n</html>\n"
    )


def preview_parts(previews: Sequence[Preview]) -> Iterator[str]:
    """Write the parts of the page below its title; see `preview_page`."""
    yield f"<p class='lead dim'>{_lead(previews[0])}</p>"
    yield f"<div class='cards'>{''.join(_card(*it) for it in enumerate(previews))}</div>"
    yield from _warnings(previews)
    yield _source(previews)


def _lead(made: Preview) -> str:
    text, chunks = made.document.text, made.report.chunks
    known = [chunks[0].language] if chunks else []
    about = chunks[0].metadata if chunks else None
    known += [part for part in (about.source_type, about.natural_language) if part] if about else []
    lines = text.count("\n") + (not text.endswith("\n"))
    return safe(" · ".join([*known, f"{lines:,} lines", f"{len(text):,} characters"]))


def _card(column: int, made: Preview) -> str:
    options = "".join(f"<li>{safe(f'{name}={shown(value)}')}</li>" for name, value in made.options.items())
    reason = f"<p class='dim'>Recommended. {safe(made.choice.reason)}</p>" if made.choice.reason else ""
    charts = f"<div class='charts'>{_strip(column, made)}{_histogram(made)}</div>" if made.report.chunks else ""
    return (
        f"<section class='card'><h2>{safe(made.choice.strategy)}</h2>{reason}<ul class='options'>{options}</ul>"
        f"{_figures(made)}{charts}</section>\n"
    )


def _figures(made: Preview) -> str:
    found = made.report.statistics
    figures = {
        "chunks": f"{found.chunks:,}",
        "tokens, mean": f"{found.mean_tokens:.0f}",
        "smallest": f"{found.min_tokens:,}",
        "largest": f"{found.max_tokens:,}",
        "to chunk": f"{found.seconds * 1000:.0f} ms",
    }
    if made.repeated_share:
        figures["repeated"] = f"{made.repeated_share:.0%}"
    if made.model:
        figures[f"tokens of {made.model}"] = f"{sum(made.exact_tokens):,}"
    cells = "".join(f"<div><b>{value}</b><span>{safe(name)}</span></div>" for name, value in figures.items())
    return f"<div class='figures'>{cells}</div>"


def _strip(column: int, made: Preview) -> str:
    """Draw a bar for each chunk in the order of the text, linked to the chunk."""
    chunks, most = made.report.chunks[:_MOST_BARS], made.report.statistics.max_tokens or 1
    bars = "".join(
        f"<a class='t{tint(it)}' href='#{anchor(column, it.index)}' style='height:{max(it.tokens / most, 0.03):.0%}'"
        f" title='{it.index + 1} {safe(it.symbol)}: {it.tokens} tokens' aria-label='chunk {it.index + 1}'></a>"
        for it in chunks
    )
    rest = len(made.report.chunks) - len(chunks)
    note = f"; {rest:,} more" if rest else ""
    return f"<div><div class='strip'>{bars}</div><p class='dim'>sizes in the order of the text{note}</p></div>"


def _histogram(made: Preview) -> str:
    """Draw the number of chunks of each size, in equal steps up to the largest."""
    step = -(-made.report.statistics.max_tokens // _STEPS) or 1
    counts = Counter(min((it.tokens - 1) // step, _STEPS - 1) for it in made.report.chunks)
    most = max(counts.values())
    bars = "".join(
        f"<i style='height:{counts[at] / most:.0%}' title='{at * step + 1} to {(at + 1) * step} tokens:"
        f" {counts[at]:,} chunks'></i>"
        for at in range(_STEPS)
    )
    axis = f"<span>0</span><span>chunks by tokens, {most:,} at most</span><span>{_STEPS * step:,}</span>"
    label = "Histogram of chunks by tokens"
    return f"<div><div class='strip' role='img' aria-label='{label}'>{bars}</div><p class='axis dim'>{axis}</p></div>"


def _warnings(previews: Sequence[Preview]) -> Iterator[str]:
    items = [
        f"<li>{safe(f'{made.choice.strategy}: {warning}' if len(previews) > 1 else warning)}</li>"
        for made in previews
        for warning in made.report.warnings
    ]
    if items:
        yield f"<section class='warnings' aria-label='Warnings'><ul>{''.join(items)}</ul></section>"


def _source(previews: Sequence[Preview]) -> str:
    most = MOST_CHARACTERS // len(previews)
    names = "".join(f"<b>{safe(made.choice.label)}</b>" for made in previews)
    rows = "".join(blocks(columns_of(previews), most))
    length = len(previews[0].document.text)
    note = (
        f"<p class='warnings'>Only the first {most:,} of {length:,} characters are shown; "
        "the numbers above are of all of them.</p>"
        if length > most
        else ""
    )
    return f"{note}<section class='source' aria-label='Source'><div class='names'>{names}</div>\n{rows}</section>"
