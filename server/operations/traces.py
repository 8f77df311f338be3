"""Send spans to OpenTelemetry if its standard variables ask for it.

https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. By the specification, spans go to a
collector on this machine if nothing is set. Here nothing is sent unless a variable names an address, or says `otlp`.
"""

import logging
import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from cqm.chunkers.extras import DISTRIBUTION, how_to_add
from cqm.index import tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

_log = logging.getLogger(__name__)

_ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER, _DISABLED = "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"
_NAMES = ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES")
SERVICE = "cqm"
"""`service.name` where the variables give none."""


def begin(environment: Mapping[str, str] | None = None) -> None:
    """Begin to send the spans of this process, if variables ask for it; tell the log where the extra lacks."""
    environment = os.environ if environment is None else environment
    if not is_wanted(environment):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _log.warning("No traces are sent: run `%s`.", how_to_add("otel"))
        return
    send_to(BatchSpanProcessor(OTLPSpanExporter()), is_named=any(environment.get(name) for name in _NAMES))


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether variables ask for traces by OTLP, CQM's only exporter."""
    exporter = environment.get(_EXPORTER, "").strip().lower()
    if environment.get(_DISABLED, "").strip().lower() == "true" or exporter not in {"", "otlp"}:
        return False
    return bool(exporter) or any(environment.get(name) for name in _ADDRESSES)


def send_to(processor: "SpanProcessor", *, is_named: bool = False) -> None:
    """Hand all spans of this process to a processor, those of the MCP SDK and of its clients too.

    Parameters:
        processor: takes them, and is shut down with the process.
        is_named: whether variables name the service.
    """
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider(resource=Resource.create({} if is_named else {SERVICE_NAME: SERVICE}))
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)
    tracing.use(provider.get_tracer("cqm", version(DISTRIBUTION)))
