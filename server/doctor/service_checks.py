"""Checks of each configured model, service and cache layer for `cqm doctor`: one small piece of real work each."""

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from cqm.index.disk.locations import cache_folder
from cqm.index.model.options import CacheOptions, ContextOptions, EmbeddingOptions, RerankOptions, StoreOptions
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.variables import process_variables
from cqm.server.answers.status_text import size_text, usd_text
from cqm.server.doctor.machine_checks import Case, Found, Row, bad, good, off

Result = TypeVar("Result")

_PATIENCE = 20.0
"""Seconds for one request: a service needing longer for one text needs hours for a repository."""
_WRITERS_PATIENCE = 50.0
"""Seconds for a context: a large model may have to be loaded first."""
_MILLISECONDS = 1000
_QUESTION = "Where is a greeting put together?"
_PART = '''def greet(name: str) -> str:
    """Put a greeting together."""
    return f"hello {name}"
'''
_OTHER = '''def area(width: float, height: float) -> float:
    """The area of a rectangle."""
    return width * height
'''


def model_rows(case: Case) -> Iterator[Row]:
    """Check the model, its fallbacks, and the provider blocks which nothing names."""
    settings, embedding = case.settings, case.settings.embedding
    yield "embedding", partial(check_model, case.options.embedding, embedding.budget_usd)
    uses = {name: f"fallback {name}" for name in embedding.fallback}
    if embedding.prose:
        uses[embedding.prose] = ", ".join(filter(None, [uses.get(embedding.prose), f"prose {embedding.prose}"]))
    options = dict(zip(embedding.fallback, case.options.routes.fallback, strict=True))
    if case.options.routes.prose:
        options[embedding.prose] = case.options.routes.prose
    for name, used in uses.items():
        yield used, partial(check_model, options[name], embedding.budget_usd)
    for name in sorted(settings.providers.keys() - uses.keys()):
        yield f"provider {name}", partial(off, "neither embedding.fallback nor embedding.prose names it")


def check_model(options: EmbeddingOptions, budget_usd: float) -> Found:
    """Embed one text and one question."""
    from cqm.index.embedding import open_embedder

    # A check must not download gigabytes.
    embedder = open_embedder(
        replace(options, timeout_seconds=min(options.timeout_seconds, _PATIENCE), pull=False), process_variables()
    )
    if embedder is None:
        return off("search is by words alone")
    try:
        space, facts = embedder.space(), embedder.facts()
        embedder.embed_query(_QUESTION)  # the first question to a model may load it
        document, document_time = _timed(lambda: embedder.embed_documents([_PART]))
        _, query_time = _timed(lambda: embedder.embed_query(_QUESTION))
    finally:
        embedder.close()
    if document.rejected:
        return bad(f"{space.provider}/{space.model} refuses a text: {document.rejected[0].reason}")
    price = facts.usd_per_million_tokens
    if budget_usd and price is None:
        return bad(
            f"the price of {space.provider}/{space.model} is not known, so embedding.budget_usd cannot hold",
            "Set usd_per_million_tokens (0 for a model of your own).",
        )
    return good(
        f"{space.provider}/{space.model}{f' at {Endpoint(options.base_url)}' if options.base_url else ''}",
        f"{space.dimensions} dimensions",
        f"context of {facts.context_tokens:,} tokens" if facts.context_tokens else "",
        _price(price),
        f"a text in {document_time}",
        f"a question in {query_time}",
    )


def writer_rows(case: Case) -> Iterator[Row]:
    """Check the writer of contexts."""
    yield "contexts", partial(check_writer, case.options.context)


def check_writer(options: ContextOptions) -> Found:
    """Write the context of one small function."""
    from cqm.chunkers.chunking import chunk
    from cqm.chunkers.model import ChunkOptions, Document
    from cqm.index.contextual import open_writer, writer_name

    options = replace(options, timeout_seconds=min(options.timeout_seconds, _WRITERS_PATIENCE))
    writer = open_writer(options, None, process_variables())
    if writer is None:
        return off("made by rules, without a model")
    document = Document("example.py", f"{_PART}\n\n{_OTHER}")
    chunks = chunk(document, ChunkOptions(apart=True)).chunks
    try:
        written, taken = _timed(lambda: writer.write(document.path, document.text, chunks[:1]))
        usage = writer.usage()
    finally:
        writer.close()
    if written.problem:
        return bad(written.problem)
    return good(writer_name(options), f"one in {taken}", usd_text(usage.usd))


def reranker_rows(case: Case) -> Iterator[Row]:
    """Check the reranker."""
    yield "reranker", partial(check_reranker, case.options.rerank)


def check_reranker(options: RerankOptions) -> Found:
    """Score two texts, twice: the first time may load a model."""
    from cqm.index.rerank import open_reranker

    reranker = open_reranker(options, process_variables())
    if reranker is None:
        reads = "the built-in reader orders the results of sentences, where the built-in model embeds"
        return off(reads if options.reader else "results stay in the order of the search")
    try:
        reranker.scores(_QUESTION, (_PART, _OTHER), _PATIENCE)
        began = time.perf_counter()
        scores = reranker.scores(_QUESTION, (_PART, _OTHER), _PATIENCE)
        seconds = time.perf_counter() - began
    finally:
        reranker.close()
    if seconds > options.deadline_seconds:
        return bad(
            f"two texts take {seconds:.2f} s, and the deadline for {options.depth} is {options.deadline_seconds:g} s",
            "Raise rerank.deadline_seconds, or choose a faster model.",
        )
    told = f"scores {scores[0]:.3g} and {scores[1]:.3g} for an answer and another text"
    place = str(Endpoint(options.url)) if options.url else options.folder or options.shape
    return good(place, told, f"in {_duration(seconds)}")


def encoder_rows(case: Case) -> Iterator[Row]:
    """Check the model for previews of late chunking."""
    yield "late chunking", partial(check_encoder, case)


def check_encoder(case: Case) -> Found:
    """Embed the tokens of one text."""
    from cqm.index.embedding.late import open_token_encoder

    late = case.settings.late
    if not late.encoder:
        return off("late.encoder is empty")
    variables = process_variables()
    key = variables.get(late.api_key_env, "")
    encoder = open_token_encoder(late.encoder, variables, api_key=key, timeout_seconds=_PATIENCE)
    try:
        rows = encoder.encode(encoder.tokenize(_PART).ids)
        return good(encoder.name, f"{rows.shape[1]} dimensions", f"window of {encoder.window:,} tokens")
    finally:
        encoder.close()


def cache_rows(case: Case) -> Iterator[Row]:
    """Check the layers of the cache."""
    options = case.options.cache
    if not options.enabled:
        yield "cache", partial(off, "cache.enabled is false")
        return
    alone = replace(options, memory_mb=0, redis_url="", disk_mb=0)
    layers = (
        ("memory", options.memory_mb, replace(alone, memory_mb=options.memory_mb)),
        ("redis", options.redis_url, replace(alone, redis_url=options.redis_url)),
        ("disk", options.disk_mb, replace(alone, disk_mb=options.disk_mb)),
    )
    for name, is_on, layer in layers:
        yield f"cache {name}", partial(_check_layer, case, layer) if is_on else partial(off, "this layer is off")


def _check_layer(case: Case, options: CacheOptions) -> Found:
    """Store a value and read it back."""
    from cqm.index.cache import open_cache

    folder = options.folder or cache_folder(case.options)
    key, value = f"doctor {secrets.token_hex(16)}", secrets.token_bytes(64)
    cache = open_cache(options, folder, process_variables())
    began = time.perf_counter()
    try:
        cache.put("statistics", {key: value})
        read = cache.get("statistics", [key]).get(key)
        seconds = time.perf_counter() - began
        layer = cache.layers()[0]
    finally:
        cache.close()
    if layer.problem or read != value:
        return bad(layer.problem or "the written value did not come back")
    return good(
        f"written and read back in {_duration(seconds)}",
        f"{size_text(layer.size_bytes)} kept" if layer.size_bytes else "",
        str(folder) if options.disk_mb else options.redis_url,
    )


def _timed(call: Callable[[], Result]) -> tuple[Result, str]:
    began = time.perf_counter()
    result = call()
    return result, _duration(time.perf_counter() - began)


def _duration(seconds: float) -> str:
    return f"{seconds * _MILLISECONDS:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _price(usd: float | None) -> str:
    if usd is None:
        return "price not known"
    return f"${usd:g} a million tokens" if usd else "free"


def store_rows(case: Case) -> Iterator[Row]:
    """Check the server holding the chunks."""
    yield "store", partial(check_store, case.options.store)


def check_store(options: StoreOptions) -> Found:
    """Use a short-lived collection."""
    from cqm.index.store.open import try_server

    if not options.url:
        return off("chunks are kept in the index folder")
    version, seconds = _timed(lambda: try_server(replace(options, retry_seconds=0.0), process_variables()))
    return good(f"Qdrant {version} at {Endpoint(options.url)}", seconds)


SERVICES: tuple[Callable[[Case], Iterator[Row]], ...] = (
    model_rows,
    writer_rows,
    reranker_rows,
    encoder_rows,
    cache_rows,
    store_rows,
)
"""Makers of the checks of each kind of service."""
