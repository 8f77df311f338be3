"""Count the chunks still waiting for a vector or a written context."""

from collections.abc import Mapping

from cqm.index.manifest.facts import space_fact
from cqm.index.manifest.manifest import Manifest

_UNKNOWN = "?"
"""No space has this name, so with it every chunk counts as elsewhere."""


def lacking(manifest: Manifest, wanted: Mapping[str, str]) -> int:
    """Count the chunks waiting for a vector of their preferred model or for a written context.

    Parameters:
        wanted: from `wanted_spaces`.
    """
    count = manifest.without_note()[1]
    for route, space in wanted.items():
        recorded = {name: vector for vector, name in manifest.spaces().items()}.get(manifest.fact(space_fact(route)))
        count += manifest.elsewhere(route, space or recorded or _UNKNOWN)[1]
    return count
