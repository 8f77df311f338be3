"""Pydantic models of sections, made from dataclasses with fields declared by `option`."""

from dataclasses import fields, is_dataclass
from functools import cache, reduce
from operator import or_
from types import GenericAlias, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, Field, create_model
from pydantic.fields import FieldInfo

from cqm.chunkers.model import Option, option_of
from cqm.server.config.field_types import KINDS, Section, rules_of_mapping

Data = TypeVar("Data")
Model = TypeVar("Model", bound=BaseModel)


def declared_options(declaring: type[Any]) -> dict[str, Option]:
    """Return the options declared by a dataclass, by field, in their order in cqm.yml."""
    return {it.name: known for it in fields(declaring) if (known := option_of(it))}


def range_of(known: Option) -> str:
    """Return the range of a number in words, such as "64 to 8192"; empty where there is none."""
    low, above, high = known.at_least, known.above, known.at_most
    if low is not None:
        return f"{low} or more" if high is None else f"{low} to {high}"
    return "" if above is None or high is None else f"above {above}, at most {high}"


def with_sections(model: type[Model]) -> type[Model]:
    """Put a section in the place of each dataclass among the fields of a model.

    A type checker still sees the dataclass: the section has the same options with the same types.
    """
    replaced: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        kind = info.annotation
        if is_dataclass(kind):
            section = section_of(kind)
            replaced[name] = (section, Field(default_factory=section.model_construct))
        elif get_origin(kind) is dict and is_dataclass(get_args(kind)[1]):
            key, value = get_args(kind)
            replaced[name] = (dict[key, section_of(value)], info)  # type: ignore[misc,valid-type] # made here
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **replaced)


@cache
def section_of(declaring: Any) -> type[Section]:  # noqa: ANN401 - a dataclass
    """Return the section of the options declared by a dataclass; its other fields are left out."""
    kinds = get_type_hints(declaring)
    made: dict[str, Any] = {}
    for it in fields(declaring):
        if known := option_of(it):
            made[it.name] = (_kind(kinds[it.name], known), _constrained(it.default, kinds[it.name], known))
    section = create_model(declaring.__name__, __base__=Section, __doc__=declaring.__doc__, **made)
    section.declaring = declaring
    return section


def instance_of(declaring: type[Data], section: object, **others: Any) -> Data:  # noqa: ANN401 - of the dataclass
    """Make a dataclass from the options of a section, and other fields as given."""
    names = declared_options(declaring)
    return declaring(**{name: getattr(section, name) for name in names} | others)


def as_section(options: object) -> Section:
    """Tell a type checker of a section; see `with_sections`."""
    return cast("Section", options)


def _kind(annotation: Any, known: Option) -> Any:  # noqa: ANN401 - a type
    """Return the type for pydantic to check, from the annotation in a dataclass."""
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple:
        rows = GenericAlias(tuple, (_kind(arguments[0], known), ...))
        return Annotated[rows, BeforeValidator(rules_of_mapping)] if known.kind == "chunk rule" else rows
    if get_origin(annotation) in {Union, UnionType}:
        return reduce(or_, (part if part is type(None) else _kind(part, known) for part in arguments))
    if known.choices:
        return Literal[known.choices]
    return KINDS[known.kind] if known.kind else annotation


def _constrained(default: object, annotation: Any, known: Option) -> FieldInfo:  # noqa: ANN401 - a type
    limits = {"ge": known.at_least, "gt": known.above, "le": known.at_most, "max_length": known.longest or None}
    if float in {annotation, *get_args(annotation)}:
        limits["allow_inf_nan"] = False
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    return cast("FieldInfo", Field(default, description=known.help, **given))
