"""Recipes as they were before they had names, the `repr` of dataclasses: an index of then is not built again."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

from cqm.chunkers.model import CHUNKER_VERSION
from cqm.index.contextual import writer_name
from cqm.index.embedding.opening import recipe
from cqm.index.generations.recipe import default_of
from cqm.index.manifest.schema import FORMAT_VERSION
from cqm.index.model.options import IndexOptions
from cqm.index.model.secrets import REDACTION_VERSION
from cqm.index.store.open import store_shape
from cqm.index.text.headers import TERMS_VERSION

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "ChunkOptions": ("max_tokens", "min_tokens", "max_parse_bytes", "overlap_percent", "apart", "details"),
    "SecretOptions": ("redact", "allow", "allow_paths"),
    "EmbeddingOptions": (
        *("provider", "model", "base_url", "api_key_env", "dimensions", "batch_size", "timeout_seconds"),
        *("api_key_file", "query_prefix", "document_prefix", "context_tokens", "long_texts", "concurrency"),
        *("requests_per_minute", "tokens_per_minute", "usd_per_million_tokens", "quality", "pull"),
    ),
}
"""The options of then, in the order of then."""


def former_recipe_text(options: IndexOptions, spaces: Sequence[str] = ()) -> str:
    """The recipe in its former form; empty where an option that is set could not be written so.

    Parameters:
        options, spaces: as for `generation_name`.
    """
    chunk, secrets = options.chunk, options.scan.secrets
    routes = recipe(options)
    parts = [("ChunkOptions", chunk), ("SecretOptions", secrets)]
    parts += [("EmbeddingOptions", model) for models in routes for model in models]
    if any(_sets_a_newer_option(name, part) for name, part in parts):
        return ""
    shape = (
        *(FORMAT_VERSION, CHUNKER_VERSION, TERMS_VERSION, _as_then("ChunkOptions", chunk)),
        tuple(tuple(_as_then("EmbeddingOptions", model) for model in models) for models in routes),
        (writer_name(options.context), options.context.place),
        *(*spaces, REDACTION_VERSION, _as_then("SecretOptions", secrets), *store_shape(options.store)),
    )
    return repr(shape)


def _sets_a_newer_option(name: str, options: Any) -> bool:  # noqa: ANN401 - a dataclass
    newer = [it for it in fields(options) if it.name not in _FIELDS[name]]
    return any(getattr(options, it.name) != default_of(it) for it in newer)


def _as_then(name: str, options: object) -> object:
    """Something whose `repr` is that of the dataclass of then."""
    return type(name, (SimpleNamespace,), {})(**{it: getattr(options, it) for it in _FIELDS[name]})
