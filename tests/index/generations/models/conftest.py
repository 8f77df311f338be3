"""Code and a document, and options of an index of them with the models that are given."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RouteOptions


@pytest.fixture
def module() -> Callable[[str], str]:
    """The text of a module that defines a function of some length, by the function's name."""
    return lambda name: (
        f"def {name}(value):\n    total = 0\n" + f"    total += value  # {name} adds\n" * 40 + "    return total\n"
    )


@pytest.fixture
def tree(tmp_path: Path, module: Callable[[str], str]) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(4):
        (root / f"part_{number}.py").write_text(module(f"gather_{number}"))
    (root / "guide.md").write_text("# Guide\n\nHow the parts are gathered, in plain words.\n")
    return root


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., IndexOptions]:
    """Options by the models: one that failed is tried again at once, and nothing comes from the cache."""

    def made(preferred: EmbeddingOptions, *fallback: EmbeddingOptions, **routes: object) -> IndexOptions:
        chosen = RouteOptions(fallback=fallback, **{"retry_seconds": 0.0, **routes})  # type: ignore[arg-type]
        cache = CacheOptions(enabled=False)
        return IndexOptions(tmp_path / "home", workers=1, embedding=preferred, routes=chosen, cache=cache)

    return made
