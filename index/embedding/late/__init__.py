"""Token encoders for late chunking, which return an embedding for each token: from a model's files or a server."""

from typing import TYPE_CHECKING

from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.variables import Variables

if TYPE_CHECKING:
    from cqm.chunkers.strategies.pooling import TokenEncoder

__all__ = ["embedder", "open_token_encoder"]


def open_token_encoder(
    location: str, variables: Variables, *, api_key: str = "", timeout_seconds: float = 60.0
) -> "TokenEncoder":
    """Return the encoder at a location; it is loaded or contacted at its first use.

    Parameters:
        location: a folder with a model of `onnx.MODELS` (model.onnx and tokenizer.json), or the address of a llama.cpp
            server run with `--embeddings --pooling none`, such as "http://127.0.0.1:8080".

    Raises:
        EmbeddingError: no location is given. Errors of the location show at its first use.
    """
    if location.startswith(("http://", "https://")):
        from cqm.index.embedding.late.llama import LlamaTokenEncoder

        return LlamaTokenEncoder(location, variables, api_key, timeout_seconds)
    if not location:
        message = "Late chunking has no encoder: late.encoder is empty."
        raise EmbeddingError(
            message, remedy="Set it to a folder with a model, or to the address of a llama.cpp server."
        )
    from cqm.index.embedding.late.onnx import OnnxTokenEncoder

    return OnnxTokenEncoder(location)
