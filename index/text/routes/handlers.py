"""Read which function or component a declared route names."""

import re

_FORMS = tuple(
    re.compile(form)
    for form in (
        r"^[^\n]{0,40}?(?:=>|to:|,)\s*[\"'](?P<owner>[\w/]+)#(?P<name>\w+[?!]?)[\"']",  # Rails
        r"(?P<owner>\w+)::class\s*,\s*[\"'](?P<name>\w+)[\"']",  # Laravel
        r"[\"'](?:[\w\\]+\\)?(?P<owner>\w+)@(?P<name>\w+)[\"']",  # Laravel before 8
        r"^\s*,\s*(?P<owner>[A-Z][\w.]*)\s*,\s*:(?P<name>\w+)",  # Phoenix
        # axum, actix
        r"^\s*,\s*(?:(?:web|routing|axum)(?:::|\.))*(?:get|post|put|patch|delete)\(\s*(?:\)\.to\()?(?:(?P<owner>\w+)::)?(?P<name>\w+)",
        r"\bcomponent\s*[:=]\s*\{?(?P<owner>)(?P<name>[A-Z]\w+)",  # Vue, Angular, React
        r"\belement=\{\s*<(?P<owner>)(?P<name>[A-Z]\w+)",
        r"^\s*,\s*(?:view_func=|endpoint=)?(?:(?P<owner>\w+)\.)?(?P<name>[A-Za-z_]\w*)(?:\.as_view\([^()]*\))?\s*[,)]",
        # The last argument, behind middleware.
        r"^\s*,[^\n;]*?[,(\s](?:[\w.]+\.)?(?:(?P<owner>\w+)\.)?(?P<name>[A-Za-z_]\w+)\)?\)\s*(?:[;.].*)?(?:\n|$)",
    )
)
_NO_HANDLERS = frozenset({
    "function", "async", "fn", "func", "redirect", "include", "render", "true", "false", "null", "None", "nil", "log",
    "name", "json", "response", "request", "res", "req", "next", "ctx", "auth",
})  # fmt: skip


def handler_of(tail: str) -> str:
    """Return the handler that a declaration names, with "." before its name; empty if it names none.

    Parameters:
        tail: the declaration's text behind its path.
    """
    for form in _FORMS:
        found = form.search(tail)
        if found and found["name"] not in _NO_HANDLERS:
            return _symbol(found["owner"] or "", found["name"], is_rails="#" in found[0])
    return ""


def _symbol(owner: str, name: str, *, is_rails: bool) -> str:
    if is_rails:
        last = owner.rpartition("/")[2]
        owner = "".join(part[:1].upper() + part[1:] for part in last.split("_")) + "Controller"
    return f"{owner}.{name}" if owner else name
