"""Validate layers of configuration and merge them into one model: later layers win."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model
from pydantic_core import ErrorDetails

from cqm.server.config.declared import declared_options, range_of
from cqm.server.config.field_types import Section
from cqm.server.config.sources import ANY, MAX_PROBLEMS, Layer, Name, as_written, nearest, printable, problems_text
from cqm.server.errors import SettingsError

Model = TypeVar("Model", bound=BaseModel)

_NOUNS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "tuple": "a list",
    "path": "a path",
}
"""The wanted type, by the first word of the type of pydantic's error."""
_PASSWORD = re.compile(r"(?<=://)\S*@")


def option_names(model: type[BaseModel]) -> dict[Name, bool]:
    """Return every option of a model of sections, and whether it is a list; `ANY` stands for the name of a block."""
    names: dict[Name, bool] = {}
    for key, field in model.model_fields.items():
        kind = field.annotation
        block = get_args(kind)[1] if get_origin(kind) is dict else None
        if isinstance(block, type) and issubclass(block, BaseModel):
            names |= {(key, ANY, *name): is_list for name, is_list in option_names(block).items()}
        elif block:
            names[key, ANY] = get_origin(block) is tuple
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            names |= {(key, *name): is_list for name, is_list in option_names(kind).items()}
        else:
            names[key,] = get_origin(kind) is tuple
    return names


def validated(model: type[Model], layer: Layer) -> Model:
    """Validate one layer; the model's `model_fields_set` names its options.

    Raises:
        SettingsError: an unknown option or a bad value; all of them, a line each.
    """
    context = {"base": layer.base}
    part = _part(model, tuple(key for key in model.model_fields if key in layer.values))
    try:
        if layer.typed:
            # In JSON mode pydantic is strict about types, yet takes lists for tuples and text for paths.
            text = json.dumps(layer.values, default=str)
            checked = part.model_validate_json(text, strict=True, context=context)
        else:
            checked = part.model_validate(layer.values, context=context)
        return model.model_construct(checked.model_fields_set, **dict(checked))
    except ValidationError as error:
        names = list(option_names(model))
        places = list(layer.origins)
        details = sorted(error.errors(include_url=False), key=lambda detail: places.index(layer.place(_name(detail))))
        lines = islice((_problem(detail, layer, model, names) for detail in details), MAX_PROBLEMS)
        raise SettingsError(
            problems_text([*lines], len(details)), remedy="docs/options.md lists every option."
        ) from error


@cache
def _part(model: type[BaseModel], keys: Name) -> type[Section]:
    """Return a model of some sections of another one: a validator of all takes longer to build than a search takes."""
    fields: dict[str, Any] = {key: (model.model_fields[key].annotation, model.model_fields[key]) for key in keys}
    return create_model(model.__name__, __base__=Section, **fields)


def given(model: BaseModel) -> dict[str, object]:
    """Return the options set on a model, by section and block, without defaults."""
    return {key: _given(getattr(model, key)) for key in model.model_fields_set}


def _given(value: object) -> object:
    if isinstance(value, dict):
        return {name: _given(block) for name, block in value.items()}
    return given(value) if isinstance(value, BaseModel) else value


def merged(model: type[Model], layers: Iterable[BaseModel]) -> Model:
    """Merge validated models; an option's last setting wins."""
    values: dict[str, object] = {}
    for layer in layers:
        _update(values, given(layer))
    return _restored(model, values)


def _restored(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Make a model of values which were validated with their layers."""
    made: dict[str, Any] = {}
    for key, value in values.items():
        kind = model.model_fields[key].annotation
        block = get_args(kind)[1] if get_origin(kind) is dict else None
        if isinstance(kind, type) and issubclass(kind, Section):
            made[key] = _restored(kind, value)
        elif isinstance(block, type) and issubclass(block, Section):
            made[key] = {name: _restored(block, it) for name, it in value.items()}
        else:
            made[key] = value
    return model.model_construct({*made}, **made)


def _update(values: dict[str, object], newer: Mapping[str, object]) -> None:
    for key, value in newer.items():
        old = values.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            _update(old, value)
        else:
            values[key] = value


def _problem(detail: ErrorDetails, layer: Layer, model: type[BaseModel], names: Iterable[Name]) -> str:
    parts = _name(detail)
    name = ".".join(parts)
    origin = layer.origin(parts)
    match detail["type"]:
        case "extra_forbidden":
            sections = dict.fromkeys(section for section, *_ in names)
            return f'{origin}: unknown option "{name}".{nearest(name, [*as_written(names, parts), *sections])}'
        case "model_type" | "dict_type":
            return f'{origin}: "{name}" is a section: write its options below it, as `name: value`.'
        case "json_invalid":
            # An error of the whole layer: half a surrogate pair, which JSON cannot carry.
            return f"{origin}: a value is not valid text: {detail['msg'].removeprefix('Invalid JSON: ')}."
        case _:
            # The name of a variable may be a key, put in the wrong place.
            is_hidden = name.endswith("_env") or detail["loc"][-1] == "[key]"
            shown = name if is_hidden else f"{name}: {_short(detail['input'])}"
            section, option = _section_of(model, parts)
            return f"{origin}: `{shown}`: {_expected(detail, section, option)}.{_remedy(section, option)}"


def _section_of(model: type[BaseModel], parts: Name) -> tuple[type[Section] | None, str]:
    """Return the section of an option, with the option's name there; None for an option in no section."""
    kind = model.model_fields[parts[0]].annotation
    rest = parts[1:]
    if get_origin(kind) is dict:
        kind, rest = get_args(kind)[1], parts[2:]
    if rest and isinstance(kind, type) and issubclass(kind, Section):
        return kind, rest[0]
    return None, ""


def _expected(detail: ErrorDetails, section: type[Section] | None, option: str) -> str:
    """Return the allowed values: "expected 1 to 100"."""
    kind, context = detail["type"], detail.get("ctx", {})
    limits = range_of(declared_options(section.declaring)[option]) if section else ""
    if kind == "value_error":
        return detail["msg"].removeprefix("Value error, ")
    if kind in {"literal_error", "enum"}:
        return f"expected {context['expected']}".replace("'", "")
    if kind == "string_too_long":
        return f"expected at most {context['max_length']} characters"
    noun = _NOUNS.get(kind.partition("_")[0], "")
    return f"expected {', '.join(filter(None, [noun, limits]))}" if noun or limits else detail["msg"]


def _remedy(section: type[Section] | None, option: str) -> str:
    if section is None:
        return ""
    default = section.model_fields[option].default
    shown = "" if default is None or default in {"", ()} else f", {_short(default)}"
    return f" Remove it for the default{shown}."


def _name(detail: ErrorDetails) -> Name:
    # pydantic's own mark of a refused key, here the name of a block.
    return tuple(str(part) for part in detail["loc"] if part != "[key]")


def _short(value: object) -> str:
    """Return a refused value in short, without the password of an address."""
    text = printable(_PASSWORD.sub("***@", json.dumps(value, default=str, ensure_ascii=False)))
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line's worth
