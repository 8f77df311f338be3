"""."""

from collections.abc import Mapping

from cqm.index.manifest.facts import space_fact
from cqm.index.manifest.manifest import Manifest

_UNKNOWN = "?"
"""No space has this name: with it, every chunk is elsewhere."""


def lacking(manifest: Manifest, wanted: Mapping[str, str]) -> int:
    """How many chunks wait for a vector of their preferred model or for a written context.

    Parameters:
        wanted: as `wanted_spaces` gives it.
    """
    count = manifest.without_note()[1]
    for route, space in wanted.items():
        recorded = {name: vector for vector, name in manifest.spaces().items()}.get(manifest.fact(space_fact(route)))
        count += manifest.elsewhere(route, space or recorded or _UNKNOWN)[1]
    return count
