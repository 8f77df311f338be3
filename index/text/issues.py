"""Read a pasted issue: its title, prose, code and names count; its template, versions and checklists don't."""

import re
from collections.abc import Iterator

from cqm.index.text.exact_words import names_in

_TITLES = (
    *("what (?:is|was|did|happen|would|are|version|problem|do)", "how (?:to|can|do)", "steps?", "to reproduce"),
    *("(?:minimal )?repro", "reproduc", "expected", "actual", "current", "observed", "describe", "bug", "issue"),
    *("feature", "problem", "summary", "description", "details", "context", "additional", "any (?:other|additional)"),
    *("related", "possible", "proposed", "suggested", "solution", "alternatives", "is (?:your|there|this)", "relevant"),
    *("(?:error )?(?:log|output|stack|trace)s?", "example", "link", "where", "tell us", "motivation"),
)
"""Beginnings of headings from a template: they say nothing of this issue."""
_IDLE_TITLES = (
    *("environment", "versions?", "system", "your (?:environment|system|setup)", "platform", "software", "dependenc"),
    *("browser", "device", "setup", "prerequisite", "check ?list", "before (?:submit|you)", "code of conduct"),
    *("screenshots?", "pre-?flight", "confirm", "operating system", "os", "package versions?", "installed", "envinfo"),
    *("are you willing", "contribut", "acknowledg", "validations?"),
)
"""Beginnings of headings above text unrelated to the code."""
_TOOLS = (
    *("os", "operating system", "platform", "browsers?", r"node(?:\.?js)?", "npm", "yarn", "pnpm", "bun", "deno"),
    *("python", "pip", "ruby", "rails", "php", "composer", "java", "jdk", "jre", "jvm", "maven", "gradle", "kotlin"),
    *("go", "golang", "rustc?", "cargo", r"\.?net(?: core| framework)?", "dotnet", "sdk", "runtime", "architecture"),
    *("arch", "cpu", "kernel", "distro", "distribution", "shell", "terminal", "ide", "editor", "docker", "kubernetes"),
    *("compiler", "gcc", "clang", "cmake", "library", "package", "framework", r"[\w @/.-]{1,40}version[\w ()]{0,20}"),
)
"""Tools with versions stated in issues."""
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.{1,200}?)[ \t#]*$|\*\*([^*\n]{3,60})\*\*:?[ \t]*$")
_OF_TEMPLATE = re.compile(rf"\W*(?:(?:{'|'.join(_TITLES)}).*|(?:source )?code|traceback|behaviou?r)\W*", re.IGNORECASE)
_IDLE = re.compile(rf"\W*(?:(?:{'|'.join(_IDLE_TITLES)})\b.*|.*\binfo(?:rmation)?|.*\bversions?)\W*$", re.IGNORECASE)
_VERSION = re.compile(
    rf"[ \t]*[-*|+]?[ \t]*[*_`]{{0,2}}(?:{'|'.join(_TOOLS)})[*_`]{{0,2}}[ \t]*(?:version)?[ \t]*[:=|][^\n]{{0,120}}$"
    r"|[ \t]*[-*+]?[ \t]*[\w@/.-]{1,50}[ \t:=|]+[\^~v=]{0,2}\d+\.\d+[\w.+-]*[ \t|]*$",
    re.IGNORECASE,
)
_CHECK = re.compile(r"[ \t]*[-*+][ \t]+\[[ xX]\]")
_EMPTY = re.compile(
    r"[ \t]*(?:_?no response_?|n/?a|none|-+|\|[ \t:|-]+\||</?(?:details|summary|br|p)>.*)?[ \t]*", re.IGNORECASE
)
_LINK = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,400}\)|https?://\S+|(?<!\w)@[\w-]+(?![\w/])")
_SIGNS = (
    *("steps? to", "to reproduce", "reproduc", "expected", "actual", "describe", "what happened", "environment"),
    *(r"versions?\b", "bug", "current behaviou?r", "additional", "summary", "description", "system"),
)
_ISSUE = re.compile(
    rf"^[ \t]{{0,8}}[-*+][ \t]+\[[ xX]\] |^#{{1,4}}[ \t]+\W{{0,4}}(?:{'|'.join(_SIGNS)})"
    r"|^\*\*(?:describe|to reproduce|expected|steps)",
    re.IGNORECASE | re.MULTILINE,
)


def is_issue(text: str) -> bool:
    """Whether a text is an issue, by the headings and checklists of templates."""
    return "\n" in text and _ISSUE.search(text) is not None


def lines_of_issue(text: str) -> Iterator[str]:
    """Yield the relevant lines of an issue (see `is_issue`); its title and the names in it twice."""
    lines = _LINK.sub(" ", _without_comments(text)).split("\n")
    title = next((line for line in lines if line.strip()), "")
    if not (heading := _HEADING.match(title)) or not _is_given(heading[2] or heading[3]):
        yield title.strip("# \t")
    yield " ".join(names_in(text))
    skipped, is_code = 0, False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif is_code:
            if not skipped:
                yield line
        elif heading := _HEADING.match(line):
            depth, name = len(heading[1] or "######"), heading[2] or heading[3]
            if skipped and depth > skipped:
                continue
            skipped = depth if _IDLE.match(name) else 0
            if not _is_given(name):
                yield name
        elif not (skipped or _CHECK.match(line) or _EMPTY.fullmatch(line) or _VERSION.match(line)):
            yield line


def _is_given(heading: str) -> bool:
    """Whether a heading is the template's."""
    return bool(_OF_TEMPLATE.fullmatch(heading) or _IDLE.match(heading))


def _without_comments(text: str) -> str:
    head, *parts = text.split("<!--")
    return head + "".join(part.partition("-->")[2] for part in parts)
