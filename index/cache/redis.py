"""Store shared by several machines: a Redis server, through the official client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from cqm.index.batched import batched
from cqm.index.cache.base import CacheError, Frame
from cqm.index.remote.endpoint import Endpoint

_TIMEOUT_SECONDS = 0.3
"""For a connection, and for the next bytes of an answer: longer than a network takes, shorter than a user notices."""
_BATCH = 512
"""Keys per command: few enough for their values to arrive within the time-out."""
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""Raised by the client's parser, beside its own errors, if the server speaks another protocol."""


class RedisStore:
    """A `Store` in Redis: each frame under its name, with Redis's own expiry. Contacts nothing yet.

    The server limits the total size (`maxmemory` with an eviction policy).

    Parameters:
        url: "redis://", "rediss://" (TLS) or "unix://", in the client's syntax.
        password: empty for none.

    Raises:
        CacheError: the URL is not valid or contains a password.
    """

    def __init__(self, url: str, password: str) -> None:
        self._endpoint = Endpoint(url, password, is_web=False)
        try:
            _refuse_password(url)
            self._client = redis.Redis.from_url(
                url,
                password=password or None,
                socket_timeout=_TIMEOUT_SECONDS,
                socket_connect_timeout=_TIMEOUT_SECONDS,
                # A failure is a miss; a later call tries again.
                retry=Retry(NoBackoff(), 0),
                protocol=2,
            )
        except (ValueError, TypeError):
            # Without the error's text, which may contain parts of the URL.
            message = "cache.redis_url: expected redis://HOST:PORT/DATABASE."
            remedy = "Write it in this form."
            raise CacheError(message, remedy=remedy, pause_seconds=float("inf")) from None

    def read(self, names: Sequence[str]) -> Mapping[str, object]:
        """See `Store.read`. A key of another type than string counts as absent, as in MGET."""
        found: dict[str, object] = {}
        with self._translating():
            for part in batched(names, _BATCH):
                values: object = self._client.mget(part)
                if not isinstance(values, list) or len(values) != len(part):
                    raise self._confused()
                found.update((name, value) for name, value in zip(part, values, strict=True) if value is not None)
        return found

    def write(self, frames: Mapping[str, Frame]) -> None:
        """See `Store.write`."""
        refused: list[object] = []
        with self._translating():
            for part in batched(frames, _BATCH):
                pipeline = self._client.pipeline(transaction=False)
                for name in part:
                    data, seconds = frames[name]
                    pipeline.set(name, data, px=max(1, int(seconds * 1000)))
                refused += (answer for answer in pipeline.execute(raise_on_error=False) if answer is not True)
        if refused:
            # Reading may still work, so no pause.
            said = self._endpoint.quoted(refused[0])
            raise CacheError(f"Redis at {self._endpoint} stores nothing: {said}", pause_seconds=0)

    def extent(self) -> tuple[int, int]:
        """See `Store.extent`: zeros, as others use the server too."""
        return 0, 0

    def close(self) -> None:
        """See `Store.close`."""
        self._client.close()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turn the client's errors into ours."""
        try:
            yield
        except redis.TimeoutError as error:
            message = f"Redis at {self._endpoint} did not answer within {_TIMEOUT_SECONDS:g} seconds."
            raise CacheError(message, remedy="See whether the server runs.") from self._endpoint.cause(error)
        except (redis.RedisError, OSError) as error:
            message = f"Redis at {self._endpoint} failed: {self._endpoint.quoted(error)}"
            remedy = "Check cache.redis_url and cache.redis_password_env, and that the server runs."
            raise CacheError(message, remedy=remedy) from self._endpoint.cause(error)
        except _UNREADABLE as error:
            raise self._confused() from self._endpoint.cause(error)

    def _confused(self) -> CacheError:
        message = f"What answers at {self._endpoint} does not speak the protocol of Redis."
        return CacheError(message, remedy="Check cache.redis_url.")


def _refuse_password(url: str) -> None:
    parts = urlsplit(url)
    if parts.password or "password" in parse_qs(parts.query):
        message = "The address of Redis holds a password, which belongs into no file."
        remedy = "Take it out of cache.redis_url and name its environment variable in cache.redis_password_env."
        raise CacheError(message, remedy=remedy, pause_seconds=float("inf"))
