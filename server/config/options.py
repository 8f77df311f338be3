"""Every option there is: the sections of cqm.yml together, and what they mean to the layers below."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Annotated

from pydantic import Field

from cqm.chunkers.model import ChunkOptions
from cqm.index.model.options import (
    CacheOptions,
    ContextOptions,
    EmbeddingOptions,
    RerankOptions,
    RouteOptions,
    ScanOptions,
    StoreOptions,
)
from cqm.index.model.secrets import SecretOptions
from cqm.index.remote.presets import key_variable
from cqm.server.config.field_types import Folder, Section, matching
from cqm.server.config.sections import (
    ChunkSettings,
    IndexSettings,
    ScanSettings,
    SearchSettings,
    SecretSettings,
    ServerSettings,
    WatchSettings,
)
from cqm.server.config.service_sections import (
    CacheSettings,
    ContextSettings,
    EmbeddingSettings,
    LateSettings,
    ProviderSettings,
    RerankSettings,
    StoreSettings,
)
from cqm.server.config.sources import Name
from cqm.server.config.watch_options import WatchOptions

BlockName = Annotated[
    str, matching(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "expected a name of at most 40 letters, digits, _ and -")
]
"""What the user calls a model under `providers`."""


class Options(Section):
    """Every option: one section for each key of cqm.yml."""

    index: IndexSettings = IndexSettings()
    scan: ScanSettings = ScanSettings()
    secrets: SecretSettings = SecretSettings()
    chunk: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    providers: dict[BlockName, ProviderSettings] = Field(default_factory=dict)
    """Models for `embedding.fallback` and `embedding.prose`, each under a name of your own."""
    context: ContextSettings = ContextSettings()
    cache: CacheSettings = CacheSettings()
    store: StoreSettings = StoreSettings()
    rerank: RerankSettings = RerankSettings()
    late: LateSettings = LateSettings()
    search: SearchSettings = SearchSettings()
    server: ServerSettings = ServerSettings()
    watch: WatchSettings = WatchSettings()
    trusted_projects: tuple[Folder, ...] = ()
    """Folders whose own cqm.yml may set every option, as yours may."""

    def sections(self) -> Iterator[tuple[Name, Section]]:
        """Every section with its place; the blocks under `providers` too."""
        for key in type(self).model_fields:
            value = getattr(self, key)
            if isinstance(value, Section):
                yield (key,), value
        yield from ((("providers", name), block) for name, block in self.providers.items())

    def scan_options(self) -> ScanOptions:
        """Which files are indexed."""
        return ScanOptions(**self.scan.model_dump(), secrets=SecretOptions(**self.secrets.model_dump()))

    def chunk_options(self) -> ChunkOptions:
        """The sizes of chunks."""
        return ChunkOptions(**self.chunk.model_dump())

    def embedding_options(self) -> EmbeddingOptions:
        """The model and its service."""
        return _embedding_options(self.embedding)

    def route_options(self) -> RouteOptions:
        """The models that stand in for it, or embed beside it; every name that is given has a block."""
        embedding = self.embedding
        return RouteOptions(
            fallback=tuple(_embedding_options(self.providers[name]) for name in embedding.fallback),
            prose=_embedding_options(self.providers[embedding.prose]) if embedding.prose else None,
            choose=embedding.choose,
            budget_usd=embedding.budget_usd,
            retry_seconds=embedding.retry_seconds,
            query_seconds=embedding.query_seconds,
        )

    def cache_options(self) -> CacheOptions:
        """Where vectors, answers and contexts are kept."""
        return CacheOptions(**self.cache.model_dump())

    def context_options(self) -> ContextOptions:
        """Who writes contexts."""
        return ContextOptions(**self.context.model_dump() | {"api_key_env": _key_variable(self.context)})

    def rerank_options(self) -> RerankOptions:
        """Who looks again at results."""
        return RerankOptions(**self.rerank.model_dump())

    def store_options(self) -> StoreOptions:
        """The server that holds the chunks."""
        store = self.store
        return StoreOptions(**store.model_dump(exclude={"url"}), url=store.url.rstrip("/"))

    def watch_options(self) -> WatchOptions:
        """When changes of files are taken up."""
        watch = self.watch
        return WatchOptions(
            quiet=watch.debounce_ms / 1000, reconcile=watch.reconcile_seconds, poll=watch.poll_seconds, mode=watch.mode
        )


def _embedding_options(section: ProviderSettings) -> EmbeddingOptions:
    values = {field.name: getattr(section, field.name) for field in fields(EmbeddingOptions)}
    return EmbeddingOptions(**values | {"api_key_env": _key_variable(section)})


def _key_variable(section: ProviderSettings | ContextSettings) -> str:
    """The variable of a service's key: who may name another address may have the provider's own key sent there.

    An untrusted project may name neither; see trust.py. The layers below send that key to no address of their own
    accord.
    """
    if section.api_key_env or section.api_key_file or not section.base_url:
        return section.api_key_env
    return key_variable(section.provider)
