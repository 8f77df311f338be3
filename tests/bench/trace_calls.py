"""A call of a stack trace, and the noise that is put around a trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Call:
    """A frame: its file as printed, its line, the function, its type or package, and the text of the line."""

    path: str
    line: int
    name: str
    owner: str
    code: str = ""

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.replace("\\", "/").rpartition("/")[2]

    @property
    def whole(self) -> str:
        """The function with its owner."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


Shape = Callable[[Sequence[Call], str, Random], str]


def joined(*parts: str) -> str:
    """Return the parts as lines."""
    return "\n".join(parts)


def _prefixed(text: str, prefix: str) -> str:
    return "\n".join(prefix + line for line in text.split("\n"))


def coloured(text: str, random: Random) -> str:
    """Return the text with colours of a terminal."""
    lines = [f"\x1b[{random.choice(('31', '1;36', '0;90'))}m{line}\x1b[0m" for line in text.split("\n")]
    return "\n".join(lines).replace(":", "\x1b[39m:\x1b[22m", 1)


def reported(text: str, random: Random) -> str:
    """Return an issue around a trace."""
    return joined(
        *("Crash at start", "", "### Describe the bug", "It fails when I start it.", "", "### Steps to reproduce"),
        *("1. run it", "2. see the error", "", f"```\n{text}\n```", "", "### Environment", "- OS: Ubuntu 22.04"),
        *("- Version: 3.11.4", "- [x] I searched for existing issues"),
    )


NOISE: tuple[Callable[[str, Random], str], ...] = (
    lambda text, _: text,
    lambda text, _: text,
    lambda text, _: _prefixed(text, "2024-03-01T12:00:01.123Z "),
    lambda text, _: _prefixed(text, "2024-03-01 12:00:01,123 ERROR [main] app.server: "),
    lambda text, _: _prefixed(text, "web_1  | "),
    lambda text, _: _prefixed(text, "Mar  1 12:00:01 host app[4711]: "),
    lambda text, _: _prefixed(text, "> "),
    lambda text, _: _prefixed(text, "        "),
    lambda text, _: text.replace("\n", "\r\n"),
    lambda text, _: f"Why does this happen?\n\n```\n{text}\n```\nIt worked before.",
    coloured,
    reported,
)
