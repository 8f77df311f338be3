"""Cache vectors, answers and contexts beside the index: memory, then Redis, then disk, as one cache."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cqm.chunkers.extras import how_to_add
from cqm.index.cache.base import SYSTEM_CLOCK, Cache, CacheError, Layer, Store
from cqm.index.model.options import CacheOptions
from cqm.index.remote.variables import Variables

__all__ = ["Cache", "base", "open_cache"]

_MEGABYTE = 1_000_000


def open_cache(
    options: CacheOptions, folder: Path, variables: Variables, clock: Callable[[], float] = SYSTEM_CLOCK
) -> Cache:
    """Return the configured cache. Opens and contacts nothing yet; never fails.

    Parameters:
        folder: of the disk layer, unless the options name one.
        variables: hold the password of Redis.
        clock: decides when values expire.
    """
    from cqm.index.cache.layered import LayeredCache

    return LayeredCache(tuple(_layers(options, folder, variables, clock)) if options.enabled else (), clock)


def _layers(options: CacheOptions, folder: Path, variables: Variables, clock: Callable[[], float]) -> Iterator[Layer]:
    from cqm.index.cache.memory import MemoryLayer
    from cqm.index.cache.outer import OuterLayer

    if options.memory_mb:
        yield MemoryLayer(options.memory_mb * _MEGABYTE, clock)
    if options.redis_url:
        yield OuterLayer("redis", partial(_redis, options, variables), clock)
    if options.disk_mb:
        place = options.folder.expanduser() if options.folder else folder
        yield OuterLayer("disk", partial(_disk, place, options.disk_mb * _MEGABYTE), clock)


def _redis(options: CacheOptions, variables: Variables) -> Store:
    try:
        from cqm.index.cache.redis import RedisStore
    except ImportError as error:
        message = "The client of Redis is not installed."
        raise CacheError(message, remedy=f"Run `{how_to_add('redis')}`.", pause_seconds=float("inf")) from error
    return RedisStore(options.redis_url, variables.get(options.redis_password_env, ""))


def _disk(folder: Path, limit_bytes: int) -> Store:
    from cqm.index.cache.disk import DiskStore

    return DiskStore(folder, limit_bytes)
