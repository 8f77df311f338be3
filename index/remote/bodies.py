"""A time limit for whole answers: the clients' time-outs apply to each piece, so an answer could trickle for ever."""

import time
from collections.abc import Callable, Iterator
from typing import Any


def bounded(stream_class: Any, late: Callable[[], Exception], seconds: float) -> Callable[[Any], None]:  # noqa: ANN401 - of httpx or httpx2
    """Return a response hook limiting the time for reading a body.

    Parameters:
        stream_class: `SyncByteStream` of the client's httpx.
        late: makes the error raised after the limit.
        seconds: from the response's head to its last byte.
    """

    class Bounded(stream_class):  # type: ignore[misc] # a class that is only known here
        """A body with a time limit."""

        def __init__(self, stream: Any) -> None:  # noqa: ANN401 - see above
            self._stream = stream
            self._ends = time.monotonic() + seconds

        def __iter__(self) -> Iterator[bytes]:
            for part in self._stream:
                if time.monotonic() > self._ends:
                    raise late()
                yield part

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:  # noqa: ANN401 - see above
        response.stream = Bounded(response.stream)

    return bound
