"""Create the models of an index from its options, in the order of preference."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from cqm.index.cache import Cache
from cqm.index.embedding import open_embedder
from cqm.index.embedding.budget import DocumentBudget
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.routes import TEXT_ROUTES, GuardedModel, LateModel, Route, Routes
from cqm.index.embedding.service.base import Embedder
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.variables import NO_VARIABLES, Variables

NO_MODEL = "none"
BY_LATENCY = "latency"
_IN_PROCESS = "embedded"
_UNKNOWN_COST = float("inf")


def _by_cost(options: EmbeddingOptions) -> float:
    price = known_facts(options, NO_VARIABLES).usd_per_million_tokens
    return _UNKNOWN_COST if price is None else price


def _by_quality(options: EmbeddingOptions) -> float:
    return -(known_facts(options, NO_VARIABLES).quality or 0.0)


ORDERS: Mapping[str, Callable[[EmbeddingOptions], float]] = {
    "order": lambda _: 0.0,
    "cost": _by_cost,
    "quality": _by_quality,
    BY_LATENCY: lambda _: 0.0,
}
"""Sort keys of models, least first; equal ones stay as written. The rows of `RouteOptions.choose`.

The order is part of a generation's recipe, so it depends on options alone: variables differ between clients.
Latency must be measured: see `Routes.order_by_latency`.
"""


def open_routes(options: IndexOptions, cache: Cache, variables: Variables) -> Routes | None:
    """Return the models of an index; None for lexical search only. Loads and contacts nothing yet.

    Raises:
        EmbeddingError: an option is not valid, or there is a budget for a model without a known price.
        ChunkOptionError: rules for late chunking don't fit together.
    """
    orders = {route: in_order(options, route) for route in TEXT_ROUTES}
    late = _late_model(options, variables) if options.chunk.rules else None
    if late is None and not any(orders.values()):
        return None
    distinct = distinct_models(options)
    names = _distinct_names(distinct)
    opened = (_guarded(*named, options.routes, cache, variables) for named in zip(names, distinct, strict=True))
    models = dict(zip(distinct, opened, strict=True))
    for model in models.values():
        if model.in_process:
            # Told now, and not for each file: it takes no time to know.
            model.embedder.space()
    rows = {route: tuple(models[one] for one in chosen) for route, chosen in orders.items()}
    return Routes(rows, options.routes.query_seconds, late)


def open_former(
    former: Sequence[EmbeddingOptions], options: IndexOptions, cache: Cache, variables: Variables
) -> tuple[GuardedModel, ...]:
    """Return models no longer configured, for questions. Loads and contacts nothing yet.

    Raises:
        EmbeddingError: as `open_routes`.
    """
    names = (f"{name}, the former model" for name in _distinct_names(former))
    return tuple(_guarded(*named, options.routes, cache, variables) for named in zip(names, former, strict=True))


def distinct_models(options: IndexOptions) -> list[EmbeddingOptions]:
    """Return the models of all routes, each once.

    Raises:
        EmbeddingError: the order is unknown.
    """
    return list(dict.fromkeys(one for route in TEXT_ROUTES for one in in_order(options, route)))


def in_order(options: IndexOptions, route: Route) -> tuple[EmbeddingOptions, ...]:
    """Return the models of a route, the preferred one first; none if the first one named is "none".

    Raises:
        EmbeddingError: the order is unknown.
    """
    routes = options.routes
    first = options.embedding if route is Route.CODE or routes.prose is None else routes.prose
    if first.provider == NO_MODEL:
        return ()
    order = ORDERS.get(routes.choose)
    if order is None:
        message = f"embedding.choose {routes.choose!r}: expected one of {', '.join(ORDERS)}."
        raise EmbeddingError(message, remedy="Set one of them.")
    return tuple(sorted((one for one in (first, *routes.fallback) if one.provider != NO_MODEL), key=order))


def spaces_known(options: IndexOptions) -> dict[str, int]:
    """Return the spaces of the preferred models, as far as no service must be asked: names in a store, dimensions."""
    preferred = [one for route in TEXT_ROUTES for one in in_order(options, route)[:1] if one.provider == _IN_PROCESS]
    spaces: dict[str, int] = {}
    for one in preferred:
        # A missing model is reported when it is asked to embed.
        with suppress(EmbeddingError):
            if embedder := open_embedder(one, NO_VARIABLES):
                spaces[embedder.space().vector_name] = embedder.space().dimensions
    return spaces


def recipe(options: IndexOptions) -> tuple[tuple[EmbeddingOptions, ...], ...]:
    """Return the model options shaping a generation's vectors: of the preferred models, without addresses and keys.

    If latency decides, any of them may become the preferred one.
    """
    most = None if options.routes.choose == BY_LATENCY else 1
    return tuple(tuple(map(shape_of, in_order(options, route)[:most])) for route in TEXT_ROUTES)


def shape_of(options: EmbeddingOptions) -> EmbeddingOptions:
    """Return only the options shaping a model's vectors."""
    return EmbeddingOptions(
        options.provider,
        options.model,
        options.base_url,
        dimensions=options.dimensions,
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
        context_tokens=options.context_tokens,
        long_texts=options.long_texts,
    )


def late_name(options: IndexOptions) -> str:
    """Name the token encoder for people."""
    encoder = options.late.encoder
    return f"late chunking at {Endpoint(encoder).authority if options.late.is_served else encoder}"


def _late_model(options: IndexOptions, variables: Variables) -> LateModel | None:
    """Return the token encoder, if a rule for chunks needs it. Loads and contacts nothing yet."""
    from cqm.chunkers.strategies.options import late_pooling  # start-up time, here and below
    from cqm.index.embedding.late import open_token_encoder
    from cqm.index.embedding.late.embedder import LateEmbedder

    pooling, late = late_pooling(options.chunk), options.late
    if not pooling:
        return None
    if not late.encoder:
        message = (
            "chunk.rules has the strategy late, which needs a model that embeds each token; late.encoder is empty."
        )
        remedy = "Set late.encoder to the folder of such a model or the address of a llama.cpp server."
        raise EmbeddingError(message, remedy=f"{remedy} Or give those files another strategy.")
    key, timeout = variables.get(late.api_key_env, ""), options.embedding.timeout_seconds
    encoder = open_token_encoder(late.encoder, variables, api_key=key, timeout_seconds=timeout)
    breaker = Breaker(options.routes.retry_seconds)
    return LateModel(late_name(options), LateEmbedder(encoder, pooling), breaker, in_process=not late.is_served)


def _distinct_names(models: Sequence[EmbeddingOptions]) -> list[str]:
    """Name each model, numbering equal names."""
    counts: Counter[str] = Counter()
    names = []
    for options in models:
        name = model_name(options)
        counts[name] += 1
        names.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return names


def _guarded(
    name: str, options: EmbeddingOptions, routes: RouteOptions, cache: Cache, variables: Variables
) -> GuardedModel:
    embedder = open_embedder(options, variables)
    if embedder is None:
        raise EmbeddingError(f"{options.provider!r} embeds nothing.")
    budget = _budget(embedder, options, routes.budget_usd, variables)
    in_process = options.provider == _IN_PROCESS
    # Computing a vector here is faster than reading it from a cache.
    if budget is not None or not in_process:
        embedder = CachedEmbedder(embedder, cache, budget)
    return GuardedModel(name, embedder, Breaker(routes.retry_seconds), in_process=in_process)


def _budget(embedder: Embedder, options: EmbeddingOptions, usd: float, variables: Variables) -> DocumentBudget | None:
    price = known_facts(options, variables).usd_per_million_tokens
    if not usd or price == 0.0:
        return None
    if price is None:
        message = f"The price of {model_name(options)} is not known, so that no budget can hold."
        raise EmbeddingError(message, remedy="Set usd_per_million_tokens (0 for a model of your own).")
    return DocumentBudget(usd, price, lambda: embedder.usage(Role.DOCUMENT).usd)


def model_name(options: EmbeddingOptions) -> str:
    """Name a model for people: "provider/model", and its address if configured."""
    name = f"{options.provider}/{options.model}" if options.model else options.provider
    return f"{name} at {Endpoint(options.base_url).authority}" if options.base_url else name
