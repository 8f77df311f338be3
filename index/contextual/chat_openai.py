"""Answers of OpenAI's models, or of any endpoint of its chat protocol, through the official client."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqm.index.contextual.chat import Reply, ServedChat
from cqm.index.contextual.prices import OPENAI_URL, endpoint_url, model_of
from cqm.index.contextual.prompt import Prompt
from cqm.index.model.errors import ContextError
from cqm.index.model.options import ContextOptions
from cqm.index.remote.endpoint import CONTEXTS
from cqm.index.remote.openai import OpenAIServer, connect_openai
from cqm.index.remote.presets import PRESETS
from cqm.index.remote.variables import Variables

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion


class OpenAIChat(ServedChat):
    """A `Chat` over an endpoint of OpenAI's protocol.

    Parameters:
        options: model (required for another endpoint than OpenAI's); address (default: the variable
            OPENAI_BASE_URL, else OpenAI's); key (default: OPENAI_API_KEY; an endpoint on this machine may do without);
            time-out; tokens of an answer.
    """

    def __init__(self, options: ContextOptions, variables: Variables) -> None:
        super().__init__(lambda: _connect(options, variables))


@dataclass(frozen=True, slots=True)
class _Writer:
    server: OpenAIServer
    model: str
    max_tokens: int

    def close(self) -> None:
        self.server.close()

    def ask(self, prompt: Prompt) -> Reply:
        import openai

        # OpenAI's newer models refuse the older name of the limit; other servers may not know the newer one.
        is_newer = self.server.endpoint.url == OPENAI_URL
        with self.server.translating(f"{self.model} at {self.server.endpoint}"):
            completion = self.server.client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": prompt.text}],
                temperature=0,
                max_completion_tokens=self.max_tokens if is_newer else openai.omit,
                max_tokens=openai.omit if is_newer else self.max_tokens,
            )
            return _reply(completion)


def _reply(completion: "ChatCompletion") -> Reply:
    choice, usage = completion.choices[0], completion.usage
    details = usage.prompt_tokens_details if usage else None
    return Reply(
        choice.message.content or choice.message.refusal or "",
        is_cut=choice.finish_reason == "length",
        tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        cached_tokens=(details.cached_tokens or 0) if details else 0,
    )


def _connect(options: ContextOptions, variables: Variables) -> _Writer:
    url, model = endpoint_url(options, variables), model_of(options, variables)
    server = connect_openai(options, url, PRESETS["openai"], CONTEXTS, variables, needs_key=True)
    if not model:
        server.close()
        raise ContextError(f"No model is named for {server.endpoint}.", remedy="Set context.model.")
    return _Writer(server, model, options.max_tokens)
