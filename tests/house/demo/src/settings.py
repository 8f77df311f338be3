"""Settings from a file of `key = value` lines."""


def parse_line(line: str) -> tuple[str, str]:
    """Split a line at its equals sign."""
    key, _, value = line.partition("=")
    return key.strip(), value.strip()


def load(path: str) -> dict[str, str]:
    """Read all settings of a file."""
    with open(path, encoding="utf-8") as lines:
        return dict(map(parse_line, lines))
