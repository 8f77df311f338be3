"""Files listed in a text without a line: of `git status`, `git diff --stat`, a merge, a commit."""

import re

_MOST_CHARACTERS, _MOST_FILES = 20_000, 50
_STATE = (
    r"(?:(?:both |added by |deleted by )?(?:modified|new file|deleted|renamed|copied|typechange|added|us|them)"
    r"|(?:create|delete) mode \d{6}|rename|copy):?[ \t]+"
)
_LETTERS = r" {0,2}(?:[MADRCUT]{1,2}|\?\?|!!)(?:\d{1,3})?[ \t]+"
_ENTRY = re.compile(
    # Lines of git status, its short form and `--name-status`, `--numstat`, a merge; a renamed file's new path.
    rf"(?:[ \t]*{_STATE}|{_LETTERS}|(?:\d{{1,7}}|-)\t(?:\d{{1,7}}|-)\t"
    r"|CONFLICT \([^)\n]{1,40}\): (?:Merge conflict in )?|Auto-merging |error: patch failed: )"
    r"(?:\S{1,300}(?: -> | => |\t))?(?P<path>\S{1,300}?)(?::\d{1,7})?[ \t]*"
    # Lines of `git diff --stat`.
    r"|[ \t]*(?P<counted>\S{1,300}) +\| +(?:\d{1,7}(?: [+-]+)?|Bin(?: .{0,80})?)[ \t]*"
)
_COMMIT = re.compile(r"(?:commit )?[0-9a-f]{7,40}\b|On branch ")
_BARE = re.compile(r"[ \t]*(?P<path>[\w.@+-]{1,100}(?:/[\w.@+()\[\]-]{1,100}){0,20})[ \t]*")
_NAME = re.compile(r"/|\w\.\w{1,10}$|^\.\w")


def listed_paths(text: str) -> list[str]:
    """Return the paths listed in a text's lines, in order, each once; empty for other texts."""
    lines = text[:_MOST_CHARACTERS].strip("\n").split("\n")
    found = [match["path"] or match["counted"] for match in map(_ENTRY.fullmatch, lines) if match]
    if _COMMIT.match(text):
        bare = (match["path"] for match in map(_BARE.fullmatch, lines[1:]) if match)
        found += [path for path in bare if _NAME.search(path)]
    return [*dict.fromkeys(path for path in found if _NAME.search(path) or len(lines) > 1)][:_MOST_FILES]
