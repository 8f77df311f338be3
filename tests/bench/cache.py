"""Embedding throughput and hit rates with the layers of the cache against none, through a real Ollama.

Each row opens the cache anew, as another process would: "first" finds nothing in it, "memory" asks the same cache
again, "redis" and "disk" find the values only there. Each run's texts are its own, so that no earlier run has them;
what it stores in Redis stays there until it is old or that database is flushed.

  cache.py --ollama http://127.0.0.1:11434 [--model all-minilm] [--redis redis://127.0.0.1:6379/9] [--texts 512]
"""

import argparse
import os
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

from cqm.index.cache import Cache, open_cache
from cqm.index.embedding import open_embedder
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.model.options import CacheOptions, EmbeddingOptions
from cqm.index.model.status import CacheLayer

BATCH = 64
CHARACTERS = 500


def texts_of(count: int) -> list[str]:
    """Pieces of the standard library's source, each unlike those of any other run."""
    run = uuid4().hex[:8]
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    source = "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    return [f"{run} {source[at : at + CHARACTERS]}" for at in range(0, count * CHARACTERS, CHARACTERS)]


def measure(title: str, options: EmbeddingOptions, cache: Cache, texts: list[str]) -> None:
    embedder = open_embedder(options, variables=os.environ)
    assert embedder is not None
    cached = CachedEmbedder(embedder, cache)
    cached.embed_query(uuid4().hex)  # the model is loaded
    before = {layer.name: layer for layer in cache.layers()}
    began = time.perf_counter()
    for at in range(0, len(texts), BATCH):
        cached.embed_documents(texts[at : at + BATCH])
    seconds = time.perf_counter() - began
    print(f"{title:22}{len(texts) / seconds:10,.0f} texts/s   {'  '.join(rates(before, cache))}")
    embedder.close()


def rates(before: Mapping[str, CacheLayer], cache: Cache) -> Iterator[str]:
    for layer in cache.layers():
        hits, misses = layer.hits - before[layer.name].hits, layer.misses - before[layer.name].misses
        yield f"{layer.name} {hits / max(hits + misses, 1):.0%} of {hits + misses}"
        if layer.problem:
            yield layer.problem


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ollama", required=True)
    parser.add_argument("--model", default="all-minilm")
    parser.add_argument("--redis", default="")
    parser.add_argument("--texts", type=int, default=512)
    given = parser.parse_args()
    model = EmbeddingOptions("ollama", given.model, given.ollama)
    texts = texts_of(given.texts)
    with tempfile.TemporaryDirectory() as folder:
        layers = CacheOptions(redis_url=given.redis)

        def opened(options: CacheOptions, place: str = "shared") -> Cache:
            return open_cache(options, Path(folder, place), variables=os.environ)

        measure("no cache", model, opened(CacheOptions(enabled=False)), texts)
        cache = opened(layers)
        measure("first", model, cache, texts)
        measure("memory", model, cache, texts)
        if given.redis:
            measure("redis", model, opened(layers, "another machine"), texts)
        measure("disk", model, opened(CacheOptions()), texts)


if __name__ == "__main__":
    main()
