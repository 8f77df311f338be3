"""Sections of cqm.yml read only by the server, or joining options of several parts of an index."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from cqm.chunkers.model import option
from cqm.index.model.options import EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.query import SearchMode


def repeated(declaring: type[Any], name: str) -> Any:  # noqa: ANN401 - as `option`, of the field's type
    """Declare an option again as another dataclass does."""
    [declared] = [it for it in fields(declaring) if it.name == name]
    return field(default=declared.default, metadata=declared.metadata)


@dataclass(frozen=True, slots=True)
class IndexSection(IndexOptions):
    """The place of indexes, and the way they are made."""

    shared: bool = option(
        True, "Let any number of processes use an index at once, through one that owns it; false for one at a time."
    )
    idle_seconds: float = option(
        60.0, "How long the owner of an index stays after its last user has gone.", at_least=0, at_most=86_400
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSection(EmbeddingOptions):
    """The model that embeds, its service, and its substitutes."""

    fallback: tuple[str, ...] = option(
        (), "Blocks under `providers` that take over, in this order, while the models before them fail."
    )
    prose: str = option(
        "", "The block under `providers` for documents, issues and other text; the same model as for code when empty."
    )
    choose: str = repeated(RouteOptions, "choose")
    budget_usd: float = repeated(RouteOptions, "budget_usd")
    retry_seconds: float = repeated(RouteOptions, "retry_seconds")
    query_seconds: float = repeated(RouteOptions, "query_seconds")


@dataclass(frozen=True, slots=True)
class SearchSection:
    """Defaults of a search."""

    limit: int = option(10, "Results a page.", at_least=1, at_most=100)
    mode: SearchMode = option(SearchMode.HYBRID, "hybrid, semantic, lexical, exact or regex.")


@dataclass(frozen=True, slots=True)
class ServerSection:
    """The MCP server."""

    roots: tuple[Path, ...] = option(
        (),
        "Folders that clients may index and search; the project around the working folder when empty.",
        kind="folder",
    )
    http: str = option("", "HOST:PORT to serve streamable HTTP on; stdio when empty.", kind="host and port")
    hosts: tuple[str, ...] = option(
        (),
        "Names of this machine that a proxy keeps in the Host header, such as cqm.example.org; HTTP on loopback takes "
        "them beside its own.",
        kind="host name",
    )
    token_budget: int = option(
        6000,
        "Most tokens of a reply, as o200k_base counts; results beyond it are named, not dropped.",
        at_least=200,
        at_most=24_000,
    )
    wait_seconds: float = option(
        45.0, "How long a call waits for indexing before it answers that the work goes on.", at_least=0, at_most=240
    )
    log_format: str = option(
        "text",
        "Lines of the log on standard error: text for people, json for programs, with one for each call.",
        choices=("text", "json"),
    )


@dataclass(frozen=True, slots=True)
class WatchSection:
    """Watching files for changes."""

    enabled: bool = option(True, "Follow the files of an index while serving.")
    debounce_ms: int = option(
        15, "Quiet time after a change before files are read; a third after a whole save.", at_least=0, at_most=10_000
    )
    reconcile_seconds: float = option(
        300.0,
        "Time between two comparisons of the whole tree with the index, for missed events.",
        at_least=1,
        at_most=86_400,
    )
    poll_seconds: float = option(
        5.0,
        "Time between two comparisons where the system cannot report changes.",
        at_least=0.1,
        at_most=3600,
    )
    mode: str = option(
        "auto",
        "events of the system, poll to compare again and again, auto: events, and both on network file systems.",
        choices=("auto", "events", "poll"),
    )


@dataclass(frozen=True, slots=True)
class UiSection:
    """The page in the browser."""

    editor: str = option(
        "vscode",
        "The editor that a result is opened in, by an address that it registers.",
        choices=("vscode", "cursor", "windsurf", "zed", "idea", "none"),
    )
