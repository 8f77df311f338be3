"""A choice of chunking in plain words, and the options it makes with the settings in force."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.options import options_of
from cqm.chunkers.strategies.recommended import recommended
from cqm.chunkers.strategies.table import Options
from cqm.index.remote.variables import process_variables
from cqm.server.config.settings import Settings
from cqm.server.errors import SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.chunkers.strategies.pooling import TokenEncoder

_BY_CONTENT = "auto"

# A comma between options, not between the words of one.
_COMMA = re.compile(r",(?=\w+=)")


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to cut a document.

    Attributes:
        strategy: a name known to `options_of`.
        values: of its options, in the form read by `options_of`.
        reason: of a recommendation; empty when the user asked for it.
    """

    strategy: str = _BY_CONTENT
    values: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""

    @property
    def label(self) -> str:
        """Name the strategy with its unusual options."""
        return " ".join([self.strategy, *(f"{name}={value}" for name, value in self.values.items())])


def parse_choice(text: str) -> Choice:
    """Read a choice: "sentence", or "sentence:target_tokens=256,sentence_overlap=2".

    Raises:
        ChunkOptionError: the part after the colon isn't NAME=VALUE.
    """
    strategy, _, rest = text.partition(":")
    pairs = _COMMA.split(rest) if rest else []
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise ChunkOptionError(
            f"{text}: expected NAME=VALUE after the colon, got {wrong[0]!r}.",
            remedy="Write it like sentence:target_tokens=256.",
        )
    return Choice(strategy, {name: value for name, _, value in (pair.partition("=") for pair in pairs)})


def recommended_choice(document: Document, values: Mapping[str, object]) -> Choice:
    """Choose the best strategy for a document; given values win over the recommended ones."""
    found = recommended(document)
    usual = {it.name: it.default for it in fields(found.options)}
    theirs = {name: getattr(found.options, name) for name, default in usual.items() if default is not MISSING}
    unusual = {name: value for name, value in theirs.items() if value != usual[name]}
    return Choice(found.strategy, unusual | dict(values), f"{found.document_type}: {found.reason}")


@dataclass(frozen=True, slots=True, eq=False)
class InForce:
    """A choice with the settings in force.

    Attributes:
        strategy, values: arguments of `options_of`.
        options: made of them, checked.
        model: embeds for them; None for a strategy which doesn't embed.
    """

    strategy: str
    values: Mapping[str, object]
    options: Options
    model: object = None


@contextmanager
def options_in_force(choice: Choice, settings: Settings) -> Iterator[InForce]:
    """Make the options of a choice; their model is open during the block.

    Raises:
        ChunkOptionError: there is no such strategy or option, or a value is out of range.
        SettingsError: the strategy needs a model, and none is configured.
        EmbeddingError: the model can't be opened.
    """
    name, opened = _MODELS.get(choice.strategy, ("", None))
    if name in choice.values:
        message = f"Option {name}: expected no value; the model comes from the configuration."
        raise ChunkOptionError(message, remedy="Set embedding.provider or late.encoder in cqm.yml.")
    values = dict(choice.values)
    if choice.strategy == _BY_CONTENT:
        values = asdict(replace(settings.chunk_options(), details=True)) | values
    if opened is None:
        yield InForce(choice.strategy, values, options_of(choice.strategy, values))
        return
    with opened(settings) as model:
        yield InForce(choice.strategy, values, options_of(choice.strategy, values, **{name: model}), model)


def source_of(choice: Choice, settings: Settings) -> dict[str, str]:
    """Name the source of a choice's model, by the option taking it; empty for a strategy without one."""
    embedding = settings.embedding
    sources = {"embed": " ".join(filter(None, [embedding.provider, embedding.model])), "encoder": settings.late.encoder}
    name, _ = _MODELS.get(choice.strategy, ("", None))
    return {name: sources[name]} if name else {}


@contextmanager
def _embedding(settings: Settings) -> Iterator[Callable[[Sequence[str]], "NDArray[np.float32]"]]:
    from cqm.index.embedding import open_embedder, rows_of  # only where something is embedded

    embedder = open_embedder(settings.embedding_options(), process_variables())
    if embedder is None:
        message = "Strategy semantic: expected a model, but embedding.provider is none."
        raise SettingsError(message, remedy="Set embedding.provider to the name of a provider, such as embedded.")
    try:
        yield lambda texts: rows_of(embedder, texts)
    finally:
        embedder.close()


@contextmanager
def _encoder(settings: Settings) -> Iterator["TokenEncoder"]:
    from cqm.index.embedding.late import open_token_encoder  # only where something is embedded

    if not settings.late.encoder:
        message = "Strategy late: expected a model that embeds each token, but late.encoder is empty."
        raise SettingsError(
            message, remedy="Set late.encoder to the folder of such a model or the address of a server."
        )
    variables, timeout = process_variables(), settings.embedding.timeout_seconds
    key = variables.get(settings.late.api_key_env, "")
    encoder = open_token_encoder(settings.late.encoder, variables, api_key=key, timeout_seconds=timeout)
    try:
        yield encoder
    finally:
        encoder.close()


_MODELS: Mapping[str, tuple[str, Callable[[Settings], AbstractContextManager[object]]]] = {
    "semantic": ("embed", _embedding),
    "late": ("encoder", _encoder),
}
"""For each strategy needing a model: the option taking it, and its opener."""
