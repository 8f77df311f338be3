"""Folders and files as routes: Next.js, Nuxt, SvelteKit, Remix, TanStack Router, Astro, Razor Pages."""

import re
from collections.abc import Callable
from typing import NamedTuple

_METHODS = "get|post|put|patch|delete"
_SCRIPT = r"\.(?:[cm]?[jt]sx?)$"


class FolderRoute(NamedTuple):
    """A file as a route.

    Attributes:
        pattern: of its path, with placeholders such as "[id]".
        method: in capitals, if the file's name tells it; else empty.
    """

    pattern: str
    method: str = ""


def _plain(route: str) -> str:
    """Return a route without groups "(x)" and slots "@x"; "index" stands for its folder."""
    parts = [it for it in route.split("/") if it and not (it[0] == "(" and it[-1] == ")") and it[0] != "@"]
    return "/".join(parts[:-1] if parts and parts[-1] == "index" else parts)


def _flat(route: str) -> str:
    """Return a route with its segments in one name: "posts.$id"; those with "_" in front are layouts."""
    parts = [it.rstrip("_") for it in re.split(r"[/.]", route) if it and not it.startswith(("_", "("))]
    return "/".join(parts[:-1] if parts and parts[-1] in {"index", "route"} else parts)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(rf"(?:^|/)app/(?P<route>(?:[^/]+/)*)(?:page|route){_SCRIPT}"), _plain),
    (re.compile(rf"(?:^|/)pages/(?P<route>(?!_app\b|_document\b)(?:[^/]+/)*[a-z\d\[_][^/.]*){_SCRIPT}"), _plain),
    (re.compile(r"(?:^|/)pages/(?P<route>(?:[a-z\d\[_][^/]*/)*[a-z\d\[_][^/]*)\.(?:vue|astro|mdx)$"), _plain),
    (re.compile(rf"(?:^|/)server/(?:routes/|(?=api/))(?P<route>[^.]+)(?:\.(?P<method>{_METHODS}))?\.ts$"), _plain),
    (re.compile(r"(?:^|/)routes/(?P<route>(?:[^/]+/)*)\+(?:page|server)(?:\.server)?\.(?:svelte|[jt]s)$"), _plain),
    (re.compile(r"(?:^|/)routes/(?P<route>[^+]+)\.[jt]sx$"), _flat),
    (re.compile(r"(?:^|/)Pages/(?P<route>.+)\.cshtml$"), lambda route: route.removesuffix("Index")),
)  # fmt: skip


def route_of_file(path: str) -> FolderRoute | None:
    """Return the route of a file by its path; None for none."""
    for form, plain in _FORMS:
        if found := form.search(path):
            return FolderRoute(plain(found["route"]), (found.groupdict().get("method") or "").upper())
    return None
