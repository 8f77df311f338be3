"""Everything that shapes an index and how it is searched: frozen options, a class for each part."""

from dataclasses import dataclass, field
from pathlib import Path

from cqm.chunkers.model import ChunkOptions
from cqm.index.model.secrets import SecretOptions


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Which files of a tree are indexed.

    Attributes:
        max_file_bytes: larger files are skipped as "too large"; a PDF, of which the text is a small part, may have 20
            times as many.
        use_gitignore: honour .gitignore at every level, .git/info/exclude and the global ignore file. `.cqmignore`
            files are always honoured.
        exclude: globs of paths relative to the root that are never indexed, in .gitignore syntax.
        include_generated, include_vendored, include_lock_files: index what is skipped for that reason by default.
        secrets: what is redacted in texts.
    """

    max_file_bytes: int = 1_000_000
    use_gitignore: bool = True
    exclude: tuple[str, ...] = ()
    include_generated: bool = False
    include_vendored: bool = False
    include_lock_files: bool = False
    secrets: SecretOptions = field(default_factory=SecretOptions)


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """Which model embeds, and how it is reached.

    Attributes:
        provider: a row of `cqm.index.embedding.PROVIDERS`: "embedded", "ollama", "openai" (any endpoint of its
            protocol by base_url), a preset of such an endpoint, or "none".
        model: the provider's name of the model; empty for the provider's default.
        base_url: where the service is; empty for the provider's default.
        api_key_env: the environment variable that holds the key (the key itself is never in our files).
        api_key_file: a file that holds nothing but the key; empty for none. The variable wins where it is set.
        dimensions: asked of the provider where it can shorten vectors; 0 for the model's own.
        batch_size: texts a request at most; 0 for the provider's default.
        timeout_seconds: for one request.
        query_prefix, document_prefix: put before each question and each text; None for what the model wants.
        context_tokens: how long a text may be; 0 for what the server or our table says.
        long_texts: what becomes of a longer one: "pool" (the mean of its parts' vectors) or "cut" (how it begins).
        concurrency: requests under way at once, at most; 0 for the provider's default.
        requests_per_minute, tokens_per_minute: limits of the account; 0 for none.
        usd_per_million_tokens: the price; None for what our table says.
        quality: how good its vectors are, to choose by; the higher the better. None for what our table says.
        pull: have Ollama fetch a model that it lacks.
    """

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    dimensions: int = 0
    batch_size: int = 0
    timeout_seconds: float = 60.0
    api_key_file: str = ""
    query_prefix: str | None = None
    document_prefix: str | None = None
    context_tokens: int = 0
    long_texts: str = "pool"
    concurrency: int = 0
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    usd_per_million_tokens: float | None = None
    quality: float | None = None
    pull: bool = False


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """Which of several models embeds what.

    Attributes:
        fallback: models that take over, in this order, while those before them fail.
        prose: the model of documents, issues and other text; None for the same as of code.
        choose: what the order of models goes by: "order" (as written), "cost", "latency" or "quality".
        budget_usd: what one process may spend on each model; 0 for no limit.
        retry_seconds: how long a model that failed is left alone.
        query_seconds: how long a search waits for the vector of its question.
    """

    fallback: tuple[EmbeddingOptions, ...] = ()
    prose: EmbeddingOptions | None = None
    choose: str = "order"
    budget_usd: float = 0.0
    retry_seconds: float = 60.0
    query_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Where vectors, answers and contexts are kept beside the index.

    Attributes:
        enabled: whether there is a cache at all.
        memory_mb: bound of what one process keeps, megabytes; 0 for no such layer.
        redis_url: of a Redis that several machines share ("redis://host:6379/0"); empty for none. A password comes from
            `redis_password_env`.
        redis_password_env: the environment variable that holds it; empty for none.
        disk_mb: bound of the folder, megabytes; 0 for no such layer.
        folder: of the disk layer; None for one below the home of the indexes. All processes share it.
    """

    enabled: bool = True
    memory_mb: int = 64
    redis_url: str = ""
    redis_password_env: str = ""
    disk_mb: int = 2048
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How a chunk's place in its document is told to the model that embeds it.

    Attributes:
        provider: "rules" (path, title, headings or scope), or who writes a sentence or two beside them: "ollama" or
            "openai" (any endpoint of its chat protocol by base_url).
        model, base_url, api_key_env, api_key_file, timeout_seconds: as in `EmbeddingOptions`, of the model that writes.
        place: where the context stands in the embedded text: "prefix", "suffix" or "both".
        max_tokens: of a written context.
        window_tokens: how much of a long document the model is shown.
        concurrency: requests under way at once.
        usd_per_million_input, usd_per_million_output: the price of tokens; None for what our table says.
        budget_usd: what one process may spend on contexts; 0 for no limit.
    """

    provider: str = "rules"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_key_file: str = ""
    timeout_seconds: float = 60.0
    place: str = "prefix"
    max_tokens: int = 100
    window_tokens: int = 8000
    concurrency: int = 4
    usd_per_million_input: float | None = None
    usd_per_million_output: float | None = None
    budget_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """Who looks again at the best results of a search.

    Attributes:
        provider: "none", "http" (a /rerank endpoint) or "onnx" (a cross-encoder in a folder).
        url: of the endpoint, in full.
        model: its name there.
        shape: which requests the endpoint understands, a row of `cqm.index.rerank.SHAPES`; "" to tell by the url.
        api_key_env, api_key_file: as in `EmbeddingOptions`.
        folder: with model.onnx and tokenizer.json, for "onnx".
        depth: how many results are looked at, the best first.
        deadline_seconds: after it the order stands as it was.
        weight: share of the reranker's verdict in the order, the rest is the first stage's, 0 to 1.
    """

    provider: str = "none"
    url: str = ""
    model: str = ""
    shape: str = ""
    api_key_env: str = ""
    api_key_file: str = ""
    folder: str = ""
    depth: int = 50
    deadline_seconds: float = 1.0
    weight: float = 0.5


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Where chunks and their vectors are kept: in the index's own folder, or on a Qdrant server or cluster.

    All but the first six shape what is on the server: another value of one makes another generation.

    Attributes:
        api_key_env, api_key_file: as in `EmbeddingOptions`.
        ca_file: certificates of the authorities that are trusted for https, PEM; empty for the system's.
        timeout_seconds: for one request; whole seconds, rounded up.
        retry_seconds: no request is sent again later than this after it was sent first.
        url: of the server, "http://host:6333"; empty for the folder.
        prefix: begins the name of every collection.
        shard_number: shards of a collection. The frequencies of words are counted in each shard by itself.
        replication_factor: on how many nodes of a cluster each shard is.
        write_consistency_factor: how many of them must have a write before it counts.
        quantization: of the vectors that are searched first, a row of `cqm.index.store.qdrant_models.QUANTIZATIONS`.
        on_disk: leave vectors and the graph on the server's disk instead of its memory.
    """

    api_key_env: str = ""
    api_key_file: str = ""
    ca_file: str = ""
    timeout_seconds: float = 10.0
    retry_seconds: float = 30.0
    url: str = ""
    prefix: str = "cqm"
    shard_number: int = 1
    replication_factor: int = 1
    write_consistency_factor: int = 1
    quantization: str = "none"
    on_disk: bool = False


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Everything that shapes an index.

    Attributes:
        home: the folder that holds the indexes of all roots; None for the user's cache folder.
        in_project: keep the index in `.cqm/` below the root instead.
        workers: processes that read and chunk files; 0 for one per core.
        disk_mb: bound of all indexes below `home`, megabytes; 0 for none. Whole indexes of other roots are deleted to
            keep it, those that were not used for the longest time first.
        scan, chunk, embedding, routes, cache, context, rerank, store: of the parts.
    """

    home: Path | None = None
    in_project: bool = False
    scan: ScanOptions = field(default_factory=ScanOptions)
    chunk: ChunkOptions = field(default_factory=ChunkOptions)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    routes: RouteOptions = field(default_factory=RouteOptions)
    cache: CacheOptions = field(default_factory=CacheOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    rerank: RerankOptions = field(default_factory=RerankOptions)
    store: StoreOptions = field(default_factory=StoreOptions)
    workers: int = 0
    disk_mb: int = 0
