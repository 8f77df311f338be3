"""Ask an OpenAI-compatible endpoint about its models, above all for the context length."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cqm.index.remote.openai import OpenAIServer


@dataclass(frozen=True, slots=True)
class Told:
    """A server's statements about a model.

    Attributes:
        model: its name there; empty if none was asked for and the server doesn't have exactly one.
        context_tokens: longest text; 0 if not reported.
        texts: per request; 0 if not reported.
        refuses: whether it is known to refuse overlong texts.
        listed: names of the server's models.
        version: a hash distinguishing models of the same name; empty if not reported.
    """

    model: str
    context_tokens: int = 0
    texts: int = 0
    refuses: bool = False
    listed: tuple[str, ...] = ()
    version: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether it reported nothing about the model."""
        return self == Told(self.model, listed=self.listed)


_OF_A_FILE = ("ftype", "n_ctx_train", "n_embd", "n_params", "n_vocab", "size", "vocab_type")
"""Describe the file loaded by llama.cpp; the rest of its `meta` depends on the start options."""
_OF_A_RELEASE = ("model_id", "model_sha")
"""Describe the weights loaded by text-embeddings-inference."""


def ask_list(server: OpenAIServer, model: str) -> Told:
    """Ask for the list of models, which contains the context length in vLLM (`max_model_len`) and llama.cpp (`meta`).

    Parameters:
        model: the wanted one; empty for the only one in the list.

    Raises:
        EmbeddingError: the endpoint doesn't answer.
    """
    rows = {str(row.get("id")): row for row in _objects(_member(server.told("models"), "data"))}
    listed = tuple(rows)
    name = model or (listed[0] if len(listed) == 1 else "")
    row = rows.get(name, {})
    meta = row.get("meta")
    # llama.cpp's configured context wins over the trained one, unless it is larger.
    contexts = [row.get("max_model_len"), _member(meta, "n_ctx"), _member(meta, "n_ctx_train")]
    known = [number for number in map(_count, contexts) if number]
    # In vLLM, `root` is the path of the weights, independent of the served name.
    version = _version({"root": row.get("root"), **{key: _member(meta, key) for key in _OF_A_FILE}})
    return Told(name, min(known, default=0), listed=listed, version=version)


def ask_tei(server: OpenAIServer, model: str) -> Told:
    """Ask text-embeddings-inference for its /info.

    It serves one model and reports the longest text, the texts per request, and whether it silently cuts longer texts
    (`auto_truncate`).

    Parameters:
        model: the wanted name; empty for the served one.

    Raises:
        EmbeddingError: the endpoint doesn't answer.
    """
    info = server.told("/info")
    served = _member(info, "model_id")
    return Told(
        model or (served if isinstance(served, str) else ""),
        _count(_member(info, "max_input_length")),
        _count(_member(info, "max_client_batch_size")),
        _member(info, "auto_truncate") is False,
        version=_version({key: _member(info, key) for key in _OF_A_RELEASE}),
    )


def tei_beginning(server: OpenAIServer, text: str, context: int) -> str:
    """Return the part of a text within the context, by text-embeddings-inference's own tokenizer (POST /tokenize).

    Parameters:
        text: with its prefix.
        context: tokens.

    Raises:
        EmbeddingError: the endpoint doesn't answer.
    """
    answer = server.told("/tokenize", {"inputs": text, "add_special_tokens": True})
    tokens = list(_objects(answer[0])) if isinstance(answer, list) and answer else []
    if len(tokens) <= context:
        return text
    # The last place is for a special token. Offsets count characters.
    ends = [_count(token.get("stop")) for token in tokens[: context - 1]]
    return text[: max(ends, default=0)]


def _version(facts: Mapping[str, object]) -> str:
    told = {key: fact for key, fact in facts.items() if isinstance(fact, str | int | float) and fact != ""}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:8] if told else ""


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, Mapping))


def _count(value: object) -> int:
    """Return a positive integer; 0 for anything else a server may send."""
    return value if isinstance(value, int) and value > 0 else 0
