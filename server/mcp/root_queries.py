"""Turn a search of some paths into a query for each root."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from cqm.index.model.query import Query
from cqm.server.answers.merged import of_each_root, within_root
from cqm.server.mcp.scope import OpenPath
from cqm.server.workspace.workspace import OpenIndex


def query_of_each(
    asked: Query, groups: Sequence[Sequence[OpenPath]], names: Sequence[str], *, has_names: bool
) -> dict[str, tuple[OpenIndex, Query]]:
    """Return the index and the query for each root, by its name; only for roots with the place to compare with."""
    roots = [group[0].opened.index.root for group in groups]
    is_of_several = len(roots) > 1 or has_names
    within = {name: at for name in names if is_of_several and (at := within_root(asked.like, name))}
    queries = dict[str, tuple[OpenIndex, Query]]()
    for group, name in zip(groups, names, strict=True):
        if within and name not in within:
            continue
        query = _of_root(asked, group, within.get(name, asked.like))
        if len(groups) > 1:
            query = of_each_root(_without_inner(query, roots, group[0].opened.index.root))
        queries[name] = group[0].opened, query
    return queries


def _of_root(asked: Query, group: Sequence[OpenPath], like: str) -> Query:
    """Return a query with its globs relative to the root of some paths, and a place there to compare with."""
    within = [at.include(asked.include) for at in group]
    return replace(
        asked,
        include=tuple(chain(*within)) if all(within) else (),
        exclude=tuple(chain(*(at.globs(asked.exclude) for at in group))),
        like=like,
    )


def _without_inner(query: Query, roots: Sequence[Path], root: Path) -> Query:
    """Leave out other roots inside a root: no file is found twice."""
    from cqm.index.text.globs import escaped  # start-up time

    inner = [it.relative_to(root).as_posix() for it in roots if it != root and it.is_relative_to(root)]
    return replace(query, exclude=(*query.exclude, *(f"/{escaped(path)}/**" for path in inner)))
