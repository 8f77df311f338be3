"""OpenAI-compatible endpoints, a row each: addresses, requests, differences."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.addresses import is_loopback, ollama_url
from cqm.index.remote.variables import Variables

Fields = Mapping[str, object]
"""Members of a request's body."""


@dataclass(frozen=True, slots=True)
class Preset:
    """An endpoint, or a program serving one.

    Attributes:
        url: base of its addresses, unless the options name another.
        key_variable: environment variable of its key, likewise.
        model: the default; empty for the first one in its list.
        url_variable: environment variable naming another `url`; empty for none.
        max_texts: per request, as documented.
        tokens: per request, estimated: half of the documented limit, since code may have twice the estimate.
        is_hosted: whether it is a paid service: then a name always means the same model.
        query_fields, document_fields: mark a request's texts as questions or documents. Then the table's prefixes are
            not used.
        code_query_fields, code_document_fields: the same for a model with "code" in its name; None for no difference.
        length_field: name of the field requesting shorter vectors.
        refuse_fields: make the service refuse an overlong text; without them some services cut it silently.
        cut_fields: make it cut such a text; empty if it can't.
        cuts_silently: whether it may cut an overlong text without saying so.
    """

    url: str
    key_variable: str
    model: str = ""
    url_variable: str = ""
    max_texts: int = 2048
    tokens: int = 150_000
    is_hosted: bool = False
    query_fields: Fields = field(default_factory=dict)
    document_fields: Fields = field(default_factory=dict)
    code_query_fields: Fields | None = None
    code_document_fields: Fields | None = None
    length_field: str = "dimensions"
    refuse_fields: Fields = field(default_factory=dict)
    cut_fields: Fields = field(default_factory=dict)
    cuts_silently: bool = False

    def at(self, base_url: str, variables: Variables) -> str:
        """Return an endpoint's address: as configured, else from the preset's variable, else the preset's own."""
        return (base_url or variables.get(self.url_variable, "") or self.url).rstrip("/")

    def fields(self, model: str, *, is_query: bool) -> Fields:
        """Return the request fields marking texts as questions or documents for this model."""
        code = self.code_query_fields if is_query else self.code_document_fields
        if code is not None and "code" in model:
            return code
        return self.query_fields if is_query else self.document_fields


PRESETS: Mapping[str, Preset] = {
    # Limits: https://platform.openai.com/docs/api-reference/embeddings/create.
    "openai": Preset(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "text-embedding-3-small",
        url_variable="OPENAI_BASE_URL",
        is_hosted=True,
        cuts_silently=True,  # another base url may lead to anything
    ),
    # https://docs.voyageai.com/reference/embeddings-api: 1,000 texts; 120,000 tokens, the lowest limit of its models.
    "voyage": Preset(
        "https://api.voyageai.com/v1",
        "VOYAGE_API_KEY",
        "voyage-code-3",
        max_texts=1000,
        tokens=60_000,
        is_hosted=True,
        query_fields={"input_type": "query"},
        document_fields={"input_type": "document"},
        length_field="output_dimension",
        refuse_fields={"truncation": False},
        cut_fields={"truncation": True},
    ),
    # https://api.jina.ai/redoc; the tasks of the code models: arXiv:2508.21290.
    "jina": Preset(
        "https://api.jina.ai/v1",
        "JINA_API_KEY",
        "jina-embeddings-v3",
        max_texts=512,
        tokens=60_000,
        is_hosted=True,
        query_fields={"task": "retrieval.query"},
        document_fields={"task": "retrieval.passage"},
        code_query_fields={"task": "nl2code.query"},
        code_document_fields={"task": "nl2code.passage"},
        refuse_fields={"truncate": False},
        cut_fields={"truncate": True},
    ),
    # The variable is llama-server's own.
    "llamacpp": Preset("http://127.0.0.1:8080/v1", "LLAMA_API_KEY"),
    # The variable is vLLM's own; -1 cuts to the model's context.
    "vllm": Preset("http://127.0.0.1:8000/v1", "VLLM_API_KEY", cut_fields={"truncate_prompt_tokens": -1}),
    # Its /info reports whether it cuts silently, and the texts per request.
    "tei": Preset("http://127.0.0.1:8080/v1", "TEI_API_KEY", max_texts=32, cuts_silently=True),
}
"""Endpoints by the provider's name in the settings."""

OLLAMA_KEY_VARIABLE = "OLLAMA_API_KEY"
OLLAMA_CLOUD = "https://ollama.com"
"""The host for the key in this variable."""
_IN_PROCESS = frozenset({"embedded", "none"})


def key_variable(provider: str) -> str:
    """Return a provider's usual environment variable for its key; empty for none."""
    if provider == "ollama":
        return OLLAMA_KEY_VARIABLE
    preset = PRESETS.get(provider)
    return preset.key_variable if preset else ""


def is_away(options: EmbeddingOptions, variables: Variables) -> bool:
    """Whether texts for a model leave this machine, judged by options and variables."""
    if options.provider in _IN_PROCESS:
        return False
    preset = PRESETS.get(options.provider)
    if preset is not None:
        return not is_loopback(preset.at(options.base_url, variables))
    url = ollama_url(options.base_url, variables)
    return not is_loopback(url) or is_in_cloud(options.model, url)


def is_in_cloud(model: str, url: str) -> bool:
    """Whether Ollama's cloud runs a model, wherever Ollama itself runs."""
    return model.endswith(("-cloud", ":cloud")) or urlsplit(url).hostname == urlsplit(OLLAMA_CLOUD).hostname
