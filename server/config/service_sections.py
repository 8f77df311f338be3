"""The sections of cqm.yml about models, the services that run them, and the cache of what they gave."""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cqm.server.config.field_types import (
    Folder,
    FolderOrUrl,
    Place,
    RedisUrl,
    Seconds,
    Section,
    Url,
    Usd,
    Variable,
    matching,
)


def _row_of(rows: Callable[[], Iterable[str]]) -> AfterValidator:
    """Takes the names of a table's rows only; the table is loaded when an option is given."""

    def checked(name: str) -> str:
        *others, last = [repr(known) for known in rows()]
        if repr(name) not in {*others, last}:
            raise ValueError(f"Input should be {', '.join(others)} or {last}")
        return name

    return AfterValidator(checked)


def _embedders() -> Iterable[str]:
    from cqm.index.embedding import PROVIDERS

    return PROVIDERS


def _orders() -> Iterable[str]:
    from cqm.index.embedding.opening import ORDERS

    return ORDERS


def _writers() -> Iterable[str]:
    from cqm.index.contextual import CHATS, RULES

    return (RULES, *CHATS)


def _rerankers() -> Iterable[str]:
    from cqm.index.rerank import PROVIDERS

    return PROVIDERS


def _shapes() -> Iterable[str]:
    from cqm.index.rerank import SHAPES

    return ("", *SHAPES)


def _quantizations() -> Iterable[str]:
    from cqm.index.store.qdrant_models import QUANTIZATIONS

    return QUANTIZATIONS


class ProviderSettings(Section):
    """One model that embeds, under a name of the user's choice."""

    provider: Annotated[str, _row_of(_embedders)] = "embedded"
    """embedded (in process), ollama, openai (any compatible endpoint), voyage, jina, llamacpp, vllm, tei or none."""
    model: str = ""
    """The provider's name of the model; its default when empty."""
    base_url: Url = ""
    """Where the service is, http:// or https://; the provider's default when empty."""
    api_key_env: Variable = ""
    """Name of the environment variable that holds the key; a key itself never stands in this file."""
    api_key_file: Place = ""
    """A file with nothing but the key in it, read where the variable is not set."""
    dimensions: int = Field(default=0, ge=0, le=8192)
    """Dimensions to ask of models that can shorten their vectors; 0 for the model's own."""
    batch_size: int = Field(default=0, ge=0, le=2048)
    """Texts in one request; 0 for the provider's default."""
    timeout_seconds: Seconds = 60.0
    """Limit of one request."""
    query_prefix: str | None = Field(default=None, max_length=2000)
    """Put before each question; "" for nothing, and what the model wants when there is no value here."""
    document_prefix: str | None = Field(default=None, max_length=2000)
    """Put before each text to be searched, in the same way."""
    context_tokens: int = Field(default=0, ge=0, le=10_000_000)
    """How long a text the model takes; 0 for what the service or our table says."""
    long_texts: Literal["pool", "cut"] = "pool"
    """What becomes of a longer text: pool (embedded in parts, whose mean counts) or cut (only how it begins counts)."""
    concurrency: int = Field(default=0, ge=0, le=64)
    """Requests under way at once; 0 for the provider's default."""
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000)
    """The account's limit of requests; 0 for none."""
    tokens_per_minute: int = Field(default=0, ge=0, le=1_000_000_000)
    """The account's limit of tokens; 0 for none."""
    usd_per_million_tokens: Usd | None = None
    """The price; what our table says when there is no value here."""
    quality: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    """How good its vectors are, for `choose: quality`, the higher the better; what our table says without a value."""
    pull: bool = False
    """Have Ollama fetch the model when it lacks it."""


class EmbeddingSettings(ProviderSettings):
    """The model that embeds, how it is reached, and which others stand in for it."""

    fallback: tuple[str, ...] = ()
    """Blocks under `providers` that take over, in this order, while the models before them fail."""
    prose: str = ""
    """The block under `providers` for documents, issues and other text; the same model as for code when empty."""
    choose: Annotated[str, _row_of(_orders)] = "order"
    """Which of the model and its fallbacks comes first: order (as written), cost, latency or quality."""
    budget_usd: Usd = 0.0
    """US dollars that one process may spend on each model; 0 for no limit."""
    retry_seconds: float = Field(default=60.0, ge=1, le=86_400, allow_inf_nan=False)
    """How long a model that failed is left alone before it is tried again."""
    query_seconds: Seconds = 10.0
    """How long a search waits for the vector of its question; without it the answer is by words."""


class LateSettings(Section):
    """The model that tells the embedding of each token, for previews of late chunking."""

    encoder: FolderOrUrl = ""
    """A folder with model.onnx and tokenizer.json, or the address of a llama.cpp server that does not pool."""
    api_key_env: Variable = ""
    """Name of the environment variable that holds the server's key; a key itself never stands in this file."""


class CacheSettings(Section):
    """Where vectors, answers and written contexts are kept, so that nothing is paid for twice."""

    enabled: bool = True
    """Keep them at all."""
    memory_mb: int = Field(default=64, ge=0, le=65_536)
    """Megabytes in the memory of one process; 0 for none."""
    redis_url: RedisUrl = ""
    """A Redis that several machines share, such as redis://127.0.0.1:6379/0; none when empty."""
    redis_password_env: Variable = ""
    """Name of the environment variable that holds its password; a password itself never stands in this file."""
    disk_mb: int = Field(default=2048, ge=0, le=10_000_000)
    """Megabytes on disk, shared by all processes of this machine; 0 for none."""
    folder: Folder | None = None
    """Where on disk; beside the indexes when empty."""


class StoreSettings(Section):
    """A Qdrant server or cluster that holds the chunks and their vectors, instead of the index's folder."""

    url: Url = ""
    """Where it is, such as https://qdrant.example:6333; the index's own folder when empty."""
    api_key_env: Variable = ""
    """Name of the environment variable that holds the key; a key itself never stands in this file."""
    api_key_file: Place = ""
    """A file with nothing but the key in it, read where the variable is not set."""
    ca_file: Place = ""
    """Certificates of the authorities that https trusts; those of the system when empty."""
    prefix: Annotated[
        str, matching("[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "expected at most 40 letters, digits, _ and -")
    ] = "cqm"
    """Begins the names of collections and aliases."""
    shard_number: int = Field(default=1, ge=1, le=1000)
    """Shards of a collection; each counts the frequencies of words by itself."""
    replication_factor: int = Field(default=1, ge=1, le=100)
    """Nodes of a cluster that hold each shard."""
    write_consistency_factor: int = Field(default=1, ge=1, le=100)
    """Nodes that must have a write before it counts."""
    quantization: Annotated[str, _row_of(_quantizations)] = "none"
    """The small form of vectors that is searched first: none, int8 or binary."""
    on_disk: bool = False
    """Leave vectors on the server's disk, instead of in its memory."""
    timeout_seconds: Seconds = 10.0
    """Limit of one request."""
    retry_seconds: float = Field(default=30.0, ge=0, le=3600, allow_inf_nan=False)
    """How long a request that fails is sent again."""


class ContextSettings(Section):
    """How a chunk's place in its document is told to the model that embeds it."""

    provider: Annotated[str, _row_of(_writers)] = "rules"
    """rules (path, title, headings or scope), or who writes a sentence or two beside them: ollama or openai."""
    model: str = ""
    """The provider's name of the model that writes; its default when empty."""
    base_url: Url = ""
    """Where the service is, any of the chat protocol of OpenAI for openai; the provider's default when empty."""
    api_key_env: Variable = ""
    """Name of the environment variable that holds the key; a key itself never stands in this file."""
    api_key_file: Place = ""
    """A file with nothing but the key in it, read where the variable is not set."""
    timeout_seconds: Seconds = 60.0
    """Limit of one request."""
    place: Literal["prefix", "suffix", "both"] = "prefix"
    """Where the context stands in the embedded text: prefix, suffix or both."""
    max_tokens: int = Field(default=100, ge=16, le=1000)
    """Tokens of one written context."""
    window_tokens: int = Field(default=8000, ge=256, le=2_000_000)
    """Tokens of a long document that the model is shown."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Requests under way at once."""
    usd_per_million_input: Usd | None = None
    """The price of what the model reads; what our table says when there is no value here."""
    usd_per_million_output: Usd | None = None
    """The price of what the model writes, in the same way."""
    budget_usd: Usd = 0.0
    """US dollars that one process may spend on contexts; 0 for no limit."""


class RerankSettings(Section):
    """Who looks again at the best results of a search."""

    provider: Annotated[str, _row_of(_rerankers)] = "none"
    """none, http (any /rerank endpoint) or onnx (a cross-encoder in a folder)."""
    url: Url = ""
    """The endpoint in full, such as http://127.0.0.1:8080/v1/rerank; that of the shape's own service when empty."""
    model: str = ""
    """The endpoint's name of the model; its default when empty."""
    shape: Annotated[str, _row_of(_shapes)] = ""
    """Which requests the endpoint understands: cohere, jina, voyage, tei or llamacpp; told by the url when empty."""
    api_key_env: Variable = ""
    """Name of the environment variable that holds the key; a key itself never stands in this file."""
    api_key_file: Place = ""
    """A file with nothing but the key in it, read where the variable is not set."""
    folder: Place = ""
    """With model.onnx and tokenizer.json, for onnx."""
    depth: int = Field(default=50, ge=2, le=1000)
    """Results that are looked at, the best first."""
    deadline_seconds: float = Field(default=1.0, gt=0, le=60, allow_inf_nan=False)
    """After so long the order stands as it was."""
    weight: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Share of the reranker's verdict in the order; the rest is the first stage's."""
