"""What an endpoint of OpenAI's protocol tells of its models: the context above all."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cqm.index.remote.openai import OpenAIServer


@dataclass(frozen=True, slots=True)
class Told:
    """What a server said of a model.

    Attributes:
        model: its name there; empty when none was asked for and the server does not have just one.
        context_tokens: how long a text may be; 0 when it does not say.
        texts: in one request; 0 when it does not say.
        refuses: whether it is known to refuse a text that is too long.
        listed: the names of its models.
        version: a hash of what tells the model from another one under its name; empty when it does not say.
    """

    model: str
    context_tokens: int = 0
    texts: int = 0
    refuses: bool = False
    listed: tuple[str, ...] = ()
    version: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether it said nothing of the model."""
        return self == Told(self.model, listed=self.listed)


_OF_A_FILE = ("ftype", "n_ctx_train", "n_embd", "n_params", "n_vocab", "size", "vocab_type")
"""What llama.cpp tells of the file that it has loaded; the rest of its `meta` depends on how it was started."""
_OF_A_RELEASE = ("model_id", "model_sha")
"""What text-embeddings-inference tells of the weights that it has loaded."""


def ask_list(server: OpenAIServer, model: str) -> Told:
    """Ask for the list of models, which says the context in vLLM (`max_model_len`) and llama.cpp (`meta`).

    Parameters:
        server: the endpoint.
        model: the one that is wanted; empty for the only one in the list.

    Raises:
        EmbeddingError: the endpoint does not answer.
    """
    rows = {str(row.get("id")): row for row in _objects(_member(server.told("models"), "data"))}
    listed = tuple(rows)
    name = model or (listed[0] if len(listed) == 1 else "")
    row = rows.get(name, {})
    meta = row.get("meta")
    # What llama.cpp runs the model with wins over what it was trained for, unless it is more.
    contexts = [row.get("max_model_len"), _member(meta, "n_ctx"), _member(meta, "n_ctx_train")]
    known = [number for number in map(_count, contexts) if number]
    # In vLLM, `root` is where the weights are, whatever name they are served under.
    version = _version({"root": row.get("root"), **{key: _member(meta, key) for key in _OF_A_FILE}})
    return Told(name, min(known, default=0), listed=listed, version=version)


def ask_tei(server: OpenAIServer, model: str) -> Told:
    """Ask text-embeddings-inference for its /info.

    It serves one model, says how long a text may be and how many it takes at once, and whether it cuts what is longer
    (`auto_truncate`), which it does without saying so.

    Parameters:
        server: the endpoint.
        model: the name that is wanted; empty for the one that it serves.

    Raises:
        EmbeddingError: the endpoint does not answer.
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
    """As much of a text as text-embeddings-inference reads of it, by its own tokenizer (POST /tokenize).

    Parameters:
        server: the endpoint.
        text: with its prefix.
        context: tokens.

    Raises:
        EmbeddingError: the endpoint does not answer.
    """
    answer = server.told("/tokenize", {"inputs": text, "add_special_tokens": True})
    tokens = list(_objects(answer[0])) if isinstance(answer, list) and answer else []
    if len(tokens) <= context:
        return text
    # The last place is for a special token. Its offsets count characters.
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
    """A number of something; 0 for anything else that a server may send."""
    return value if isinstance(value, int) and value > 0 else 0
