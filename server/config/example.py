"""The cqm.yml of this repository: every option with its default, written from where it is declared.

python -m cqm.server.config.example > cqm.yml
"""

import json
import sys
from collections.abc import Iterator
from textwrap import wrap

from pydantic.fields import FieldInfo

from cqm.server.config.declared import declared_options, range_of
from cqm.server.config.options import Options

_WIDTH = 120
_HEAD = """\
# Every option of CQM with its default. Copy the options that you change to a cqm.yml at the top of a project, or to
# the one in your configuration folder (Linux: ~/.config/cqm/cqm.yml), which holds for all projects.
# A project that you do not trust (see trusted_projects) may set: scan, chunk, search and context.place; sizes of scan
# and of parsing only lower, watch only to less work, provider only to none (of context: rules).
# The command line (--set index.workers=2) wins over the environment (CQM_INDEX_WORKERS=2), that over the project's
# file, that over your own. An option without a value is left to the next source.
"""
_BLOCKS = {
    "providers": """\
# providers:
#   backup:
#     provider: ollama
#     model: all-minilm
#   texts:
#     provider: voyage
#     model: voyage-3.5
""",
    "groups": """\
# groups:
#   work: [~/api, ~/web]
""",
}


def example() -> str:
    """Return the text of the file."""
    defaults = Options().model_dump(mode="json")
    parts = ("".join(_part(key, info, defaults[key])) for key, info in Options.model_fields.items())
    return "\n".join((_HEAD, *parts))


def _part(key: str, info: FieldInfo, value: object) -> Iterator[str]:
    """Yield a section with its options, or an option by itself."""
    declaring = getattr(info.annotation, "declaring", None)
    yield _BLOCKS.get(key, "")
    yield from _comment(info.description or "" if declaring is None else (declaring.__doc__ or "").partition("\n\n")[0])
    if declaring is None or not isinstance(value, dict):
        yield f"{key}:{_written(value)}\n"
        return
    yield f"{key}:\n"
    for name, known in declared_options(declaring).items():
        limits = range_of(known)
        yield from _comment(f"{known.help} Allowed: {limits}." if limits else known.help, "  ")
        yield f"  {name}:{_written(value[name])}\n"


def _comment(text: str, indent: str = "") -> Iterator[str]:
    yield from (f"{indent}# {line}\n" for line in wrap(text, _WIDTH - len(indent) - 2, break_on_hyphens=False))


def _written(value: object) -> str:
    """Return a default behind its colon; JSON is YAML, and words need no quotes."""
    if value is None:
        return ""
    return f" {value}" if value and isinstance(value, str) else f" {json.dumps(value)}"


if __name__ == "__main__":
    sys.stdout.write(example())
