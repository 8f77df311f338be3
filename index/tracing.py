"""Spans of the work, for a tracer set by a serving process; nothing where none is set.

A span has a name and counts: no question, path or text of the project is ever in it. The tracer is OpenTelemetry's, of
the extra `otel`, which `server/operations/traces.py` sets. Without it a span costs a call and a look at a variable.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_P = ParamSpec("_P")
_Result = TypeVar("_Result")

_tracers: "list[Tracer]" = []
"""None or one."""


def use(tracer: "Tracer | None") -> None:
    """Send spans to a tracer from now on; None turns it off."""
    _tracers[:] = [tracer] if tracer else []


def traced(name: str) -> Callable[[Callable[_P, _Result]], Callable[_P, _Result]]:
    """Make each call of a function a span."""

    def decorate(function: Callable[_P, _Result]) -> Callable[_P, _Result]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
            if not _tracers:
                return function(*args, **kwargs)
            with _told(name):
                return function(*args, **kwargs)

        return call

    return decorate


def span(name: str) -> AbstractContextManager[None]:
    """Make a block a span; of an error it tells the class alone, since messages name files."""
    return _told(name) if _tracers else nullcontext()


@contextmanager
def _told(name: str) -> Iterator[None]:
    from opentelemetry.trace import StatusCode

    with _tracers[0].start_as_current_span(name, record_exception=False, set_status_on_exception=False) as told:
        try:
            yield
        except BaseException as error:
            told.set_attribute("error.type", type(error).__qualname__)
            told.set_status(StatusCode.ERROR)
            raise


def note(**counts: int) -> None:
    """Add counts to the present span."""
    if _tracers:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes({f"cqm.{name}": count for name, count in counts.items()})


def carried() -> dict[str, str]:
    """Return the present span for another process, as the headers of W3C Trace Context; empty for none."""
    headers: dict[str, str] = {}
    if _tracers:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)
    return headers


def continued(headers: Mapping[str, str]) -> AbstractContextManager[None]:
    """Make spans of a block children of one of another process, as `carried` wrote it there."""
    return _attached(headers) if _tracers and headers else nullcontext()


@contextmanager
def _attached(headers: Mapping[str, str]) -> Iterator[None]:
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    token = context.attach(TraceContextTextMapPropagator().extract(headers))
    try:
        yield
    finally:
        context.detach(token)
