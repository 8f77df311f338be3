"""Answers of a model run by an Ollama server, through the official client."""

from dataclasses import dataclass

from cqm.chunkers.errors import CqmError
from cqm.chunkers.tokens import estimate
from cqm.index.contextual.chat import Reply, ServedChat
from cqm.index.contextual.prices import model_of
from cqm.index.contextual.prompt import Prompt
from cqm.index.model.errors import RefusedInputError
from cqm.index.model.options import ContextOptions
from cqm.index.remote.endpoint import CONTEXTS
from cqm.index.remote.ollama import OllamaServer, connect_ollama, context_of
from cqm.index.remote.variables import Variables

_QUESTION_TOKENS = 1024
"""Estimated, of a typical chunk and its task, without the window."""


class OllamaChat(ServedChat):
    """A `Chat` over an Ollama server.

    Parameters:
        options: model; address (default: the variable OLLAMA_HOST, else http://127.0.0.1:11434); key (default:
            OLLAMA_API_KEY) for a server requiring one; time-out; tokens of the window and of an answer.
    """

    def __init__(self, options: ContextOptions, variables: Variables) -> None:
        super().__init__(lambda: _meet(options, variables))


@dataclass(frozen=True, slots=True)
class _Writer:
    server: OllamaServer
    max_tokens: int
    usual_context: int
    """Tokens of prompt and answer together; enough for nearly all prompts."""
    most_context: int
    """Largest context of the model in tokens; 0 if the server doesn't report it."""

    def close(self) -> None:
        self.server.close()

    def ask(self, prompt: Prompt) -> Reply:
        context = self._context(prompt)
        with self.server.translating():
            answer = self.server.client.chat(
                self.server.model,
                [{"role": "user", "content": prompt.text}],
                think=False,
                options={"num_predict": self.max_tokens, "num_ctx": context, "temperature": 0},
            )
        tokens = answer.prompt_eval_count or 0
        if tokens >= context:
            # Ollama silently cuts prompts over its limit, and would cut the document.
            message = f"A prompt is over the {context} tokens of {self.server.source}."
            raise RefusedInputError(message, remedy=CONTEXTS.shorter, too_long=True)
        return Reply(answer.message.content or "", answer.done_reason == "length", tokens, answer.eval_count or 0)

    def _context(self, prompt: Prompt) -> int:
        # Only huge chunks get a larger context than usual: the server reloads the model for each size.
        wanted = max(self.usual_context, _with_reserve(estimate(prompt.text)) + self.max_tokens)
        return min(wanted, self.most_context or wanted)


def _meet(options: ContextOptions, variables: Variables) -> _Writer:
    """Connect, and ask for the model's context length."""
    server = connect_ollama(options, model_of(options, variables), CONTEXTS, variables)
    try:
        with server.translating():
            shown = server.client.show(server.model)
    except CqmError:
        server.close()
        raise
    usual = _with_reserve(options.window_tokens + _QUESTION_TOKENS) + options.max_tokens
    return _Writer(server, options.max_tokens, usual, context_of(shown))


def _with_reserve(tokens: int) -> int:
    """Add half to an estimate: tables and alphabets other than the Latin one have more tokens."""
    return tokens * 3 // 2
