"""The cqm.yml of this repository has every option, and every option leads to the layer that it is for."""

import ast
import dataclasses
import inspect
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from cqm.chunkers.model import ChunkOptions
from cqm.index.options import EmbeddingOptions, IndexOptions, ScanOptions
from cqm.server import options as options_module
from cqm.server.layering import option_names
from cqm.server.options import Options
from cqm.server.pending import WatchOptions
from cqm.server.settings import Settings, load_settings
from cqm.server.sources import environment_variable

EXAMPLE = Path(__file__).parents[2] / "cqm.yml"


def written_options() -> dict[tuple[str, ...], object]:
    """Every option in the cqm.yml of this repository, by name."""
    found: dict[tuple[str, ...], object] = {}
    for key, value in yaml.safe_load(EXAMPLE.read_text(encoding="utf-8")).items():
        found |= {(key, name): inner for name, inner in value.items()} if isinstance(value, dict) else {(key,): value}
    return found


def declared_lines() -> dict[str, str]:
    """The docstring of every option and section of the code, by its last name."""
    tree = ast.parse(inspect.getsource(options_module))
    sections = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    lines: dict[str, str] = {}
    for node in sections.values():
        for field, text in pairwise(node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                lines[ast.unparse(field.target)] = ast.literal_eval(text.value)
    for name, field_info in Options.model_fields.items():
        if field_info.annotation.__name__ in sections:  # type: ignore[union-attr]
            lines[name] = ast.get_docstring(sections[field_info.annotation.__name__]) or ""  # type: ignore[union-attr]
    return lines


def test_the_example_file_has_every_option_with_its_default() -> None:
    defaults = Options().model_dump(mode="json")
    expected = {name: defaults[name[0]][name[1]] if name[1:] else defaults[name[0]] for name in option_names(Options)}
    assert written_options() == expected


def test_the_example_file_is_accepted_as_a_projects_own(tmp_path: Path) -> None:
    settings = load_settings(EXAMPLE.parent, environment={}, user=tmp_path / "cqm.yml")
    assert settings.model_dump() == Options().model_dump()


def test_each_option_of_the_example_file_has_the_line_of_comment_that_the_code_has() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    comments = {
        line.strip().partition(":")[0]: above.strip().removeprefix("# ")
        for above, line in pairwise(lines)
        if ":" in line and not line.lstrip().startswith("#")
    }
    assert comments == declared_lines()


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
    ("section", "layer"), [("scan", ScanOptions), ("chunk", ChunkOptions), ("embedding", EmbeddingOptions)]
)
def test_every_option_of_the_layers_below_can_be_set(section: str, layer: type) -> None:
    # Facts of symbols are for previews, which ask for them; an index stores none.
    names = {field.name for field in dataclasses.fields(layer)} - {"details"}
    assert {name[1] for name in option_names(Options) if name[0] == section} == names


def test_no_two_options_share_a_variable() -> None:
    names = option_names(Options)
    assert len({environment_variable(name) for name in names}) == len(names)
