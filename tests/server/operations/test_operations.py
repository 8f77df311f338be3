"""Counts as Prometheus reads them, and logs as programs do."""

import json
import logging
import re
import sys

from cqm.index.model.progress import UpdateSummary
from cqm.server.operations.logs import FIELDS, JsonFormatter
from cqm.server.operations.metrics import Metrics

_SAMPLE = re.compile(r'[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? (\+Inf|[-0-9.e]+)')


def test_counts_are_written_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.02, 99.0):
        metrics.called("search", seconds, failed=seconds > 1)
    metrics.updated(UpdateSummary(chunks_written=3, embedded=2))
    metrics.updated(UpdateSummary(cancelled=True))
    text = metrics.text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not _SAMPLE.fullmatch(line)] == []
    samples = dict(line.rsplit(" ", 1) for line in lines)
    assert samples['cqm_calls_total{tool="search",outcome="failed"}'] == "1"
    buckets = [value for name, value in samples.items() if name.startswith("cqm_call_seconds_bucket")]
    # A bucket counts what is at its bound, and all below.
    assert buckets == ["1", "1", *["2"] * 10, "3"]
    assert samples['cqm_call_seconds_count{tool="search"}'] == "3"
    assert float(samples['cqm_call_seconds_sum{tool="search"}']) == 99.025
    assert samples['cqm_updates_total{outcome="cancelled"}'] == "1"
    assert samples['cqm_updated_chunks_total{what="written"}'] == "3"
    declared = re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)
    assert len(declared) == len(dict(declared))


def test_a_logged_line_is_one_object_whatever_it_names() -> None:
    try:
        int("a\nb \x1b[2J")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "f", 1, "read %s", ("a\n\u2028\x1b[2J",), sys.exc_info())
    setattr(record, FIELDS, {"tool": "search"})
    line = JsonFormatter().format(record)
    assert line.isascii()
    assert line.isprintable()
    told = json.loads(line)
    assert (told["message"], told["level"], told["tool"]) == ("read a\n\u2028\x1b[2J", "ERROR", "search")
    assert "ValueError" in told["exception"]
