"""Tell names of standard libraries: a project that has no such package does not define them."""

import re

_ROOTS = frozenset(
    re.findall(
        r"\S+",
        """
        std core alloc java javax jakarta kotlin kotlinx scala android androidx System Microsoft Foundation
        UIKit SwiftUI boost os sys io re json abc ast asyncio bytes bytearray str dict list set frozenset
        tuple int float object socket threading logging collections itertools functools pathlib datetime
        typing subprocess unittest contextlib dataclasses argparse tempfile shutil hashlib pickle csv sqlite3
        urllib xml html email ssl struct random math time copy enum inspect operator fmt strings bufio context
        sync errors sort strconv regexp reflect runtime atomic filepath ioutil unsafe rand Array Object
        Promise JSON String Number Math Map Set Date RegExp Symbol Proxy Reflect Error Function WeakMap Intl
        React Hash File Dir Kernel Enumerable Comparable Struct Iterator Option Result Vec Box Rc Arc Cell
        RefCell HashMap
        """,
    )
)
"""First or last outer parts of such names, as they are spelled."""
_LEAST_OUTER = 2


def container_of(symbol: str) -> str:
    """Return what has to enclose a name for it to be this one: in a standard library all, else its last outer part.

    `java/util` for "java.util.List", `core` for "click.core.Context".

    Parameters:
        symbol: with "." between its parts, two or more.
    """
    outer = symbol.split(".")[:-1]
    return "/".join(outer) if outer[0] in _ROOTS else outer[-1]


def needs_container(symbol: str) -> bool:
    """Tell if a name is another project's unless its container is found: of a standard library, or of two outer parts.

    Parameters:
        symbol: with "." between its parts.
    """
    outer = symbol.split(".")[:-1]
    return len(outer) >= _LEAST_OUTER or (bool(outer) and outer[-1] in _ROOTS)
