"""Facts about configured models known without asking their services."""

from dataclasses import replace

from cqm.index.embedding.service.models import ModelFacts, facts_of, settled
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.addresses import is_loopback, ollama_url
from cqm.index.remote.presets import PRESETS, Preset, is_in_cloud
from cqm.index.remote.variables import Variables

OLLAMA_MODEL = "nomic-embed-text"
"""Ollama's model, unless the options name another."""


_STATIC = {"": ModelFacts(0, 256, 0.0), "code-256": ModelFacts(0, 256, 0.0)}


def known_facts(options: EmbeddingOptions, variables: Variables) -> ModelFacts:
    """Return a model's facts from options, variables and table. Contacts nothing; `Embedder.facts` knows more."""
    if options.provider == "embedded":
        return settled(options, _STATIC.get(options.model, ModelFacts(usd_per_million_tokens=0.0)))
    preset = PRESETS.get(options.provider)
    if preset is None:
        return settled(options, facts_at_ollama(options.model or OLLAMA_MODEL, ollama_url(options.base_url, variables)))
    url = preset.at(options.base_url, variables)
    # The default model of another endpoint is unknown.
    model = options.model or (preset.model if url == preset.url else "")
    return settled(options, facts_at(model, preset, is_local=is_loopback(url)))


def facts_at(model: str, preset: Preset, *, is_local: bool) -> ModelFacts:
    """Return the table's facts of a model; on this machine one without a price there is free."""
    facts = facts_of(model)
    if preset.query_fields:
        facts = replace(facts, query_prefix="", document_prefix="")
    if not preset.is_hosted or (is_local and facts.usd_per_million_tokens is None):
        facts = replace(facts, usd_per_million_tokens=0.0)
    return facts


def facts_at_ollama(model: str, url: str) -> ModelFacts:
    """Return the table's facts of a model in Ollama: free, or with an unknown price if Ollama's cloud runs it."""
    return replace(facts_of(model), usd_per_million_tokens=None if is_in_cloud(model, url) else 0.0)
