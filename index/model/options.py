"""Everything that shapes an index and its searches: frozen options, a class for each part.

A field made by `option` is an option of cqm.yml, with its section, comment and check.
"""

from dataclasses import dataclass, field
from pathlib import Path

from cqm.chunkers.model import ChunkOptions, option
from cqm.index.model.secrets import SecretOptions

_KEY_VARIABLE = "Name of the environment variable that holds the key; the key itself never goes in this file."
_KEY_FILE = "A file that holds only the key, read where the variable is not set."
_TIMEOUT = "Limit of one request."
ALL, NONE = "all", "none"
"""Values of `ScanOptions.include_generated` beside "code"."""
_MOST_SECONDS = 3600
_MOST_USD = 1_000_000


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Which files are indexed.

    Attributes:
        secrets: which secrets are redacted; a section of its own in cqm.yml.
    """

    max_file_bytes: int = option(
        1_000_000,
        'Skip larger files as "too large". PDFs may be 20, SQL (without its rows of data) 16, notebooks and OpenAPI 8,'
        " Markdown and its like 4 times as large.",
        at_least=1,
        at_most=1_000_000_000,
    )
    use_gitignore: bool = option(
        True, "Honour .gitignore files, .git/info/exclude and git's global ignore file; .cqmignore always counts."
    )
    exclude: tuple[str, ...] = option(
        (), "Never index these, in .gitignore syntax; a project's patterns are added to your own."
    )
    include_generated: str = option(
        "code",
        "Which files written by tools to index: code (code and documents, ranked lower), all (minified files, data and"
        " build folders too; true is the same) or none (false).",
        kind="generated files",
    )
    include_vendored: bool = option(False, "Index vendored folders such as node_modules too.")
    include_lock_files: bool = option(False, "Index lock files of package managers too.")
    secrets: SecretOptions = field(default_factory=SecretOptions)


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """One model that embeds, under a name of your choice."""

    provider: str = option(
        "embedded",
        "embedded (in process), ollama, openai (any compatible endpoint), voyage, jina, llamacpp, vllm, tei or none.",
        kind="embedding provider",
    )
    model: str = option("", "The provider's name of the model; its default when empty.")
    base_url: str = option(
        "", "Address of the service, http:// or https://; the provider's default when empty.", kind="url"
    )
    api_key_env: str = option("", _KEY_VARIABLE, kind="variable")
    api_key_file: str = option("", _KEY_FILE, kind="file")
    dimensions: int = option(
        0,
        "Dimensions to ask of models that can shorten their vectors; 0 for the model's own.",
        at_least=0,
        at_most=8192,
    )
    batch_size: int = option(0, "Texts in one request; 0 for the provider's default.", at_least=0, at_most=2048)
    timeout_seconds: float = option(60.0, _TIMEOUT, above=0, at_most=_MOST_SECONDS)
    query_prefix: str | None = option(
        None, 'Put before each question; "" for nothing, no value for the model\'s own.', longest=2000
    )
    document_prefix: str | None = option(
        None, 'Put before each text to be searched; "" for nothing, no value for the model\'s own.', longest=2000
    )
    context_tokens: int = option(
        0,
        "Length of text that the model takes; 0 for the figure of the service or of our table.",
        at_least=0,
        at_most=10_000_000,
    )
    long_texts: str = option(
        "pool",
        "How longer texts are embedded: pool (in parts, whose vectors are averaged) or cut (only the beginning).",
        choices=("pool", "cut"),
    )
    concurrency: int = option(0, "Requests under way at once; 0 for the provider's default.", at_least=0, at_most=64)
    requests_per_minute: int = option(0, "The account's limit of requests; 0 for none.", at_least=0, at_most=1_000_000)
    tokens_per_minute: int = option(0, "The account's limit of tokens; 0 for none.", at_least=0, at_most=1_000_000_000)
    usd_per_million_tokens: float | None = option(
        None, "The price; no value for our table's.", at_least=0, at_most=_MOST_USD
    )
    quality: float | None = option(
        None,
        "Quality of its vectors, for `choose: quality`; higher is better, no value for our table's.",
        at_least=0,
        at_most=1_000_000,
    )
    pull: bool = option(False, "Have Ollama fetch the model when it lacks it.")


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """Which of several models embeds which text.

    Attributes:
        fallback: models to take over, in this order, while those before them fail.
        prose: the model of documents, issues and other text; None for the model of code.
    """

    fallback: tuple[EmbeddingOptions, ...] = ()
    prose: EmbeddingOptions | None = None
    choose: str = option(
        "order",
        "Which of the model and its fallbacks comes first: order (as written), cost, latency or quality.",
        kind="order of models",
    )
    budget_usd: float = option(
        0.0, "US dollars that one process may spend on each model; 0 for no limit.", at_least=0, at_most=_MOST_USD
    )
    retry_seconds: float = option(60.0, "Pause before a model that failed is tried again.", at_least=1, at_most=86_400)
    query_seconds: float = option(
        10.0,
        "How long a search waits for the vector of its question; without it the answer is by words.",
        above=0,
        at_most=_MOST_SECONDS,
    )


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """The cache of vectors, answers and written contexts: nothing is paid for twice."""

    enabled: bool = option(True, "Keep them at all.")
    memory_mb: int = option(64, "Megabytes in the memory of one process; 0 for none.", at_least=0, at_most=65_536)
    redis_url: str = option(
        "",
        "A Redis shared by several machines, such as redis://127.0.0.1:6379/0; none when empty.",
        kind="redis url",
    )
    redis_password_env: str = option(
        "",
        "Name of the environment variable that holds its password; the password itself never goes in this file.",
        kind="variable",
    )
    disk_mb: int = option(
        2048,
        "Megabytes on disk, shared by all processes of this machine; 0 for none.",
        at_least=0,
        at_most=10_000_000,
    )
    folder: Path | None = option(None, "Its folder on disk; beside the indexes when empty.", kind="folder")


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """The context embedded with a chunk: its place in the document."""

    provider: str = option(
        "rules",
        "rules (path, title, headings or scope), or a writer of a sentence or two beside them: ollama or openai.",
        kind="context writer",
    )
    model: str = option("", "The provider's name of the model that writes; its default when empty.")
    base_url: str = option(
        "",
        "Address of the service, for openai any with OpenAI's chat protocol; the provider's default when empty.",
        kind="url",
    )
    api_key_env: str = option("", _KEY_VARIABLE, kind="variable")
    api_key_file: str = option("", _KEY_FILE, kind="file")
    timeout_seconds: float = option(60.0, _TIMEOUT, above=0, at_most=_MOST_SECONDS)
    place: str = option(
        "prefix",
        "Position of the context in the embedded text: prefix, suffix or both.",
        choices=("prefix", "suffix", "both"),
    )
    max_tokens: int = option(100, "Tokens of one written context.", at_least=16, at_most=1000)
    window_tokens: int = option(
        8000, "Tokens of a long document that the model is shown.", at_least=256, at_most=2_000_000
    )
    concurrency: int = option(4, "Requests under way at once.", at_least=1, at_most=64)
    usd_per_million_input: float | None = option(
        None, "The price of tokens that the model reads; no value for our table's.", at_least=0, at_most=_MOST_USD
    )
    usd_per_million_output: float | None = option(
        None, "The price of tokens that the model writes; no value for our table's.", at_least=0, at_most=_MOST_USD
    )
    budget_usd: float = option(
        0.0, "US dollars that one process may spend on contexts; 0 for no limit.", at_least=0, at_most=_MOST_USD
    )


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """A second look at the best results of a search."""

    provider: str = option(
        "none", "none, http (any /rerank endpoint) or onnx (a cross-encoder in a folder).", kind="reranker"
    )
    url: str = option(
        "",
        "The endpoint in full, such as http://127.0.0.1:8080/v1/rerank; the service of the shape when empty.",
        kind="url",
    )
    model: str = option("", "The endpoint's name of the model; its default when empty.")
    shape: str = option(
        "",
        "Requests that the endpoint understands: cohere, jina, voyage, tei or llamacpp; told by the url when empty.",
        kind="rerank shape",
    )
    api_key_env: str = option("", _KEY_VARIABLE, kind="variable")
    api_key_file: str = option("", _KEY_FILE, kind="file")
    folder: str = option("", "The folder of model.onnx and tokenizer.json, for onnx.", kind="file")
    words: bool = option(
        True,
        "Order the first 30 results of a sentence by the words of their lines too, where the built-in model embeds.",
    )
    reader: bool = option(
        True,
        "Have the built-in reader read the first 4 results of a sentence with it, where the built-in model embeds.",
    )
    depth: int = option(50, "Results to look at again, the best first.", at_least=2, at_most=1000)
    deadline_seconds: float = option(1.0, "After so long the order stays as it was.", above=0, at_most=60)
    weight: float = option(
        0.5, "Share of the reranker in the order; the rest is the first stage's.", at_least=0, at_most=1
    )


@dataclass(frozen=True, slots=True)
class TokenEncoderOptions:
    """The model that embeds each token, for late chunking: in previews, and of files with such a rule."""

    encoder: str = option(
        "",
        "A folder with model.onnx and tokenizer.json, or the address of a llama.cpp server that does not pool.",
        kind="folder or url",
    )
    api_key_env: str = option(
        "",
        "Name of the environment variable that holds the server's key; the key itself never goes in this file.",
        kind="variable",
    )

    @property
    def is_served(self) -> bool:
        """Whether a server is asked."""
        return self.encoder.startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """A Qdrant server or cluster that holds the chunks and their vectors, instead of the index's folder.

    Another value of one from `url` to `on_disk` makes another generation.
    """

    url: str = option(
        "", "Its address, such as https://qdrant.example:6333; the index's own folder when empty.", kind="url"
    )
    only_bases: bool = option(
        False,
        "Only publish and take a team's bases there; indexes, and what differs from a base, stay in their folders.",
    )
    prefix: str = option("cqm", "Begins the names of collections and aliases.", kind="collection prefix")
    shard_number: int = option(
        1, "Shards of a collection; each counts the frequencies of words by itself.", at_least=1, at_most=1000
    )
    replication_factor: int = option(1, "Nodes of a cluster that hold each shard.", at_least=1, at_most=100)
    write_consistency_factor: int = option(1, "Nodes that must have a write before it counts.", at_least=1, at_most=100)
    quantization: str = option(
        "none", "The small form of vectors that is searched first: none, int8 or binary.", kind="quantization"
    )
    on_disk: bool = option(False, "Leave vectors on the server's disk, instead of in its memory.")
    api_key_env: str = option("", _KEY_VARIABLE, kind="variable")
    api_key_file: str = option("", _KEY_FILE, kind="file")
    ca_file: str = option(
        "", "Certificates of the authorities that https trusts; those of the system when empty.", kind="file"
    )
    timeout_seconds: float = option(10.0, f"{_TIMEOUT} Rounded up to whole seconds.", above=0, at_most=_MOST_SECONDS)
    retry_seconds: float = option(
        30.0, "How long a request that fails is sent again.", at_least=0, at_most=_MOST_SECONDS
    )

    @property
    def index_url(self) -> str:
        """The address of the server with the indexes; empty if they are in their folders."""
        return "" if self.only_bases else self.url


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """The place of indexes, and the way they are made.

    Attributes:
        late: the model of files cut by late chunking through `ChunkOptions.rules`.
    """

    home: Path | None = option(None, "Folder of all indexes; the user's cache folder when empty.", kind="folder")
    in_project: bool = option(False, "Keep the index in .cqm/ below the indexed folder instead.")
    scan: ScanOptions = field(default_factory=ScanOptions)
    chunk: ChunkOptions = field(default_factory=ChunkOptions)
    embedding: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    routes: RouteOptions = field(default_factory=RouteOptions)
    cache: CacheOptions = field(default_factory=CacheOptions)
    context: ContextOptions = field(default_factory=ContextOptions)
    rerank: RerankOptions = field(default_factory=RerankOptions)
    store: StoreOptions = field(default_factory=StoreOptions)
    late: TokenEncoderOptions = field(default_factory=TokenEncoderOptions)
    workers: int = option(0, "Processes that read and chunk files; 0 for one per core.", at_least=0, at_most=256)
    disk_mb: int = option(
        0,
        "Megabytes of all indexes; beyond, the longest unused of other folders are deleted. 0 for no limit.",
        at_least=0,
    )
