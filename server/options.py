"""Every option there is, by section, with its default, its range and one line of what it does."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from cqm.chunkers.model import ChunkOptions
from cqm.index.model import SearchMode
from cqm.index.options import EmbeddingOptions, ScanOptions
from cqm.server.pending import WatchOptions


def _absolute(path: Path, info: ValidationInfo) -> Path:
    try:
        expanded = path.expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    base = (info.context or {}).get("base", Path())
    return Path(os.path.abspath(base / expanded))  # noqa: PTH100 - Path.resolve() would follow links


Folder = Annotated[Path, AfterValidator(_absolute)]
"""A folder; `~` is the home folder, and a relative path starts at the file that names it."""


def _folder_or_url(place: str, info: ValidationInfo) -> str:
    is_elsewhere = not place or place.startswith(("http://", "https://"))
    return place if is_elsewhere else str(_absolute(Path(place), info))


FolderOrUrl = Annotated[str, AfterValidator(_folder_or_url)]
"""The same, or an address, http:// or https://, or empty."""


class Section(BaseModel):
    """Options under one key of cqm.yml."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class IndexSettings(Section):
    """Where indexes live and how they are made."""

    home: Folder | None = None
    """Folder of all indexes; the user's cache folder when empty."""
    in_project: bool = False
    """Keep the index in .cqm/ below the indexed folder instead."""
    workers: int = Field(default=0, ge=0, le=256)
    """Processes that read and chunk on large runs; 0 for one per core."""


class ScanSettings(Section):
    """Which files are indexed."""

    max_file_bytes: int = Field(default=1_000_000, ge=1, le=1_000_000_000)
    """Larger files are skipped, and counted as "too large". PDFs may be 20 times as large."""
    use_gitignore: bool = True
    """Honour .gitignore files, .git/info/exclude and git's global ignore file; .cqmignore always counts."""
    exclude: tuple[str, ...] = ()
    """Patterns in .gitignore syntax for what is never indexed."""
    include_generated: bool = False
    """Index minified and generated files too."""
    include_vendored: bool = False
    """Index vendored folders such as node_modules too."""
    include_lock_files: bool = False
    """Index lock files of package managers too."""


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


class EmbeddingSettings(Section):
    """Which model embeds, and how it is reached."""

    provider: Literal["embedded", "ollama", "openai", "none"] = "embedded"
    """embedded (in process), ollama, openai (any compatible endpoint) or none (lexical search only)."""
    model: str = ""
    """The provider's name of the model; its default when empty."""
    base_url: str = Field(default="", pattern=r"^(https?://[^\s\\@]+)?$")
    """Where the service is, http:// or https://; the provider's default when empty."""
    api_key_env: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    """Name of the environment variable that holds the key; a key itself never stands in a file."""
    dimensions: int = Field(default=0, ge=0, le=8192)
    """Dimensions to ask of models that can shorten their vectors; 0 for the model's own."""
    batch_size: int = Field(default=0, ge=0, le=2048)
    """Texts in one request; 0 for the provider's default."""
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, allow_inf_nan=False)
    """Limit of one request."""


class LateSettings(Section):
    """The model that tells the embedding of each token, for previews of late chunking."""

    encoder: FolderOrUrl = ""
    """A folder with model.onnx and tokenizer.json, or the address of a llama.cpp server that does not pool."""
    api_key_env: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")
    """Name of the environment variable that holds the server's key; a key itself never stands in a file."""


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
    debounce_ms: int = Field(default=30, ge=0, le=10_000)
    """Quiet time after a change before files are read."""
    reconcile_seconds: float = Field(default=300.0, ge=1, le=86_400, allow_inf_nan=False)
    """Time between two comparisons of the whole tree with the index, for missed events."""
    poll_seconds: float = Field(default=5.0, ge=0.1, le=3600, allow_inf_nan=False)
    """Time between two comparisons where the system cannot report changes."""


class Options(Section):
    """Every option: one section for each key of cqm.yml."""

    index: IndexSettings = IndexSettings()
    scan: ScanSettings = ScanSettings()
    chunk: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    late: LateSettings = LateSettings()
    search: SearchSettings = SearchSettings()
    server: ServerSettings = ServerSettings()
    watch: WatchSettings = WatchSettings()
    trusted_projects: tuple[Folder, ...] = ()
    """Folders whose own cqm.yml may choose the embedding service, the place of the index and the open roots."""

    def scan_options(self) -> ScanOptions:
        """Which files are indexed."""
        return ScanOptions(**self.scan.model_dump())

    def chunk_options(self) -> ChunkOptions:
        """The sizes of chunks."""
        return ChunkOptions(**self.chunk.model_dump())

    def embedding_options(self) -> EmbeddingOptions:
        """The model and its service."""
        return EmbeddingOptions(**self.embedding.model_dump())

    def watch_options(self) -> WatchOptions:
        """When changes of files are taken up."""
        watch = self.watch
        return WatchOptions(quiet=watch.debounce_ms / 1000, reconcile=watch.reconcile_seconds, poll=watch.poll_seconds)
