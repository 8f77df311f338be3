"""What is asked of chunking in plain words, and the options that this makes with the settings in force."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.options import options_of
from cqm.chunkers.strategies.recommended import recommended
from cqm.chunkers.strategies.table import Options
from cqm.server.config.settings import Settings
from cqm.server.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.chunkers.strategies.pooling import TokenEncoder
    from cqm.index.embedding.service.base import Embedder

_BY_CONTENT = "auto"

# Between options, but not between the words of one.
_COMMA = re.compile(r",(?=\w+=)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to cut a document.

    Attributes:
        strategy: as `options_of` knows it.
        values: of its options, as `options_of` reads them.
        reason: why it was chosen; empty when somebody asked for it.
    """

    strategy: str = _BY_CONTENT
    values: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""

    @property
    def label(self) -> str:
        """The strategy with the options that differ from the usual ones."""
        return " ".join([self.strategy, *(f"{name}={value}" for name, value in self.values.items())])


def parse_choice(text: str) -> Choice:
    """A choice as one word: "sentence", or "sentence:target_tokens=256,sentence_overlap=2".

    Raises:
        ChunkOptionError: what follows the colon is not NAME=VALUE.
    """
    strategy, _, rest = text.partition(":")
    pairs = _COMMA.split(rest) if rest else []
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise ChunkOptionError(f"{wrong[0]!r} sets no option of {strategy}.", remedy="Write it as NAME=VALUE.")
    return Choice(strategy, {name: value for name, _, value in (pair.partition("=") for pair in pairs)})


def recommended_choice(document: Document, values: Mapping[str, object]) -> Choice:
    """What suits a document best, with what somebody asks for beside that.

    Parameters:
        document: its type and length decide.
        values: of options, which win over those that are recommended.
    """
    found = recommended(document)
    usual = {it.name: it.default for it in fields(found.options)}
    theirs = {name: getattr(found.options, name) for name, default in usual.items() if default is not MISSING}
    unusual = {name: value for name, value in theirs.items() if value != usual[name]}
    return Choice(found.strategy, unusual | dict(values), f"{found.document_type}: {found.reason}")


@dataclass(frozen=True, slots=True, eq=False)
class InForce:
    """A choice with the settings in force.

    Attributes:
        strategy, values: as `options_of` takes them.
        options: that they make, checked.
        model: what embeds for them; None for a strategy that does not embed.
    """

    strategy: str
    values: Mapping[str, object]
    options: Options
    model: object = None


@contextmanager
def options_in_force(choice: Choice, settings: Settings) -> Iterator[InForce]:
    """Give the options of a choice; what embeds for them is open as long as the context.

    Raises:
        ChunkOptionError: there is no such strategy or option, or a value is not what it must be.
        SettingsError: the strategy needs a model, and none is configured.
        EmbeddingError: the model cannot be opened.
    """
    name, opened = _MODELS.get(choice.strategy, ("", None))
    if name in choice.values:
        message = f"The chunking option {name} has no plain value."
        raise ChunkOptionError(message, remedy="It comes from the configuration: see docs/configuration.md.")
    values = dict(choice.values)
    if choice.strategy == _BY_CONTENT:
        values = {"details": True, **settings.chunk.model_dump(), **values}
    if opened is None:
        yield InForce(choice.strategy, values, options_of(choice.strategy, values))
        return
    with opened(settings) as model:
        yield InForce(choice.strategy, values, options_of(choice.strategy, values, **{name: model}), model)


def source_of(choice: Choice, settings: Settings) -> dict[str, str]:
    """Where the model of a choice comes from, by the option that takes it; empty for a strategy without one."""
    embedding = settings.embedding
    sources = {"embed": " ".join(filter(None, [embedding.provider, embedding.model])), "encoder": settings.late.encoder}
    name, _ = _MODELS.get(choice.strategy, ("", None))
    return {name: sources[name]} if name else {}


@contextmanager
def _embedding(settings: Settings) -> Iterator[Callable[[Sequence[str]], "NDArray[np.float32]"]]:
    from cqm.index.embedding import open_embedder  # only where something is embedded

    embedder = open_embedder(settings.embedding_options())
    if embedder is None:
        message = 'The strategy semantic embeds sentences, and "embedding.provider" is none.'
        raise SettingsError(message, remedy="Set embedding.provider to embedded, ollama or openai.")
    try:
        yield lambda texts: _vectors(embedder, texts)
    finally:
        embedder.close()


def _vectors(embedder: "Embedder", texts: Sequence[str]) -> "NDArray[np.float32]":
    """A row a text; one that cannot be embedded (a rule, a lone sign) has zeros, which are like nothing."""
    import numpy as np

    found = embedder.embed_documents(texts)
    rows = np.zeros((len(texts), embedder.space().dimensions), np.float32)
    if found.indices:
        rows[list(found.indices)] = found.vectors
    return rows


@contextmanager
def _encoder(settings: Settings) -> Iterator["TokenEncoder"]:
    from cqm.index.embedding.late import open_token_encoder  # only where something is embedded

    if not settings.late.encoder:
        message = 'The strategy late needs a model that tells the embedding of each token, and "late.encoder" is empty.'
        raise SettingsError(
            message, remedy="Set late.encoder to a folder with such a model or the address of a server."
        )
    key = os.environ.get(settings.late.api_key_env, "")
    timeout = settings.embedding.timeout_seconds
    encoder = open_token_encoder(settings.late.encoder, api_key=key, timeout_seconds=timeout)
    try:
        yield encoder
    finally:
        encoder.close()


_MODELS: Mapping[str, tuple[str, Callable[[Settings], AbstractContextManager[object]]]] = {
    "semantic": ("embed", _embedding),
    "late": ("encoder", _encoder),
}
"""For a strategy that needs a model: the option that takes it, and how it is opened."""
