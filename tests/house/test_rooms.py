"""The plan of the house: imports run downwards, and a room uses of another one what that lists as public."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("chunkers", "index", "server")
MOST_MODULES = 14


def modules() -> Mapping[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            found[".".join(("cqm", *parts)).removesuffix(".__init__")] = path
    return found


MODULES = modules()
ROOMS = sorted(name for name, path in MODULES.items() if path.name == "__init__.py")


def room_of(module: str) -> str:
    """A module's package; a module at the top of one of the three packages is a room of its own."""
    if module in ROOMS or module.count(".") == 2:
        return module
    return module.rpartition(".")[0]


def imports_of(module: str) -> Iterator[tuple[str, str]]:
    """The modules of ours that a module imports, each with the name that it takes from there ("" for the module)."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cqm"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if inner in MODULES else (str(node.module), alias.name)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("cqm."))


def public_names(room: str) -> frozenset[str]:
    for node in ast.parse(MODULES[room].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def test_there_are_rooms_to_look_at() -> None:
    assert len(MODULES) > 200
    assert len(ROOMS) > 25


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_a_sentence_what_it_is_for_and_lists_what_others_may_use(room: str) -> None:
    tree = ast.parse(MODULES[room].read_text(encoding="utf-8"))
    sentence = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    assert len(sentence.split()) >= 4
    assert sentence.endswith(".")
    assert public_names(room) or room == "cqm.server", "an empty list is no list"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_at_most_fourteen_modules(room: str) -> None:
    own = [name for name in MODULES if name.rpartition(".")[0] == room and name not in ROOMS]
    assert len(own) <= MOST_MODULES, own


def test_imports_run_downwards_between_rooms() -> None:
    below: dict[str, set[str]] = {}
    for module in MODULES:
        for target, _ in imports_of(module):
            if room_of(target) != room_of(module):
                below.setdefault(room_of(module), set()).add(room_of(target))
    try:
        list(TopologicalSorter(below).static_order())
    except CycleError as error:
        pytest.fail(f"rooms import each other: {' -> '.join(reversed(error.args[1]))}")


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = {module: {target for target, _ in imports_of(module) if target != module} for module in MODULES}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(reversed(error.args[1]))}")


def test_the_three_packages_stand_on_each_other_in_one_order() -> None:
    floors = {f"cqm.{name}": floor for floor, name in enumerate(PACKAGES)}
    wrong = [
        f"{module} -> {target}"
        for module in MODULES
        for target, _ in imports_of(module)
        if floors[".".join(target.split(".")[:2])] > floors[".".join(module.split(".")[:2])]
    ]
    assert wrong == []


def test_a_room_uses_of_another_room_only_what_that_lists() -> None:
    wrong = []
    for module in MODULES:
        for target, name in imports_of(module):
            room = target if target in ROOMS else target.rpartition(".")[0]
            own = module if module in ROOMS else module.rpartition(".")[0]
            if room == own or room in {"cqm.chunkers", "cqm.index", "cqm.server"}:
                continue
            used = name if target in ROOMS else target.rpartition(".")[2]
            if used and used not in public_names(room):
                wrong.append(f"{module} uses {used} of {room}")
    assert wrong == []


@pytest.mark.processes
def test_what_a_room_lists_is_there() -> None:
    # A star import takes each name of `__all__`, and fails for one that is neither defined nor a module.
    program = "\n".join(f"from {room} import *" for room in ROOMS)
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


@pytest.mark.processes
def test_the_packages_load_nothing_before_a_name_is_asked_for() -> None:
    program = "import sys, cqm.chunkers, cqm.index, cqm.server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("cqm.")}
    assert ours == {"cqm.chunkers", "cqm.index", "cqm.server"}
