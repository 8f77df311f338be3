"""The ignore rules of a tree, and walking by them.

The rules are git's (.gitignore at every level, .git/info/exclude, the user's global ignore file), then `.cqmignore`
files in the same syntax, which win over git's and may bring back ("!pattern") what git ignores, then the globs of
`ScanOptions.exclude`, which win over all. The `.ignore` and `.rgignore` files of other tools do not count.

- `.cqmignore` files above the root count: one in the home folder holds for all projects.
- In a repository git's files above the root count as they do for git, unless they ignore the root itself: who asks for
  an ignored folder wants it. Outside of any repository .gitignore files count too, but none above the root.
- Repositories inside the tree, and submodules, have their own rules.
- Links are listed, never followed.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import ignore
from ignore.overrides import Override, OverrideBuilder

from cqm.index.errors import ScanError
from cqm.index.options import ScanOptions
from cqm.index.skip import NEVER_LISTED, pruned_names

IGNORE_FILE = ".cqmignore"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What holds in a tree.

    Attributes:
        root: a real path of a folder.
        repository: the work tree of git that the root is in and that does not ignore it; None for none.
        heeds_parents: whether ignore files above the root count.
        uses_git: whether git's ignore files count at all.
        has_excludes: whether `ScanOptions.exclude` names anything.
        overrides: what is left out whatever an ignore file says.
    """

    root: Path
    repository: Path | None
    heeds_parents: bool
    uses_git: bool
    has_excludes: bool
    overrides: Override


def rules_of(root: Path, options: ScanOptions) -> IgnoreRules:
    """Find out which rules hold below a folder.

    Parameters:
        root: a real path of a folder.
        options: `use_gitignore` and `exclude`, and what decides which folders need not be walked.

    Raises:
        ScanError: a pattern of `exclude` is malformed.
    """
    repository = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    rules = IgnoreRules(
        root=root,
        repository=repository,
        heeds_parents=True,
        uses_git=options.use_gitignore,
        has_excludes=bool(options.exclude),
        overrides=_overrides(root, options),
    )
    if repository is None:
        # The walker heeds the files of all folders above, or of none.
        has_file_above = any((folder / ".gitignore").exists() for folder in root.parents)
        return replace(rules, heeds_parents=not (rules.uses_git and has_file_above))
    if root != repository and not _reaches_root(rules, repository):
        return replace(rules, repository=None, heeds_parents=False)
    return rules


def walk(rules: IgnoreRules, top: str = "", *, depth: int | None = None, by_git: bool = True) -> Iterator[str]:
    """The files, links and folders in scope below a folder, a folder before what is in it.

    A folder that cannot be read is given, and nothing in it.

    Parameters:
        rules: of the tree.
        top: relative to the root, with "/" between parts; "" for the root. It must be in scope itself.
        depth: how many levels; None for all.
        by_git: False to heed `.cqmignore` and `exclude` alone.
    """
    uses_git = rules.uses_git and by_git
    folder = rules.root / top
    builder = ignore.WalkBuilder(folder).parents(rules.heeds_parents).max_depth(depth)
    builder.hidden(False).ignore(False)  # noqa: FBT003 - it lists dot files, and heeds no ".ignore"
    builder.git_ignore(uses_git).git_exclude(uses_git).git_global(uses_git)
    # Without this a .gitignore counts in repositories only, and with it a repository does not end at its own folder.
    builder.require_git(rules.repository is not None)
    builder.add_custom_ignore_filename(IGNORE_FILE)
    builder.overrides(rules.overrides)
    prefix = len(os.path.join(rules.root, ""))  # noqa: PTH118 - with a separator at its end
    for path in _paths(builder.build()):
        if len(path) > prefix and path != str(folder):
            yield path[prefix:].replace(os.sep, "/")


def _paths(entries: ignore.Walk) -> Iterator[str]:
    while True:
        try:
            yield os.fspath(next(entries).path())
        except StopIteration:
            return
        except ignore.Error:
            # A folder that cannot be read or has just vanished; it came as an entry before this.
            continue


def _overrides(root: Path, options: ScanOptions) -> Override:
    builder = OverrideBuilder(root)
    for name in sorted(NEVER_LISTED):
        builder.add(f"!{name}")
    for name in sorted(pruned_names(options)):
        builder.add(f"!**/{name}/*")
    for glob in options.exclude:
        if glob.startswith("!"):
            remedy = f"Write {glob} in a {IGNORE_FILE} file instead: exclude can only leave out."
            raise ScanError(f"The exclude pattern {glob!r} would bring files back.", remedy=remedy)
        try:
            builder.add(f"!{glob}")
        except ignore.Error as error:
            remedy = "Write it as a line of a .gitignore file."
            raise ScanError(f"The exclude pattern {glob!r} is malformed: {error}.", remedy=remedy) from error
    return builder.build()


def _reaches_root(rules: IgnoreRules, repository: Path) -> bool:
    """Whether git's rules leave the root in scope of the repository that it is in."""
    above = replace(rules, root=repository, overrides=OverrideBuilder(repository).build())
    parts = rules.root.relative_to(repository).parts
    folders = ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]
    return all(folder in walk(above, parent, depth=1) for parent, folder in pairwise(folders))
