"""The interface of services writing contexts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cqm.index.contextual.prompt import Prompt
from cqm.index.model.errors import ContextError
from cqm.index.remote.connection import Connection


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and its token counts, as the service reports them.

    Attributes:
        is_cut: whether the answer stopped at the token limit.
        tokens, output_tokens: of prompt and answer; 0 if not reported.
        cached_tokens: the prompt's tokens found in the service's prompt cache.
    """

    text: str
    is_cut: bool = False
    tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class Chat(Protocol):
    """A model answering prompts. All methods may be called from several threads at once.

    The first question makes the first contact.
    """

    def ask(self, prompt: Prompt) -> Reply:
        """Ask once.

        Raises:
            TransientError: the service failed this time.
            RefusedInputError: it refuses this prompt.
            CqmError: it answers nothing until the settings or the service are corrected.
        """

    def close(self) -> None:
        """Close connections for good. Waits for nothing: requests under way fail."""


class ServedChat:
    """A `Chat` over a service, met at the first question.

    Parameters:
        meet: connects to the service, and may query it.
    """

    def __init__(self, meet: Callable[[], Chat]) -> None:
        self._connection = Connection(meet, _closed)

    def ask(self, prompt: Prompt) -> Reply:
        """See `Chat.ask`."""
        return self._connection.server().ask(prompt)

    def close(self) -> None:
        """See `Chat.close`."""
        self._connection.close()


def _closed() -> ContextError:
    return ContextError("The connection to the model that writes contexts is closed.", remedy="Open the index again.")
