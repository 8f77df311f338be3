"""The cqm.yml of this repository has every option, and every option leads to the layer that it is for."""

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from cqm.chunkers.model import ChunkOptions
from cqm.index.contextual import CHATS, RULES
from cqm.index.embedding import PROVIDERS
from cqm.index.embedding.opening import ORDERS
from cqm.index.model.options import (
    CacheOptions,
    ContextOptions,
    EmbeddingOptions,
    IndexOptions,
    RerankOptions,
    RouteOptions,
    ScanOptions,
    StoreOptions,
)
from cqm.index.model.secrets import SecretOptions
from cqm.index.rerank import PROVIDERS as RERANKERS
from cqm.index.rerank import SHAPES
from cqm.index.store.qdrant_models import QUANTIZATIONS
from cqm.server.config.field_types import Section
from cqm.server.config.merge import option_names
from cqm.server.config.options import Options
from cqm.server.config.settings import Settings, load_settings
from cqm.server.config.sources import ANY, environment_variable
from cqm.server.config.watch_options import WatchOptions

EXAMPLE = Path(__file__).parents[2] / "cqm.yml"


def written_options() -> dict[tuple[str, ...], object]:
    """Every option in the cqm.yml of this repository, by name."""
    found: dict[tuple[str, ...], object] = {}
    for key, value in yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")).items():
        if isinstance(value, dict):
            found |= {(key, name): inner for name, inner in value.items()}
        else:
            found[key,] = value
    return found


def declared_lines() -> dict[tuple[str, ...], str]:
    """The docstring of every option and section of the code, by name."""
    lines = {(key,): text for key, text in lines_of(Options).items()}
    for key, field in Options.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            lines[key,] = inspect.getdoc(field.annotation) or ""
            lines |= {(key, name): text for name, text in lines_of(field.annotation).items()}
    return lines


def lines_of(section: type[Section]) -> dict[str, str]:
    """The docstrings below the options that a section declares or inherits."""
    lines: dict[str, str] = {}
    for part in section.__mro__[: section.__mro__.index(Section)]:
        for field, text in pairwise(ast.parse(inspect.getsource(part)).body[0].body):  # type: ignore[attr-defined]
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                lines[ast.unparse(field.target)] = ast.literal_eval(text.value)
    return lines


def written_lines() -> dict[tuple[str, ...], str]:
    """The comment above every option and section of the example file, by name."""
    lines: dict[tuple[str, ...], str] = {}
    section = ""
    for above, line in pairwise(EXAMPLE.read_text(encoding="utf-8").splitlines()):
        if ":" in line and not line.lstrip().startswith("#"):
            name = line.strip().partition(":")[0]
            section = section if line.startswith(" ") else name
            lines[(section, name) if line.startswith(" ") else (name,)] = above.strip().removeprefix("# ")
    return lines


def test_the_example_file_has_every_option_with_its_default() -> None:
    defaults = Options().model_dump(mode="json")
    names = [name for name in option_names(Options) if ANY not in name]
    expected = {name: defaults[name[0]][name[1]] if name[1:] else defaults[name[0]] for name in names}
    assert written_options() == expected


def test_the_example_file_is_accepted_as_a_projects_own(tmp_path: Path) -> None:
    settings = load_settings(EXAMPLE.parent, environment={}, user=tmp_path / "cqm.yml")
    assert settings.model_dump() == Options().model_dump()


def test_each_option_of_the_example_file_has_the_line_of_comment_that_the_code_has() -> None:
    assert written_lines() == declared_lines()


def test_the_blocks_that_the_example_file_shows_are_accepted(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    shown = re.search(r"^# providers:\n(?:#  .*\n)+", text, re.MULTILINE)
    assert shown
    (tmp_path / "cqm.yml").write_text(re.sub("^# ", "", shown[0], flags=re.MULTILINE), encoding="utf-8")
    blocks = load_settings(environment={}, user=tmp_path / "cqm.yml").providers
    assert [block.provider for block in blocks.values()] == ["ollama", "voyage"]


@pytest.mark.parametrize(
    ("section", "key", "names"),
    [
        ("embedding", "provider", PROVIDERS),
        ("embedding", "choose", ORDERS),
        ("context", "provider", (RULES, *CHATS)),
        ("rerank", "provider", RERANKERS),
        ("rerank", "shape", SHAPES),
        ("store", "quantization", QUANTIZATIONS),
    ],
)
def test_the_comment_names_every_row_that_an_option_may_name(section: str, key: str, names: Iterable[str]) -> None:
    comment = written_lines()[section, key]
    assert [name for name in names if not re.search(rf"\b{name}\b", comment)] == []


@pytest.mark.parametrize(
    ("model", "made"),
    [
        (ScanOptions(), Options().scan_options()),
        (ChunkOptions(), Options().chunk_options()),
        (EmbeddingOptions(), Options().embedding_options()),
        (IndexOptions(), Settings().index_options(EXAMPLE.parent / "tests")),
        (WatchOptions(), Options().watch_options()),
    ],
)
def test_the_defaults_of_settings_are_those_of_the_layers_below(model: object, made: object) -> None:
    assert made == model


@pytest.mark.parametrize(
    ("section", "layer"),
    [
        ("scan", ScanOptions),
        ("secrets", SecretOptions),
        ("chunk", ChunkOptions),
        ("providers", EmbeddingOptions),
        ("cache", CacheOptions),
        ("context", ContextOptions),
        ("rerank", RerankOptions),
        ("store", StoreOptions),
    ],
)
def test_every_option_of_the_layers_below_can_be_set(section: str, layer: type) -> None:
    # Facts of symbols are for previews, which ask for them; an index stores none.
    names = {field.name for field in dataclasses.fields(layer)} - {"details"}
    # What is redacted is an option of the scan, in a section of its own.
    names -= {"secrets"}
    assert {name[-1] for name in option_names(Options) if name[0] == section} == names


def test_the_section_of_the_model_has_its_options_and_those_of_the_routes() -> None:
    layers = (EmbeddingOptions, RouteOptions)
    names = {field.name for layer in layers for field in dataclasses.fields(layer)}
    assert {name[1] for name in option_names(Options) if name[0] == "embedding"} == names


def test_no_two_options_share_a_variable() -> None:
    names = [name for name in option_names(Options) if ANY not in name]
    assert len({environment_variable(name) for name in names}) == len(names)
