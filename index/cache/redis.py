"""The store that several machines share: a Redis server, through the official client."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from cqm.index.cache.base import CacheError, Frame
from cqm.index.remote.endpoint import Endpoint

_TIMEOUT_SECONDS = 0.3
"""For a connection, and for the next bytes of an answer: longer than a network takes, shorter than a user notices."""
_BATCH = 512
"""Keys a command: few enough that their values arrive within the time-out."""
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What the client's parser raises, beside its own errors, when a server talks something else than Redis."""


class RedisStore:
    """A `Store` in Redis, each frame under its name with the time that Redis forgets it. Contacts nothing yet.

    What it may hold in all is the server's to limit (`maxmemory` with an eviction policy).

    Parameters:
        url: "redis://", "rediss://" (TLS) or "unix://", in the client's syntax.
        password: empty for none.

    Raises:
        CacheError: the URL is not valid or holds a password.
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
                # What fails is a miss; trying again is for later.
                retry=Retry(NoBackoff(), 0),
                protocol=2,
            )
        except (ValueError, TypeError):
            # Without its words, which may be a part of the URL.
            message = "The address of Redis is not valid."
            raise CacheError(message, remedy="Correct cache.redis_url.", pause_seconds=float("inf")) from None

    def read(self, names: Sequence[str]) -> Mapping[str, object]:
        """See `Store.read`. A key of another type than a string counts as absent, as MGET has it."""
        found: dict[str, object] = {}
        with self._translating():
            for part in _parts(names):
                values: object = self._client.mget(part)
                if not isinstance(values, list) or len(values) != len(part):
                    raise self._confused()
                found.update((name, value) for name, value in zip(part, values, strict=True) if value is not None)
        return found

    def write(self, frames: Mapping[str, Frame]) -> None:
        """See `Store.write`."""
        refused: list[object] = []
        with self._translating():
            for part in _parts(tuple(frames)):
                pipeline = self._client.pipeline(transaction=False)
                for name in part:
                    data, seconds = frames[name]
                    pipeline.set(name, data, px=max(1, int(seconds * 1000)))
                refused += (answer for answer in pipeline.execute(raise_on_error=False) if answer is not True)
        if refused:
            # It may still read, so it isn't left alone.
            said = self._endpoint.quoted(refused[0])
            raise CacheError(f"Redis at {self._endpoint} stores nothing: {said}", pause_seconds=0)

    def extent(self) -> tuple[int, int]:
        """See `Store.extent`: others use the server too, so it does not tell what is ours."""
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
            raise CacheError(message) from self._endpoint.cause(error)
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


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _BATCH] for start in range(0, len(names), _BATCH))
