"""Layers of configuration to one validated model: later layers win, every problem is named by where it is written."""

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cqm.server.config.sources import ANY, MAX_PROBLEMS, Layer, Name, as_written, nearest, printable, problems_text
from cqm.server.errors import SettingsError

Model = TypeVar("Model", bound=BaseModel)

_PASSWORD = re.compile(r"(?<=://)\S*@")


def option_names(model: type[BaseModel]) -> dict[Name, bool]:
    """Every option of a model of sections, and whether it is a list; `ANY` stands for the name of a block."""
    names: dict[Name, bool] = {}
    for key, field in model.model_fields.items():
        kind = field.annotation
        if get_origin(kind) is dict:
            names |= {(key, ANY, *name): is_list for name, is_list in option_names(get_args(kind)[1]).items()}
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            names |= {(key, *name): is_list for name, is_list in option_names(kind).items()}
        else:
            names[key,] = get_origin(kind) is tuple
    return names


def validated(model: type[Model], layer: Layer) -> Model:
    """One layer as a model, whose `model_fields_set` say what the layer gave.

    Raises:
        SettingsError: an unknown option or a bad value; all of them, a line each.
    """
    context = {"base": layer.base}
    try:
        if layer.typed:
            # JSON is the mode in which pydantic is strict about types and yet takes lists for tuples, text for paths.
            text = json.dumps(layer.values, default=str)
            return model.model_validate_json(text, strict=True, context=context)
        return model.model_validate(layer.values, context=context)
    except ValidationError as error:
        names = list(option_names(model))
        places = list(layer.origins)
        details = sorted(error.errors(include_url=False), key=lambda detail: places.index(layer.place(_name(detail))))
        lines = islice((_problem(detail, layer, names) for detail in details), MAX_PROBLEMS)
        raise SettingsError(
            problems_text([*lines], len(details)), remedy="docs/options.md lists every option."
        ) from error


def given(model: BaseModel) -> dict[str, object]:
    """The options that were set on a model, by section and block, without defaults."""
    return {key: _given(getattr(model, key)) for key in model.model_fields_set}


def _given(value: object) -> object:
    if isinstance(value, dict):
        return {name: _given(block) for name, block in value.items()}
    return given(value) if isinstance(value, BaseModel) else value


def merged(model: type[Model], layers: Iterable[BaseModel]) -> Model:
    """One model of several validated ones; an option's last setting wins."""
    values: dict[str, object] = {}
    for layer in layers:
        _update(values, given(layer))
    return model.model_validate(values)


def _update(values: dict[str, object], newer: Mapping[str, object]) -> None:
    for key, value in newer.items():
        old = values.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            _update(old, value)
        else:
            values[key] = value


def _problem(detail: ErrorDetails, layer: Layer, names: Iterable[Name]) -> str:
    parts = _name(detail)
    name = ".".join(parts)
    origin = layer.origin(parts)
    match detail["type"]:
        case "extra_forbidden":
            sections = dict.fromkeys(section for section, *_ in names)
            return f'{origin}: unknown option "{name}".{nearest(name, [*as_written(names, parts), *sections])}'
        case "model_type" | "dict_type":
            return f'{origin}: "{name}" is a section: write its options below it, as `name: value`.'
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            got = "" if name.endswith("_env") else f" (got {_short(detail['input'])})"
            return f'{origin}: bad value for "{name}": {message}{got}.'


def _name(detail: ErrorDetails) -> Name:
    # pydantic's own mark of a key that is refused, here the name of a block.
    return tuple(str(part) for part in detail["loc"] if part != "[key]")


def _short(value: object) -> str:
    """A refused value; where it may be a secret, in an address, it is left out, as what stands for a variable is."""
    text = printable(_PASSWORD.sub("***@", json.dumps(value, default=str, ensure_ascii=False)))
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line's worth
