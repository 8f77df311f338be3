"""All sections of cqm.yml together, and the options made of them for the layers below."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field

from cqm.chunkers.model import ChunkOptions
from cqm.index.model.options import (
    CacheOptions,
    ContextOptions,
    EmbeddingOptions,
    RerankOptions,
    RouteOptions,
    ScanOptions,
    StoreOptions,
    TokenEncoderOptions,
)
from cqm.index.model.secrets import SecretOptions
from cqm.index.remote.presets import key_variable
from cqm.server.config.declared import as_section, instance_of, with_sections
from cqm.server.config.field_types import Folder, Section, matching
from cqm.server.config.sections import (
    EmbeddingSection,
    IndexSection,
    SearchSection,
    ServerSection,
    UiSection,
    WatchSection,
)
from cqm.server.config.sources import Name
from cqm.server.config.watch_options import WatchOptions

BlockName = Annotated[
    str, matching(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "expected a name of at most 40 letters, digits, _ and -")
]
"""The user's name of a model under `providers`."""


@with_sections
class Options(Section):
    """Every option: one section for each key of cqm.yml, in the order of the file."""

    # Else pydantic makes validators of the dataclasses, which nothing uses.
    model_config = ConfigDict(defer_build=True)

    index: IndexSection = IndexSection()
    scan: ScanOptions = ScanOptions()
    secrets: SecretOptions = SecretOptions()
    chunk: ChunkOptions = ChunkOptions()
    embedding: EmbeddingSection = EmbeddingSection()
    providers: dict[BlockName, EmbeddingOptions] = Field(
        default_factory=dict,
        description="Models for `embedding.fallback` and `embedding.prose`, each under a name of your own.",
    )
    context: ContextOptions = ContextOptions()
    cache: CacheOptions = CacheOptions()
    store: StoreOptions = StoreOptions()
    rerank: RerankOptions = RerankOptions()
    late: TokenEncoderOptions = TokenEncoderOptions()
    search: SearchSection = SearchSection()
    server: ServerSection = ServerSection()
    watch: WatchSection = WatchSection()
    ui: UiSection = UiSection()
    groups: dict[BlockName, tuple[Folder, ...]] = Field(
        default_factory=dict,
        description="Folders to search together, under a name of your own: `cqm search --group work`.",
    )
    trusted_projects: tuple[Folder, ...] = Field(
        default=(), description="Folders whose own cqm.yml may set every option, as yours may."
    )

    def sections(self) -> Iterator[tuple[Name, Section]]:
        """Yield every section with its place; the blocks under `providers` too."""
        for key in type(self).model_fields:
            value = getattr(self, key)
            if isinstance(value, Section):
                yield (key,), value
        yield from ((("providers", name), as_section(block)) for name, block in self.providers.items())

    def scan_options(self) -> ScanOptions:
        """Options of listing files."""
        return instance_of(ScanOptions, self.scan, secrets=instance_of(SecretOptions, self.secrets))

    def chunk_options(self) -> ChunkOptions:
        """Return the sizes of chunks."""
        return instance_of(ChunkOptions, self.chunk)

    def embedding_options(self) -> EmbeddingOptions:
        """Return the model and its service."""
        return _embedding_options(self.embedding)

    def route_options(self) -> RouteOptions:
        """Return the models beside it; every name given there has a block."""
        named = self.embedding
        return instance_of(
            RouteOptions,
            named,
            fallback=tuple(_embedding_options(self.providers[name]) for name in named.fallback),
            prose=_embedding_options(self.providers[named.prose]) if named.prose else None,
        )

    def cache_options(self) -> CacheOptions:
        """Return the cache of vectors, answers and contexts."""
        return instance_of(CacheOptions, self.cache)

    def context_options(self) -> ContextOptions:
        """Return the writer of contexts."""
        return instance_of(ContextOptions, self.context, api_key_env=_key_variable(self.context))

    def rerank_options(self) -> RerankOptions:
        """Return the reranker."""
        return instance_of(RerankOptions, self.rerank)

    def store_options(self) -> StoreOptions:
        """Return the server for the chunks."""
        return instance_of(StoreOptions, self.store, url=self.store.url.rstrip("/"))

    def late_options(self) -> TokenEncoderOptions:
        """Return the token encoder of files with a rule for late chunking; none where there is no such rule."""
        if not self.chunk.rules:
            return TokenEncoderOptions()
        from cqm.chunkers.strategies.options import late_pooling  # only where there are rules

        return (
            instance_of(TokenEncoderOptions, self.late) if late_pooling(self.chunk_options()) else TokenEncoderOptions()
        )

    def watch_options(self) -> WatchOptions:
        """Times of the watcher."""
        watch = self.watch
        return WatchOptions(
            quiet=watch.debounce_ms / 1000, reconcile=watch.reconcile_seconds, poll=watch.poll_seconds, mode=watch.mode
        )


def _embedding_options(section: EmbeddingOptions) -> EmbeddingOptions:
    return instance_of(EmbeddingOptions, section, api_key_env=_key_variable(section))


def _key_variable(section: EmbeddingOptions | ContextOptions) -> str:
    """Return the variable of a service's key: naming another address sends the provider's own key there.

    An untrusted project may name neither; see trust.py. The layers below never send the key to another address by
    themselves.
    """
    if section.api_key_env or section.api_key_file or not section.base_url:
        return section.api_key_env
    return key_variable(section.provider)
