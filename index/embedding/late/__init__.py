"""Encoders that tell the embedding of each token, for late chunking: a model's files, or a server."""

from typing import TYPE_CHECKING

from cqm.index.model.errors import EmbeddingError

if TYPE_CHECKING:
    from cqm.chunkers.strategies.pooling import TokenEncoder

__all__ = ["open_token_encoder"]


def open_token_encoder(location: str, *, api_key: str = "", timeout_seconds: float = 60.0) -> "TokenEncoder":
    """The encoder at a place; it is loaded or asked when it is first used.

    Parameters:
        location: a folder with a model of `onnx.MODELS` (model.onnx and tokenizer.json), or the address of a llama.cpp
            server that runs with `--embeddings --pooling none`, such as "http://127.0.0.1:8080".
        api_key: for a server that wants one.
        timeout_seconds: of a request to a server.

    Raises:
        EmbeddingError: no location is given. What is wrong with a location shows at its first use.
    """
    if location.startswith(("http://", "https://")):
        from cqm.index.embedding.late.llama import LlamaTokenEncoder

        return LlamaTokenEncoder(location, api_key, timeout_seconds)
    if not location:
        message = "Late chunking has no encoder."
        raise EmbeddingError(message, remedy="Name a folder with a model, or the address of a llama.cpp server.")
    from cqm.index.embedding.late.onnx import OnnxTokenEncoder

    return OnnxTokenEncoder(location)
