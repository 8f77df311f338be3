"""Spans of OpenTelemetry: the stages of a search and an update in one trace, and nothing of the project in them."""

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cqm.index import tracing
from cqm.server.operations import traces
from cqm.server.owner.messages import read_request, request


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """All spans of this process: OpenTelemetry takes a provider once."""
    exporter = InMemorySpanExporter()
    traces.send_to(SimpleSpanProcessor(exporter))
    yield exporter
    tracing.use(None)
    exporter.shutdown()


def above(span: ReadableSpan, spans: Sequence[ReadableSpan]) -> list[str]:
    """The names of a span and all above it."""
    by_id = {it.context.span_id: it for it in spans}
    parent = by_id.get(span.parent.span_id) if span.parent else None
    return [span.name, *(above(parent, spans) if parent else [])]


@pytest.mark.processes
@pytest.mark.anyio
async def test_a_search_and_an_update_are_traced_stage_by_stage_without_names(
    connect: Any, project: Path, exporter: InMemorySpanExporter
) -> None:
    exporter.clear()
    async with connect(project) as client:
        reply = await client.call_tool("search", {"query": "where are retries limited"})
        assert "limit_retries" in reply.content[0].text
        reply = await client.call_tool("search", {"query": "retries", "cursor": "x"})
        assert reply.is_error
    spans = exporter.get_finished_spans()
    call = "tools/call search"
    ways = {tuple(above(it, spans)) for it in spans}
    assert {("cqm.candidates", "cqm.search", call), ("cqm.rank", "cqm.search", call), ("cqm.render", call)} <= ways
    assert ("cqm.read_question", "cqm.search", call) in ways
    updates = [it for it in spans if it.name == "cqm.update" and it.attributes and it.attributes.get("cqm.chunks")]
    assert [it.attributes and it.attributes["cqm.files"] for it in updates] == [2]
    for stage in ("scanning", "parsing", "embedding", "writing"):
        assert any(it.name == f"cqm.{stage}" and "cqm.update" in above(it, spans) for it in spans)
    failed = [it for it in spans if it.name == "cqm.search" and not it.status.is_ok]
    assert [it.attributes and it.attributes["error.type"] for it in failed] == ["QueryError"]
    told = json.dumps([json.loads(it.to_json()) for it in spans])
    for secret in ("retries", "limit_retries", "limits.py", "handbook", str(project), "`cursor"):
        assert secret not in told


def test_a_call_of_the_owner_belongs_to_the_span_of_its_client(exporter: InMemorySpanExporter) -> None:
    exporter.clear()
    with tracing.span("client"):
        message = request("backlog", {})
    _, _, trace = read_request(json.loads(json.dumps(message)))
    with tracing.continued(trace), tracing.span("owner"):
        pass
    client, owner = exporter.get_finished_spans()
    assert owner.parent
    found = (owner.context.trace_id, owner.parent.span_id)
    assert found == (client.context.trace_id, client.context.span_id)


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "search"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_spans_are_sent_only_where_a_variable_asks_for_it(variables: dict[str, str], wanted: bool) -> None:
    assert traces.is_wanted(variables) is wanted


def test_traces_that_lack_the_extra_are_told_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with caplog.at_level(logging.WARNING):
        traces.begin({"OTEL_TRACES_EXPORTER": "otlp"})
    assert "cqm-mcp[otel]" in caplog.text
