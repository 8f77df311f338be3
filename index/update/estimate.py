"""Estimate chunks, tokens and money of an update before any is spent."""

from collections import Counter
from collections.abc import Iterator

from cqm.chunkers.tokens import estimate
from cqm.index.contextual import writer_name
from cqm.index.contextual.estimate import DocumentSize, estimate_contexts
from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.opening import in_order, late_name, model_name
from cqm.index.embedding.routes import Route
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.options import ContextOptions, IndexOptions
from cqm.index.model.outcomes import Cost, Estimate
from cqm.index.remote.variables import Variables
from cqm.index.update.plan import Plan
from cqm.index.update.prepare import Preparation, PreparedChunk, PreparedFile, prepare_files
from cqm.index.update.write import with_held_notes
from cqm.index.workers import Workers


def estimate_update(
    plan: Plan,
    manifest: Manifest,
    preparation: Preparation,
    options: IndexOptions,
    workers: Workers,
    variables: Variables,
) -> Estimate:
    """Read and chunk the files of an update, and add up the texts to embed. Stores and sends nothing.

    Parameters:
        manifest: of the present index.
    """
    tokens: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    sizes = []
    for file in (file for batch in prepare_files(plan.todo, preparation, workers) for file in batch):
        fresh = list(_fresh(file, manifest, preparation.place))
        for part in fresh:
            texts[part.row.route] += 1
            tokens[part.row.route] += estimate(part.dense_text)
        if fresh and file.source:
            sizes.append(DocumentSize(estimate(file.source.text), tuple(part.row.tokens for part in fresh)))
    costs: dict[str, Cost] = {}
    for route in Route:
        cost = _cost(options, route, texts[route], tokens[route], variables) if texts[route] else None
        if cost:
            costs[cost.name] = _together(costs.get(cost.name), cost)
    return Estimate(len(plan.todo), texts.total(), tuple(costs.values()), _contexts(options.context, sizes, variables))


def _together(first: Cost | None, second: Cost) -> Cost:
    """Add the costs of two routes to one model."""
    if first is None:
        return second
    usd = None if first.usd is None or second.usd is None else first.usd + second.usd
    return Cost(first.name, first.texts + second.texts, first.tokens + second.tokens, usd=usd)


def _fresh(file: PreparedFile, manifest: Manifest, place: str) -> Iterator[PreparedChunk]:
    """Yield the chunks which are new or changed."""
    if not file.is_chunked:
        return
    rows = manifest.chunks_of(file.row.path)
    held = {row.id: row.fingerprint for row in rows}
    file = with_held_notes(file, rows, place)
    yield from (part for part in file.chunks or () if held.get(part.row.id) != part.row.fingerprint)


def _cost(options: IndexOptions, route: Route, texts: int, tokens: int, variables: Variables) -> Cost | None:
    if route is Route.LATE:
        return Cost(late_name(options), texts, tokens, usd=0.0)
    order = in_order(options, route)
    if not order:
        return None
    price = known_facts(order[0], variables).usd_per_million_tokens
    return Cost(model_name(order[0]), texts, tokens, usd=None if price is None else tokens * price / 1_000_000)


def _contexts(options: ContextOptions, documents: list[DocumentSize], variables: Variables) -> Cost | None:
    name = writer_name(options)
    if not name:
        return None
    found = estimate_contexts(options, documents, variables)
    return Cost(name, found.requests, found.tokens, found.output_tokens, found.usd)
