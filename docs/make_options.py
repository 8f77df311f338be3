"""Write docs/options.md, the page of every option: `.venv/bin/python docs/make_options.py`.

Names, defaults, ranges and meanings are those of the one declaration in the code.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from cqm.server.config.declared import declared_options
from cqm.server.config.options import Options
from cqm.server.config.sources import environment_variable

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "options.md"
HEAD = """\
<!-- Written by docs/make_options.py; a test compares. Change the options in the code instead. -->
# Options

Every option of `cqm.yml` with its default. [Configuration](configuration.md) tells where to set them and which source
wins. Write `search.limit` as `limit` below `search:`, as `--set search.limit=5`, or as the variable in the last column.
"""
TABLE_HEAD = "| option | default | allowed | meaning | variable |\n|---|---|---|---|---|"


def allowed(schema: Mapping[str, Any], option: Mapping[str, Any]) -> str:
    """Type and range of an option in a few words, from its JSON schema."""
    if "$ref" in option:
        return allowed(schema, schema["$defs"][option["$ref"].rpartition("/")[2]])
    if "anyOf" in option:
        return " or ".join(allowed(schema, each) for each in option["anyOf"] if each.get("type") != "null")
    if "enum" in option:
        return ", ".join(f"`{value}`" if value else "empty" for value in option["enum"])
    names = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`", "array": "list"}
    least = option.get("minimum", option.get("exclusiveMinimum"))
    most = option.get("maximum")
    words = [names.get(option.get("type", ""), "folder" if option.get("format") == "path" else "text")]
    if least is not None:
        words.append(f"{'over' if 'exclusiveMinimum' in option else 'from'} {least:,}")
    if most is not None:
        words.append(f"to {most:,}")
    return " ".join(words)


def page() -> str:
    """Return the text of the page."""
    schema = Options.model_json_schema()
    defaults = Options().model_dump(mode="json")
    parts = ("\n".join(part(schema, key, info, defaults[key])) for key, info in Options.model_fields.items())
    return "\n".join((HEAD, *parts)) + "\n"


def part(schema: Mapping[str, Any], key: str, info: FieldInfo, value: object) -> Iterator[str]:
    """Lines of a section, or of an option that stands by itself."""
    declaring = getattr(info.annotation, "declaring", None)
    summary = (info.description or "") if declaring is None else (declaring.__doc__ or "").partition("\n\n")[0]
    yield f"\n## {key}\n\n{' '.join(summary.split())}\n"
    if declaring is None or not isinstance(value, dict):
        yield f"Default: {shown(value)}."
        return
    yield TABLE_HEAD
    options = schema["$defs"][schema["properties"][key]["$ref"].rpartition("/")[2]]["properties"]
    for name, known in declared_options(declaring).items():
        meaning = known.help.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        kind, variable = allowed(schema, options[name]), environment_variable((key, name))
        yield f"| `{name}` | {shown(value[name])} | {kind} | {meaning} | `{variable}` |"


def shown(value: object) -> str:
    """A default as cqm.yml has it."""
    if value in (None, ""):
        return "none" if value is None else '`""`'
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}: written\n")
