"""What every service that writes contexts offers."""

from dataclasses import dataclass
from typing import Protocol

from cqm.index.contextual.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer and what it took, as the service counts.

    Attributes:
        text: as it came.
        is_cut: whether the model was stopped at the limit of tokens.
        tokens, output_tokens: of prompt and answer; 0 where the service does not tell.
        cached_tokens: those of the prompt that the service knew from an earlier one.
    """

    text: str
    is_cut: bool = False
    tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class Chat(Protocol):
    """A model that answers. All methods may be called from several threads at once.

    Nothing is contacted before the first question.
    """

    def ask(self, prompt: Prompt) -> Reply:
        """Ask once.

        Raises:
            TransientError: the service did not work this time.
            RefusedInputError: it refuses this prompt.
            CqmError: it will not answer anything until somebody mends the settings or the service.
        """

    def close(self) -> None:
        """Give back connections for good. Waits for nothing: what is under way fails."""
