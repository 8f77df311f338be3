"""Files of an old version that stands beside a newer one in the same tree: `api/v1/` where there is an `api/v2/`."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from cqm.index.ranking.file_roles import Role
from cqm.index.text.terms import stems

SUPERSEDED = Role("superseded", 0.8, re.compile(r"(?:^|/)(v(\d{1,3}))(?=/)", re.IGNORECASE))
"""What its pattern matches is the folder of a version; it is this role where there is a later one beside it."""


def superseded(paths: Collection[str], words: frozenset[str]) -> frozenset[str]:
    """Those of some paths that lie in the folder of a version with a later one beside it.

    Parameters:
        paths: relative to the root; only what is among them counts as there.
        words: of the question, stemmed: a version that it names is what it asks for.
    """
    if not any(map(SUPERSEDED.paths.search, paths)):
        return frozenset()
    latest = _latest(paths)
    return frozenset(path for path in paths if _is_old(path, latest, words))


def _latest(paths: Collection[str]) -> Mapping[str, int]:
    """The latest version below each folder."""
    latest: defaultdict[str, int] = defaultdict(int)
    for path in paths:
        for found in SUPERSEDED.paths.finditer(path):
            latest[path[: found.start(1)]] = max(latest[path[: found.start(1)]], int(found[2]))
    return latest


def _is_old(path: str, latest: Mapping[str, int], words: frozenset[str]) -> bool:
    return any(
        int(found[2]) < latest[path[: found.start(1)]] and not words.issuperset(stems(found[1]))
        for found in SUPERSEDED.paths.finditer(path)
    )
