"""The environment of a process belongs to that process: ours read it, and never write it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SOURCES = sorted(path for package in ("chunkers", "index", "server") for path in (REPOSITORY / package).rglob("*.py"))
WRITERS = frozenset({"clear", "pop", "popitem", "setdefault", "update", "__setitem__", "__delitem__"})
FUNCTIONS = frozenset({"putenv", "unsetenv"})


def is_environment(node: ast.AST) -> bool:
    """Whether an expression is `os.environ` or `environ`, or the same for bytes."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in {"environ", "environb"}


def writes(source: str) -> Iterator[int]:
    """The lines which change the environment."""
    for node in ast.walk(ast.parse(source)):
        is_changed = (
            isinstance(node, ast.Subscript) and is_environment(node.value) and isinstance(node.ctx, ast.Store | ast.Del)
        )
        is_replaced = is_environment(node) and isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        called = node.func if isinstance(node, ast.Call) else None
        is_called = isinstance(called, ast.Attribute) and (
            called.attr in FUNCTIONS or (called.attr in WRITERS and is_environment(called.value))
        )
        if is_changed or is_replaced or is_called:
            yield node.lineno


@pytest.mark.parametrize(
    "source",
    [
        "os.environ['A'] = 'b'",
        "del os.environ['A']",
        "environ['A'] += 'b'",
        "os.environ |= {}",
        "os.environ = {}",
        "os.environ.pop('A', None)",
        "os.environ.update(A='b')",
        "os.environ.setdefault('A', 'b')",
        "os.putenv('A', 'b')",
        "for os.environ['A'] in range(2): pass",
    ],
)
def test_a_change_of_the_environment_is_seen(source: str) -> None:
    assert list(writes(source)) == [1]


@pytest.mark.parametrize("source", ["os.environ.get('A')", "run(env={**os.environ, 'A': 'b'})", "A = os.environ['A']"])
def test_reading_it_for_a_child_process_too_is_no_change(source: str) -> None:
    assert list(writes(source)) == []


def test_nothing_changes_the_environment_of_its_process() -> None:
    """Once an owner took over its clients' variables so; two clients of one process then met each other's keys."""
    assert len(SOURCES) > 200
    found = [f"{path.relative_to(REPOSITORY)}:{line}" for path in SOURCES for line in writes(path.read_text("utf-8"))]
    assert found == []
