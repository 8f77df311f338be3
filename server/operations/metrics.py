"""Counts of a serving process in Prometheus' text format.

The format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format. No label has a name of a
file, a question or a folder: a scrape is safe to keep.
"""

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from cqm.index.model.progress import UpdateSummary
from cqm.index.model.status import IndexStatus

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets in seconds: a question takes some ms, a first index up to `server.wait_seconds`."""

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]
"""End of a name, labels and value."""


@dataclass(slots=True)
class _Histogram:
    """Durations of calls: a count for each bucket, the last without bound, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    seconds: float = 0.0


class Metrics:
    """Counts of a serving process since its start. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._started_at = time.time()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, _Histogram] = {}
        self._updates: Counter[str] = Counter()
        self._work: Counter[str] = Counter()
        self._asked: list[Callable[[], Sequence[IndexStatus]]] = []

    def called(self, tool: str, seconds: float, *, failed: bool) -> None:
        """Count a call of a tool.

        Parameters:
            tool: the name of an existing one: each is a series of its own.
            seconds: wall time.
            failed: whether the answer was an error.
        """
        with self._lock:
            self._calls[tool, "failed" if failed else "answered"] += 1
            duration = self._durations.setdefault(tool, _Histogram())
            duration.counts[bisect_left(_BOUNDS, seconds)] += 1
            duration.seconds += seconds

    def updated(self, summary: UpdateSummary) -> None:
        """Count an update of an index, of one file or all."""
        with self._lock:
            self._updates["cancelled" if summary.cancelled else "done"] += 1
            self._work["written"] += summary.chunks_written
            self._work["deleted"] += summary.chunks_deleted
            self._work["embedded"] += summary.embedded
            self._work["from_cache"] += summary.cached

    @contextmanager
    def watching(self, statuses: Callable[[], Sequence[IndexStatus]]) -> Iterator[None]:
        """Ask for the status of some open indexes with each scrape, while a block runs."""
        with self._lock:
            self._asked.append(statuses)
        try:
            yield
        finally:
            with self._lock:
                self._asked.remove(statuses)

    def text(self) -> str:
        """Write everything in Prometheus' format."""
        # Sessions of several clients may have the same index open.
        indexes = list({index.location: index for ask in tuple(self._asked) for index in ask()}.values())
        with self._lock:
            calls = [("", {"tool": tool, "outcome": out}, float(n)) for (tool, out), n in sorted(self._calls.items())]
            durations = [it for tool in sorted(self._durations) for it in _buckets(tool, self._durations[tool])]
            updates = [("", {"outcome": name}, float(count)) for name, count in sorted(self._updates.items())]
            work = [("", {"what": name}, float(count)) for name, count in sorted(self._work.items())]
        families: list[tuple[str, str, str, Sequence[Sample]]] = [
            ("cqm_calls_total", "counter", "Calls of tools.", calls),
            ("cqm_call_seconds", "histogram", "Wall time of calls.", durations),
            ("cqm_updates_total", "counter", "Updates of indexes that this server made or followed.", updates),
            ("cqm_updated_chunks_total", "counter", "Chunks of these updates.", work),
            *_of_indexes(indexes),
            ("process_start_time_seconds", "gauge", "Start, seconds since 1970.", [("", {}, self._started_at)]),
            (
                "process_cpu_seconds_total",
                "counter",
                "Processor time of this process.",
                [("", {}, time.process_time())],
            ),
            ("process_resident_memory_bytes", "gauge", "Memory of this process, without owners.", _memory()),
        ]
        return "".join(line for family in families for line in _family(*family))


def _of_indexes(indexes: Sequence[IndexStatus]) -> Iterator[tuple[str, str, str, list[Sample]]]:
    """Yield the contents of all open indexes together."""
    files: Counter[str] = Counter()
    hits: Counter[tuple[str, str]] = Counter()
    for index in indexes:
        files.update({str(state): count for state, count in index.files.items()})
        for layer in index.cache:
            outcomes = {"hits": layer.hits, "misses": layer.misses, "errors": layer.errors}
            hits.update({(layer.name, name): count for name, count in outcomes.items()})
    of_files: list[Sample] = [("", {"state": state}, float(count)) for state, count in sorted(files.items())]
    of_cache: list[Sample] = [("", {"layer": it, "outcome": out}, float(n)) for (it, out), n in sorted(hits.items())]
    yield "cqm_indexes_open", "gauge", "Open indexes.", [("", {}, float(len(indexes)))]
    yield "cqm_chunks", "gauge", "Searchable chunks.", _sum(index.chunks for index in indexes)
    yield "cqm_chunks_lacking", "gauge", "Chunks that wait for a model.", _sum(index.lacking for index in indexes)
    yield "cqm_files", "gauge", "Files by state.", of_files
    yield "cqm_index_bytes", "gauge", "Disk space of indexes.", _sum(index.size_bytes for index in indexes)
    problems = _sum(sum(bool(it.problem) for it in index.models) + bool(index.damage) for index in indexes)
    yield "cqm_problems", "gauge", "Models that fail now, and damaged indexes.", problems
    yield "cqm_cache_total", "counter", "Keys looked up in the cache, by layer, since it was opened.", of_cache


def _sum(values: Iterable[int]) -> list[Sample]:
    return [("", {}, float(sum(values)))]


def _buckets(tool: str, duration: _Histogram) -> Iterator[Sample]:
    """Yield the samples of a histogram; each bucket counts those below it too."""
    count = 0
    for bound, found in zip((*map(_value, _BOUNDS), "+Inf"), duration.counts, strict=True):
        count += found
        yield "_bucket", {"tool": tool, "le": bound}, float(count)
    yield "_sum", {"tool": tool}, duration.seconds
    yield "_count", {"tool": tool}, float(count)


def _memory() -> list[Sample]:
    """Resident memory in bytes; nothing where the system does not tell."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return [("", {}, float(pages * os.sysconf("SC_PAGE_SIZE")))]
    return []


def _family(name: str, kind: str, told: str, samples: Sequence[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {told}\n# TYPE {name} {kind}\n"
    for end, labels, value in samples:
        shown = ",".join(f'{label}="{_escaped(it)}"' for label, it in labels.items())
        yield f"{name}{end}{{{shown}}} {_value(value)}\n" if shown else f"{name}{end} {_value(value)}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _value(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else repr(value)
