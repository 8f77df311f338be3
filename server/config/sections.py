"""The sections of cqm.yml about files, chunks, searching and serving."""

from typing import Literal

from pydantic import Field

from cqm.index.model.query import SearchMode
from cqm.server.config.field_types import Folder, Pattern, Section


class IndexSettings(Section):
    """Where indexes live and how they are made."""

    home: Folder | None = None
    """Folder of all indexes; the user's cache folder when empty."""
    in_project: bool = False
    """Keep the index in .cqm/ below the indexed folder instead."""
    workers: int = Field(default=0, ge=0, le=256)
    """Processes that read and chunk files; 0 for one per core."""
    disk_mb: int = Field(default=0, ge=0)
    """Megabytes that all indexes may take: those of other folders, unused for longest, are deleted; 0 for no limit."""
    shared: bool = True
    """Let any number of processes use an index at once, through one that owns it; false for one at a time."""
    idle_seconds: float = Field(default=60.0, ge=0, le=86_400, allow_inf_nan=False)
    """How long the process that owns an index stays when the last one that used it is gone."""


class ScanSettings(Section):
    """Which files are indexed."""

    max_file_bytes: int = Field(default=1_000_000, ge=1, le=1_000_000_000)
    """Larger files are skipped, and counted as "too large". PDFs may be 20 times as large."""
    use_gitignore: bool = True
    """Honour .gitignore files, .git/info/exclude and git's global ignore file; .cqmignore always counts."""
    exclude: tuple[str, ...] = ()
    """Patterns in .gitignore syntax for what is never indexed; a project's are added to your own."""
    include_generated: bool = False
    """Index minified and generated files too."""
    include_vendored: bool = False
    """Index vendored folders such as node_modules too."""
    include_lock_files: bool = False
    """Index lock files of package managers too."""


class SecretSettings(Section):
    """What is redacted before it is stored, sent or shown. Only your own cqm.yml may set these."""

    redact: bool = True
    """Redact secrets that are found in files."""
    allow: tuple[Pattern, ...] = ()
    """Regular expressions of values that stay as they are, such as ^AKIAIOSFODNN7EXAMPLE$."""
    allow_paths: tuple[str, ...] = ()
    """Files in which nothing is redacted, and that are indexed whatever their names say, in .gitignore syntax."""


class ChunkSettings(Section):
    """How files are cut, in estimated tokens."""

    max_tokens: int = Field(default=512, ge=64, le=8192)
    """A symbol within this size stays whole, a larger one is split."""
    min_tokens: int = Field(default=128, ge=0, le=8192)
    """Smaller neighbours are packed together; at most max_tokens."""
    max_parse_bytes: int = Field(default=1_000_000, ge=0, le=16_000_000)
    """Larger files are chunked by lines, without parsing."""
    overlap_percent: int = Field(default=25, ge=0, le=50)
    """What a part of a divided section of HTML or text repeats of the part before it, in percent of max_tokens."""
    apart: bool = False
    """Make every member of a class a chunk of its own, however small."""


class SearchSettings(Section):
    """What a search does when it is not told otherwise."""

    limit: int = Field(default=10, ge=1, le=100)
    """Results a page."""
    mode: SearchMode = SearchMode.HYBRID
    """hybrid, semantic or lexical."""


class ServerSettings(Section):
    """The MCP server."""

    roots: tuple[Folder, ...] = ()
    """Folders that clients may index and search; the working folder when empty."""
    http: str = Field(default="", pattern=r"^((\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5})?$")
    """HOST:PORT to serve streamable HTTP on; stdio when empty."""
    token_budget: int = Field(default=6000, ge=200, le=24_000)
    """Estimated tokens of one reply to a search; what does not fit is named, not dropped."""
    wait_seconds: float = Field(default=45.0, ge=0, le=240, allow_inf_nan=False)
    """How long a call waits for indexing before it answers that the work goes on."""


class WatchSettings(Section):
    """How changes of files are noticed."""

    enabled: bool = True
    """Follow the files of an index while serving."""
    debounce_ms: int = Field(default=15, ge=0, le=10_000)
    """Quiet time after a change before files are read."""
    reconcile_seconds: float = Field(default=300.0, ge=1, le=86_400, allow_inf_nan=False)
    """Time between two comparisons of the whole tree with the index, for missed events."""
    poll_seconds: float = Field(default=5.0, ge=0.1, le=3600, allow_inf_nan=False)
    """Time between two comparisons where the system cannot report changes."""
    mode: Literal["auto", "events", "poll"] = "auto"
    """events of the system, poll to compare again and again, auto: events, and both on network file systems."""
