"""Facts of models that are known without asking anybody."""

import pytest

from cqm.index.embedding import known_facts
from cqm.index.embedding.service.models import MODELS, UNKNOWN, ModelFacts, facts_of
from cqm.index.model.options import EmbeddingOptions


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("nomic-embed-text", "nomic-embed-text"),
        ("nomic-embed-text:v1.5", "nomic-embed-text"),
        ("nomic-ai/nomic-embed-text-v1.5", "nomic-embed-text"),
        ("text-embedding-nomic-embed-text-v1.5", "nomic-embed-text"),
        ("text-embedding-3-small", "text-embedding-3-small"),
        ("nomic-embed-text-v2-moe", "nomic-embed-text-v2-moe"),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-minilm"),
        ("BAAI/bge-small-en-v1.5", "bge-small-en-v1.5"),
        ("mxbai-embed-large:latest", "mxbai-embed-large"),
        ("intfloat/multilingual-e5-large", "multilingual-e5-large"),
        ("snowflake-arctic-embed:110m", "snowflake-arctic-embed"),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "snowflake-arctic-embed-l-v2.0"),
        ("snowflake-arctic-embed2", "snowflake-arctic-embed2"),
        ("Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding"),
        ("voyage-3.5-lite", "voyage-3.5-lite"),
    ],
)
def test_a_model_is_found_by_the_names_that_services_give_it(name: str, row: str) -> None:
    assert facts_of(name) is MODELS[row]


@pytest.mark.parametrize(
    "name",
    ["", "tiny", "nomic", "nomic-embed-texts", "my-e5-small-v2", "multilingual-e5-large-instruct", "bge-small-zh"],
)
def test_another_model_is_unknown(name: str) -> None:
    assert facts_of(name) is UNKNOWN


def test_prefixes_are_those_of_the_models_cards() -> None:
    assert facts_of("nomic-embed-text").query_prefix == "search_query: "
    assert facts_of("nomic-embed-text").document_prefix == "search_document: "
    assert facts_of("e5-small-v2").document_prefix == "passage: "
    assert facts_of("bge-m3").query_prefix == ""
    assert facts_of("all-minilm").query_prefix == ""


def test_options_win_over_the_table() -> None:
    options = EmbeddingOptions(
        "ollama",
        "nomic-embed-text",
        dimensions=64,
        query_prefix="",
        document_prefix="text: ",
        context_tokens=99,
        usd_per_million_tokens=7.0,
        quality=1.0,
    )
    assert known_facts(options, {}) == ModelFacts(99, 64, 7.0, "", "text: ", 1.0)


@pytest.mark.parametrize(
    ("options", "price"),
    [
        (EmbeddingOptions(), 0.0),
        (EmbeddingOptions("ollama"), 0.0),
        (EmbeddingOptions("ollama", "qwen3-embedding:cloud"), None),
        (EmbeddingOptions("openai"), 0.02),
        (EmbeddingOptions("openai", "text-embedding-3-large"), 0.13),
        (EmbeddingOptions("openai", "text-embedding-3-large", "http://127.0.0.1:1/v1"), 0.13),
        (EmbeddingOptions("openai", "tiny", "http://127.0.0.1:1/v1"), 0.0),
        (EmbeddingOptions("openai", "tiny", "https://example.invalid/v1"), None),
        (EmbeddingOptions("voyage"), 0.18),
        (EmbeddingOptions("jina"), None),
        (EmbeddingOptions("vllm", "jinaai/jina-embeddings-v3", "http://gpu:8000/v1"), 0.0),
    ],
)
def test_only_what_somebody_else_runs_costs_something(options: EmbeddingOptions, price: float | None) -> None:
    assert known_facts(options, {}).usd_per_million_tokens == price


def test_a_cost_is_that_of_the_tokens() -> None:
    assert ModelFacts(usd_per_million_tokens=0.02).usd(3_000_000) == pytest.approx(0.06)
    assert ModelFacts().usd(3_000_000) == 0.0


def test_a_service_that_is_told_the_role_gets_no_prefix() -> None:
    assert known_facts(EmbeddingOptions("jina", "jina-embeddings-v3"), {}).query_prefix == ""
    assert known_facts(EmbeddingOptions("tei", "jinaai/jina-embeddings-v3"), {}).query_prefix != ""
    assert known_facts(EmbeddingOptions("jina", "jina-embeddings-v3", query_prefix="q: "), {}).query_prefix == "q: "


def test_what_is_known_depends_on_where_the_variables_say_a_service_is() -> None:
    """Once only the options' address counted, so that a model of one's own had a price and a cloud's had none."""
    paid, own = EmbeddingOptions("openai"), EmbeddingOptions("openai", "my-model")
    assert known_facts(paid, {}).usd_per_million_tokens == 0.02
    assert known_facts(own, {}).usd_per_million_tokens is None
    assert known_facts(EmbeddingOptions("ollama", "tiny"), {}).usd_per_million_tokens == 0.0
    assert known_facts(own, {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}).usd_per_million_tokens == 0.0
    assert known_facts(paid, {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}) == ModelFacts(
        usd_per_million_tokens=0.0
    ), "nobody knows what it serves by default"
    assert (
        known_facts(EmbeddingOptions("ollama", "tiny"), {"OLLAMA_HOST": "https://ollama.com"}).usd_per_million_tokens
        is None
    )
