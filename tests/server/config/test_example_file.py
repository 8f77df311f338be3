"""The cqm.yml of this repository has every option, and every option leads to the layer that it is for."""

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
from cqm.server.config.declared import declared_options
from cqm.server.config.example import example
from cqm.server.config.merge import option_names
from cqm.server.config.options import Options
from cqm.server.config.settings import Settings, load_settings
from cqm.server.config.sources import ANY, environment_variable
from cqm.server.config.watch_options import WatchOptions

EXAMPLE = Path(__file__).parents[3] / "cqm.yml"


def written_options() -> dict[tuple[str, ...], object]:
    """Every option in the cqm.yml of this repository, by name."""
    found: dict[tuple[str, ...], object] = {}
    for key, value in yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")).items():
        if isinstance(value, dict):
            found |= {(key, name): inner for name, inner in value.items()}
        else:
            found[key,] = value
    return found


def declaring(section: str) -> Any:
    """The dataclass that declares a section's options; None for an option by itself."""
    return getattr(Options.model_fields[section].annotation, "declaring", None)


def test_the_example_file_has_every_option_with_its_default() -> None:
    defaults = Options().model_dump(mode="json")
    names = [name for name in option_names(Options) if ANY not in name]
    expected = {name: defaults[name[0]][name[1]] if name[1:] else defaults[name[0]] for name in names}
    assert written_options() == expected


def test_the_example_file_is_accepted_as_a_projects_own(tmp_path: Path) -> None:
    settings = load_settings(EXAMPLE.parent, environment={}, user=tmp_path / "cqm.yml")
    assert settings.model_dump() == Options().model_dump()


def test_the_example_file_is_written_from_the_declarations() -> None:
    """After a change of an option: python -m cqm.server.config.example > cqm.yml."""
    assert EXAMPLE.read_text(encoding="utf-8") == example()


@pytest.mark.parametrize("section", [key for key, info in Options.model_fields.items() if declaring(key)])
def test_every_option_and_section_explains_itself(section: str) -> None:
    helps = [known.help for known in declared_options(declaring(section)).values()]
    assert [text for text in (declaring(section).__doc__.partition("\n\n")[0], *helps) if not text.endswith(".")] == []


def test_the_example_tells_the_range_of_a_number_above_it() -> None:
    assert "  # Results a page. Allowed: 1 to 100.\n  limit: 10\n" in example()
    assert "  # Limit of one request. Allowed: above 0, at most 3600.\n  timeout_seconds: 60.0\n" in example()


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
    comment = declared_options(declaring(section))[key].help
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
