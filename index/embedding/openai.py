"""Vectors of OpenAI or any compatible endpoint, through the official client."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.tokens import Tokenizer, openai_tokenizer
from cqm.index.embedding.capabilities import Told, ask_list, ask_tei, tei_beginning
from cqm.index.embedding.model_facts import facts_at
from cqm.index.embedding.service.base import Embedder
from cqm.index.embedding.service.embedder import ServedEmbedder
from cqm.index.embedding.service.models import ModelFacts, settled
from cqm.index.embedding.service.service import Answer, Limits, Role
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.endpoint import EMBEDDING
from cqm.index.remote.openai import OpenAIServer, connect_openai
from cqm.index.remote.presets import PRESETS, Preset
from cqm.index.remote.rates import Clock
from cqm.index.remote.retries import RetryPolicy, with_retries
from cqm.index.remote.variables import Variables

DEFAULT_BATCH = 100
DEFAULT_WIDTH = 4
"""Requests under way at once, for a service on another machine."""
_CUT_MARGIN = 8
"""Tokens: cutting through a character may turn it into more tokens."""
_NAMED = 10
"""Models listed in a message at most."""
_SPECIAL = 2
"""Tokens a model adds around a text."""
_TELL: Mapping[str, Callable[[OpenAIServer, str], Told]] = {"tei": ask_tei}
"""Programs asked for their models by another request than the protocol's list."""


def openai_embedder(
    options: EmbeddingOptions,
    variables: Variables,
    retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
) -> Embedder:
    """Return an embedder over an OpenAI-compatible endpoint, contacted at its first use.

    Parameters:
        options: the provider is a row of `PRESETS`, with defaults for model, address, key variable and limits. An
            endpoint on this machine needs no key; one without a default model needs a name unless it lists its models.
    """
    return ServedEmbedder(options, lambda: _find(options, variables, retries), retries, Clock())


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model at the endpoint; a `Service`."""

    server: OpenAIServer
    preset: Preset
    provider: str
    model: str
    version: str
    facts: ModelFacts
    limits: Limits
    dimensions: int
    """Requested from the server; 0 for the model's own."""
    told_now: Callable[[], Told]
    """Asks the endpoint again for its models."""
    counts: bool
    """Whether the endpoint counts tokens by text-embeddings-inference's protocol and may cut silently."""

    @property
    def source(self) -> str:
        return f"{self.model} at {self.server.endpoint}"

    def embed(self, texts: Sequence[str], role: Role, *, truncate: bool = False) -> Answer:
        told = self.preset.fields(self.model, is_query=role is Role.QUERY)
        length = {self.preset.length_field: self.dimensions} if self.dimensions else {}
        long = self.preset.cut_fields if truncate else self.preset.refuse_fields
        fields = {**told, **length, **long} or None
        with self.server.translating(self.source):
            answer = self.server.client.embeddings.create(input=list(texts), model=self.model, extra_body=fields)
            rows = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
            tokens = getattr(answer.usage, "total_tokens", None)
            return Answer(rows, tokens if isinstance(tokens, int) and tokens > 0 else None)

    def is_exchanged(self) -> bool:
        told = self.told_now()
        # An endpoint reporting nothing just now hasn't reported another model.
        found = (told.model, _version(self.server, self.preset, told))
        return not told.is_silent and found != (self.model, self.version)

    def beginning(self, text: str) -> str:
        context = self.facts.context_tokens
        if not context or len(text.encode()) + _SPECIAL <= context:
            return text  # No token is shorter than a byte.
        if self.counts:
            return tei_beginning(self.server, text, context)
        tokenizer = _tokenizer(self.model)
        if tokenizer is None:
            return text
        tokens = tokenizer.encode(text)
        return text if len(tokens) <= context else tokenizer.decode(tokens[: context - _CUT_MARGIN])

    def close(self) -> None:
        self.server.close()


def _tokenizer(model: str) -> Tokenizer | None:
    try:
        return openai_tokenizer(model)
    except ChunkOptionError:
        return None


def _find(options: EmbeddingOptions, variables: Variables, retries: RetryPolicy) -> _ServedModel:
    """Ask the endpoint for its model and limits."""
    preset = PRESETS[options.provider]
    url = preset.at(options.base_url, variables)
    server = connect_openai(options, url, preset, EMBEDDING, variables, needs_key=preset.is_hosted)

    def told_now() -> Told:
        return with_retries(lambda: _told(server, options, preset), retries.brief())

    try:
        return _served(server, options, preset, told_now)
    except EmbeddingError:
        server.close()
        raise


def _told(server: OpenAIServer, options: EmbeddingOptions, preset: Preset) -> Told:
    """Ask the endpoint; the providers' own endpoints report nothing beyond their documentation."""
    if _is_owners(server, preset):
        return Told(options.model or preset.model, refuses=True)
    tell = _TELL.get(options.provider, ask_list)
    return tell(server, options.model)


def _is_owners(server: OpenAIServer, preset: Preset) -> bool:
    return preset.is_hosted and server.endpoint.url == preset.url


def _version(server: OpenAIServer, preset: Preset, told: Told) -> str:
    """Tell apart models of one name: only at a provider's own endpoint a name always means the same model."""
    if _is_owners(server, preset):
        return ""
    return "-".join(filter(None, [server.endpoint.authority, told.version]))


def _served(
    server: OpenAIServer, options: EmbeddingOptions, preset: Preset, told_now: Callable[[], Told]
) -> _ServedModel:
    told = told_now()
    if not told.model:
        message = f"No model is named for {server.endpoint}."
        names = f" to one of: {', '.join(told.listed[:_NAMED])}" if told.listed else ""
        raise EmbeddingError(message, remedy=f"Set embedding.model{names}.")
    local = server.endpoint.is_loopback
    table = facts_at(told.model, preset, is_local=local)
    facts = settled(options, replace(table, context_tokens=told.context_tokens or table.context_tokens))
    most = told.texts or preset.max_texts
    may_cut = preset.cuts_silently and not told.refuses
    limits = Limits(
        min(options.batch_size or DEFAULT_BATCH, most),
        preset.tokens,
        options.concurrency or (1 if local else DEFAULT_WIDTH),
        cuts=bool(preset.cut_fields),
        cuts_silently=may_cut,
    )
    return _ServedModel(
        server,
        preset,
        options.provider,
        told.model,
        _version(server, preset, told),
        facts,
        limits,
        options.dimensions,
        told_now,
        counts=may_cut and options.provider in _TELL,
    )
