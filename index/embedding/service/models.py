"""Published facts of embedding models, a row each, for values neither the options nor the service give.

Contexts, dimensions and prefixes are from the models' own cards at Hugging Face, or from the documentation of OpenAI
(developers.openai.com/api/docs/models), Voyage (docs.voyageai.com/docs/embeddings) and Jina (jina.ai/models). Prices
are list prices in US dollars a million tokens, read in 2026; they change, so an option wins over them. Jina's are left
out: it sells tokens in packages.

Quality is the mean NDCG@10, in per cent, over the 15 English retrieval tasks of the first MTEB (arXiv:2210.07316), as
the model's card or the card of Snowflake's arctic-embed reports it. Models without a published figure for these tasks
have none, even good ones: figures of other sets of tasks cannot be compared.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cqm.index.model.options import EmbeddingOptions


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Known facts of a model.

    Attributes:
        context_tokens: longest text; 0 if unknown.
        dimensions: of its vectors, unless others are requested; 0 if unknown.
        usd_per_million_tokens: the price; 0.0 for a model on the user's machines, None if unknown.
        query_prefix, document_prefix: put before each question and each text.
        quality: see this module; higher is better, None if unknown.
    """

    context_tokens: int = 0
    dimensions: int = 0
    usd_per_million_tokens: float | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    quality: float | None = None

    def usd(self, tokens: int) -> float:
        """Cost in dollars; 0.0 without a known price."""
        return tokens * (self.usd_per_million_tokens or 0.0) / 1_000_000


UNKNOWN = ModelFacts()

_BGE_QUERY = "Represent this sentence for searching relevant passages: "
_CODE_QUERY = "Represent this query for searching relevant code: "
_QWEN_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_JINA_CODE = ("Find the most relevant code snippet given the following query:\n", "Candidate code snippet:\n")
_JINA_3 = ("Represent the query for retrieving evidence documents: ", "Represent the document for retrieval: ")
_NOMIC = ("search_query: ", "search_document: ")
_E5 = ("query: ", "passage: ")
_GEMMA = ("task: search result | query: ", "title: none | text: ")

MODELS: Mapping[str, ModelFacts] = {
    # OpenAI: prices and contexts of its model pages, retrieval of its announcement of January 2024 and the leaderboard.
    "text-embedding-3-small": ModelFacts(8192, 1536, 0.02),
    "text-embedding-3-large": ModelFacts(8192, 3072, 0.13, quality=55.44),
    "text-embedding-ada-002": ModelFacts(8192, 1536, 0.10, quality=49.25),
    # Voyage: a field of the request marks questions; see `presets`.
    "voyage-code-3": ModelFacts(32_000, 1024, 0.18),
    "voyage-3-large": ModelFacts(32_000, 1024, 0.18),
    "voyage-3.5": ModelFacts(32_000, 1024, 0.06),
    "voyage-3.5-lite": ModelFacts(32_000, 1024, 0.02),
    "voyage-3": ModelFacts(32_000, 1024, 0.06),
    "voyage-3-lite": ModelFacts(32_000, 512, 0.02),
    "voyage-4-large": ModelFacts(32_000, 1024),
    "voyage-4": ModelFacts(32_000, 1024),
    "voyage-4-lite": ModelFacts(32_000, 1024),
    # Jina: prefixes for its open weights; its own service uses a field of the request; see `presets`.
    "jina-embeddings-v2-base-code": ModelFacts(8192, 768),
    "jina-embeddings-v3": ModelFacts(8192, 1024, None, *_JINA_3),
    "jina-embeddings-v4": ModelFacts(32_768, 2048, None, "Query: ", "Passage: "),
    "jina-code-embeddings-0.5b": ModelFacts(32_768, 896, None, *_JINA_CODE),
    "jina-code-embeddings-1.5b": ModelFacts(32_768, 1536, None, *_JINA_CODE),
    # Open weights. Nomic's context is from its published weights; with scaled positions they take 8,192.
    "nomic-embed-text": ModelFacts(2048, 768, None, *_NOMIC, quality=53.01),
    "nomic-embed-text-v2-moe": ModelFacts(512, 768, None, *_NOMIC),
    "nomic-embed-code": ModelFacts(32_768, 3584, None, _CODE_QUERY),
    "coderankembed": ModelFacts(8192, 768, None, _CODE_QUERY),
    "mxbai-embed-large": ModelFacts(512, 1024, None, _BGE_QUERY, quality=54.39),
    "bge-small-en-v1.5": ModelFacts(512, 384, None, _BGE_QUERY, quality=51.68),
    "bge-base-en-v1.5": ModelFacts(512, 768, None, _BGE_QUERY, quality=53.25),
    "bge-large-en-v1.5": ModelFacts(512, 1024, None, _BGE_QUERY, quality=54.29),
    "bge-large": ModelFacts(512, 1024, None, _BGE_QUERY, quality=54.29),
    "bge-m3": ModelFacts(8192, 1024),
    "e5-small-v2": ModelFacts(512, 384, None, *_E5, quality=49.04),
    "e5-base-v2": ModelFacts(512, 768, None, *_E5, quality=50.29),
    "e5-large-v2": ModelFacts(512, 1024, None, *_E5, quality=50.56),
    "multilingual-e5-small": ModelFacts(512, 384, None, *_E5),
    "multilingual-e5-base": ModelFacts(512, 768, None, *_E5),
    "multilingual-e5-large": ModelFacts(512, 1024, None, *_E5),
    "snowflake-arctic-embed": ModelFacts(512, 0, None, _BGE_QUERY),
    "snowflake-arctic-embed-xs": ModelFacts(512, 384, None, _BGE_QUERY, quality=50.15),
    "snowflake-arctic-embed-s": ModelFacts(512, 384, None, _BGE_QUERY, quality=51.98),
    "snowflake-arctic-embed-m": ModelFacts(512, 768, None, _BGE_QUERY, quality=54.90),
    "snowflake-arctic-embed-l": ModelFacts(512, 1024, None, _BGE_QUERY, quality=55.98),
    "snowflake-arctic-embed-m-v2.0": ModelFacts(8192, 768, None, "query: "),
    "snowflake-arctic-embed-l-v2.0": ModelFacts(8192, 1024, None, "query: "),
    "snowflake-arctic-embed2": ModelFacts(8192, 1024, None, "query: "),
    "qwen3-embedding": ModelFacts(32_768, 0, None, _QWEN_QUERY),
    "embeddinggemma": ModelFacts(2048, 768, None, *_GEMMA),
    "all-minilm": ModelFacts(256, 384, quality=41.95),
}
"""Facts by the model's name in lower case, without its publisher and its tag."""

_OF_OTHER_KIND = re.compile(r"instruct")
"""Words making a row for the rest of the name wrong: e5's instruct models have other prefixes."""


def facts_of(model: str) -> ModelFacts:
    """Return the table's facts of a model; `UNKNOWN` without a row.

    Parameters:
        model: its name at a service: "nomic-embed-text:v1.5", "BAAI/bge-small-en-v1.5", "all-MiniLM-L6-v2". A longer
            name of a known model counts as the model, the longest row first.
    """
    name = model.lower().rpartition("/")[2].partition(":")[0]
    if name not in MODELS:
        name = name.removeprefix("text-embedding-")  # the form of LM Studio
    if _OF_OTHER_KIND.search(name):
        return UNKNOWN
    rows = [row for row in MODELS if re.match(rf"{re.escape(row)}(?![a-z0-9])", name)]
    return MODELS[max(rows, key=len)] if rows else UNKNOWN


def settled(options: EmbeddingOptions, facts: ModelFacts) -> ModelFacts:
    """Return the facts, overridden by the options."""
    price, quality = options.usd_per_million_tokens, options.quality
    return ModelFacts(
        options.context_tokens or facts.context_tokens,
        options.dimensions or facts.dimensions,
        facts.usd_per_million_tokens if price is None else price,
        facts.query_prefix if options.query_prefix is None else options.query_prefix,
        facts.document_prefix if options.document_prefix is None else options.document_prefix,
        facts.quality if quality is None else quality,
    )
