"""Vectors of OpenAI, or of any endpoint that speaks its protocol, through the official client."""

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
from cqm.index.remote.openai import OpenAIServer, connect_openai
from cqm.index.remote.presets import PRESETS, Preset
from cqm.index.remote.purposes import EMBEDDING
from cqm.index.remote.rates import Clock
from cqm.index.remote.retries import RetryPolicy, with_retries

DEFAULT_BATCH = 100
DEFAULT_WIDTH = 4
"""Requests under way at once, for a service that is not on this machine."""
_CUT_MARGIN = 8
"""Tokens: a cut through a character may make more tokens of it than it had."""
_NAMED = 10
"""Models of an endpoint that a message names."""
_SPECIAL = 2
"""Tokens that a model puts around a text."""
_TELL: Mapping[str, Callable[[OpenAIServer, str], Told]] = {"tei": ask_tei}
"""How a program is asked what it has, where that is not the protocol's list of models."""


def openai_embedder(
    options: EmbeddingOptions,
    retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    clock: Clock = Clock(),  # noqa: B008 - frozen
) -> Embedder:
    """An embedder over an endpoint of OpenAI's protocol; the endpoint is first asked when it is first used.

    Parameters:
        options: the provider is a row of `PRESETS`, which has the defaults of model, address, variable of the key and
            limits. An endpoint on this machine may do without a key, one without a default model needs a name unless
            it lists its models.
        retries: how failed requests are repeated.
        clock: where time comes from.
    """
    return ServedEmbedder(options, lambda: _find(options, retries), retries, clock)


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model that the endpoint has; a `Service`."""

    server: OpenAIServer
    preset: Preset
    provider: str
    model: str
    version: str
    facts: ModelFacts
    limits: Limits
    dimensions: int
    """Asked of the server; 0 for the model's own."""
    told_now: Callable[[], Told]
    """Asks the endpoint again what it has."""
    counts: bool
    """Whether the endpoint tells tokens by text-embeddings-inference's way, and may cut silently."""

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
        # An endpoint that tells nothing just now has not said that its model is another one.
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


def _find(options: EmbeddingOptions, retries: RetryPolicy) -> _ServedModel:
    """Meet the endpoint: which model it has and how much it takes."""
    preset = PRESETS[options.provider]
    url = preset.at(options.base_url)
    server = connect_openai(options, url, preset, EMBEDDING, needs_key=preset.is_hosted)

    def told_now() -> Told:
        return with_retries(lambda: _told(server, options, preset), retries.brief())

    try:
        return _served(server, options, preset, told_now)
    except EmbeddingError:
        server.close()
        raise


def _told(server: OpenAIServer, options: EmbeddingOptions, preset: Preset) -> Told:
    """What the endpoint tells; the owners' own endpoints tell nothing that their documentation does not."""
    if _is_owners(server, preset):
        return Told(options.model or preset.model, refuses=True)
    tell = _TELL.get(options.provider, ask_list)
    return tell(server, options.model)


def _is_owners(server: OpenAIServer, preset: Preset) -> bool:
    return preset.is_hosted and server.endpoint.url == preset.url


def _version(server: OpenAIServer, preset: Preset, told: Told) -> str:
    """Elsewhere a model's name says little: two servers may call different models alike, and one may exchange them."""
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
