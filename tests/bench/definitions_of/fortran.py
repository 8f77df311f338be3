"""Print the definitions of Fortran, found by fparser: path, line, name. Paths are read from standard input."""

import logging
import sys
from collections.abc import Iterator
from typing import Any

from fparser.api import parse

logging.disable(logging.CRITICAL)
UNITS = ("Subroutine", "Function", "Module", "Program", "SubModule", "BlockData")


def main() -> None:
    """Print those of each path; fparser fails in many ways."""
    for path in sys.stdin.read().split():
        try:
            tree = parse(path, isfree=not path.endswith((".f", ".for", ".F")), analyze=False, ignore_comments=True)
            found = [*definitions(tree, "")]
        except BaseException:  # noqa: BLE001 - it ends the process for some texts
            continue
        print(f"{path}\t0\t")
        for line, name in found:
            print(f"{path}\t{line}\t{name}")


def definitions(node: Any, around: str) -> Iterator[tuple[int, str]]:
    """Yield lines and names; those of interfaces, and of variables in modules and types, may count or not."""
    for it in getattr(node, "content", []):
        kind, name = type(it).__name__, getattr(it, "name", "")
        item = getattr(it, "item", None)
        statement = str(item.line).lower() if item is not None else ""
        if name and item is not None and kind in UNITS:
            yield item.span[0], "?" * (around == "Interface") + name
        # "type(order) :: a" declares a variable.
        is_type = kind == "Type" and not statement.startswith("type(")
        if item is not None and (is_type or kind == "Interface") and name and not name.startswith("__"):
            yield item.span[0], "?" * (kind == "Interface") + name
        for member in getattr(it, "content", []) if kind in ("Module", "Type") else ():
            for declared in getattr(member, "entity_decls", None) or []:
                yield member.item.span[0], "?" + declared.split("(")[0].split("=")[0].split("*")[0].strip()
        yield from definitions(it, kind)


if __name__ == "__main__":
    main()
