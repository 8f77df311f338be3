"""Write docs/options.md, the page of every option: `.venv/bin/python docs/make_options.py`.

Names, defaults and comments are those of the commented cqm.yml at the root; types and ranges are those of the code.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Row:
    """An option, or a section when it has no name."""

    section: str
    name: str
    default: str
    meaning: str


def rows(text: str) -> Iterator[Row]:
    """The sections and options of a commented cqm.yml, each with the comment above it."""
    section, comment = "", ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            comment = stripped.removeprefix("#").strip()
        elif stripped:
            name, _, default = (part.strip() for part in stripped.partition(":"))
            section = section if line.startswith(" ") else name
            yield Row(section, name if line.startswith(" ") else "", default, comment)


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
    """The text of the page."""
    schema = Options.model_json_schema()
    lines = [HEAD]
    for row in rows((ROOT / "cqm.yml").read_text(encoding="utf-8")):
        section = schema["properties"][row.section]
        if not row.name:
            lines.append(f"\n## {row.section}\n\n{row.meaning}\n")
            if row.default:
                lines.append(f"Default: `{row.default}`.")
            else:
                lines.append(TABLE_HEAD)
            continue
        options = schema["$defs"][section["$ref"].rpartition("/")[2]]["properties"]
        variable = environment_variable((row.section, row.name))
        default = f"`{row.default}`" if row.default else "none"
        meaning = row.meaning.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
        kind = allowed(schema, options[row.name])
        lines.append(f"| `{row.name}` | {default} | {kind} | {meaning} | `{variable}` |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}: written\n")
