"""Skip files and folders no ignore rule names: secrets, lock files, and folders filled by tools.

Everything here is a table. A name alone decides only if no project uses it for its own source. For names a project
might use ("vendor", "target", "build"), there must also be something left behind by the tool.
"""

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from cqm.chunkers.detect import TEXT, is_generated, is_minified, language_of
from cqm.chunkers.documents.pdf_text import can_read_pdf
from cqm.chunkers.source_types import CODE, DOCUMENTATION, source_type_of
from cqm.chunkers.structured.openapi import is_openapi
from cqm.chunkers.text_of_file import PDF_SUFFIX
from cqm.index.model.options import ALL, NONE, ScanOptions
from cqm.index.model.query import SkipReason
from cqm.index.secrets.file_names import is_allowed_path, is_secret_path

NEVER_LISTED = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", ".cqm"})
"""Names never part of a tree: the stores of version control, and our own."""

_LOCK_FILES = frozenset(
    {
        # JavaScript
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "bun.lockb",
        "deno.lock",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        # Python
        "poetry.lock",
        "uv.lock",
        "pipfile.lock",
        "pdm.lock",
        "pixi.lock",
        "pylock.toml",
        "conda-lock.yml",
        # Rust, Go, Ruby, PHP
        "cargo.lock",
        "go.sum",
        "go.work.sum",
        "gemfile.lock",
        "gems.locked",
        "composer.lock",
        "symfony.lock",
        # Java and Kotlin, .NET, Swift and Objective-C
        "gradle.lockfile",
        "buildscript-gradle.lockfile",
        "maven_install.json",
        "packages.lock.json",
        "paket.lock",
        "project.assets.json",
        "package.resolved",
        "podfile.lock",
        "cartfile.resolved",
        # Elixir and Erlang, Dart, Haskell, Crystal, Nim
        "mix.lock",
        "rebar.lock",
        "pubspec.lock",
        "stack.yaml.lock",
        "cabal.project.freeze",
        "shard.lock",
        "nimble.lock",
        # Nix, Terraform, Bazel, Helm
        "flake.lock",
        "devbox.lock",
        ".terraform.lock.hcl",
        "module.bazel.lock",
        "chart.lock",
    }
)

_PRIVATE_KEY = re.compile(r"\s*-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")

# Settings of package clients, which may contain a token: the text decides.
_CLIENT_SETTINGS = frozenset(
    {".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "nuget.config", "settings.xml", "auth.json"}
)
_TOKEN = re.compile(
    r"_auth(?:token)?\s*=\s*[^\s$]|npmAuth(?:Token|Ident)\s*:\s*[^\s$]|_password\s*=\s*[^\s$]|://[^\s/:@]+:[^\s/:@$]+@"
    r"|<(?:password|passphrase)>[^<$]|ClearTextPassword|\"(?:password|oauth|token)\"",
    re.IGNORECASE,
)

INTERFACE_SUFFIXES = (".json", ".yaml", ".yml")
"""Files of these are read beyond `ScanOptions.max_file_bytes` if they describe an interface."""
SQL_SUFFIXES = (".sql", ".ddl", ".dml", ".psql", ".pgsql", ".mysql")
"""Files of these are read beyond it without their rows of data."""

_FOR_READERS = frozenset({CODE, DOCUMENTATION})
_HEAD = 4_000
"""Characters to read for a file's language."""

Names = AbstractSet[str]

Evidence = Callable[[Names, Names], bool]
"""Whether a folder matches its row, judged by the names in it and the names beside it."""


@dataclass(frozen=True, slots=True)
class FolderRule:
    """A kind of folder skipped as a whole.

    Attributes:
        reason: for skipping.
        names: its possible names; empty for any name.
        evidence: an additional condition; None if the name is enough.
    """

    reason: SkipReason
    names: frozenset[str] = frozenset()
    evidence: Evidence | None = None


def _holds(*names: str) -> Evidence:
    return lambda inside, _beside: not inside.isdisjoint(names)


def _stands_beside(*names: str) -> Evidence:
    return lambda _inside, beside: not beside.isdisjoint(names)


def _is_cmake_build(inside: Names, _beside: Names) -> bool:
    # A folder built in place contains both files, and is source.
    return "CMakeCache.txt" in inside and "CMakeLists.txt" not in inside


def _is_gradle_build(inside: Names, beside: Names) -> bool:
    outputs = {"classes", "tmp", "libs", "reports", "intermediates", "kotlin"}
    return not beside.isdisjoint({"build.gradle", "build.gradle.kts"}) and not inside.isdisjoint(outputs)


_VENDORED_NAMES = frozenset(
    {"node_modules", "bower_components", "jspm_packages", ".tox", ".nox", ".eggs", ".terraform"}
)

_BUILD_NAMES = frozenset(
    {
        "__pycache__",
        ".angular",
        ".aws-sam",
        ".dart_tool",
        ".gradle",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".next",
        ".nuxt",
        ".nyc_output",
        ".parcel-cache",
        ".serverless",
        ".svelte-kit",
        ".turbo",
    }
)

FOLDER_RULES = (
    FolderRule(SkipReason.SECRET, frozenset({".ssh", ".gnupg"})),
    FolderRule(SkipReason.VENDORED, _VENDORED_NAMES),
    FolderRule(SkipReason.VENDORED, frozenset({"vendor"}), _holds("modules.txt", "autoload.php", "bundle")),
    FolderRule(SkipReason.VENDORED, frozenset({"Pods"}), _holds("Manifest.lock")),
    FolderRule(SkipReason.VENDORED, frozenset({"deps"}), _stands_beside("mix.lock")),
    FolderRule(SkipReason.VENDORED, evidence=_holds("pyvenv.cfg", "conda-meta")),
    FolderRule(SkipReason.BUILD_OUTPUT, _BUILD_NAMES),
    FolderRule(SkipReason.BUILD_OUTPUT, frozenset({"target"}), _stands_beside("Cargo.toml", "pom.xml", "build.sbt")),
    FolderRule(SkipReason.BUILD_OUTPUT, frozenset({"build"}), _is_gradle_build),
    FolderRule(SkipReason.BUILD_OUTPUT, frozenset({"obj"}), _holds("project.assets.json")),
    FolderRule(SkipReason.BUILD_OUTPUT, frozenset({"_build"}), _stands_beside("mix.lock", "rebar.lock")),
    # https://bford.info/cachedir/ - Cargo, pytest, mypy, ruff and others mark the folders they fill.
    FolderRule(SkipReason.BUILD_OUTPUT, evidence=_holds("CACHEDIR.TAG")),
    FolderRule(SkipReason.BUILD_OUTPUT, evidence=_is_cmake_build),
)


def reason_of_folder(name: str, inside: Names, beside: Names, options: ScanOptions) -> SkipReason | None:
    """Return the reason for skipping a folder with its content; None for no reason.

    Parameters:
        name: of a folder below the root; the root itself is never skipped.
        inside, beside: names in it, and in its parent folder.
    """
    for rule in FOLDER_RULES:
        is_named = not rule.names or name in rule.names
        is_proven = rule.evidence is None or rule.evidence(inside, beside)
        if is_named and is_proven and not _is_wanted(rule.reason, options):
            return rule.reason
    return None


def reason_by_name(path: str, options: ScanOptions) -> SkipReason | None:
    """Return the reason for skipping a file by its name; None for no reason."""
    name = path.rpartition("/")[2].lower()
    if is_secret_path(path) and not is_allowed_path(path, options.secrets.allow_paths):
        return SkipReason.SECRET
    if name in _LOCK_FILES and not options.include_lock_files:
        return SkipReason.LOCK_FILE
    if options.include_generated != ALL and is_minified(path, ""):
        return SkipReason.MINIFIED
    if options.include_generated == NONE and is_generated(path, ""):
        return SkipReason.GENERATED
    if name.endswith(PDF_SUFFIX) and not can_read_pdf():
        return SkipReason.PDF_EXTRA
    return None


def reason_by_text(path: str, text: str, options: ScanOptions) -> SkipReason | None:
    """Return the reason for skipping a file by its text; None for no reason."""
    name = path.rpartition("/")[2].lower()
    is_secret = _PRIVATE_KEY.match(text) or (name in _CLIENT_SETTINGS and _TOKEN.search(text))
    if is_secret and not is_allowed_path(path, options.secrets.allow_paths):
        return SkipReason.SECRET
    if len(text) > options.max_file_bytes and (
        name.endswith(SQL_SUFFIXES) or (name.endswith(INTERFACE_SUFFIXES) and not is_openapi(text))
    ):
        return SkipReason.TOO_LARGE
    if options.include_generated == ALL:
        return None
    if is_minified(path, text):
        return SkipReason.MINIFIED
    # Lists for tools and dumps of data, the locks of unknown tools among them, answer nobody.
    is_left_out = options.include_generated == NONE or not _is_for_readers(path, text)
    return SkipReason.GENERATED if is_left_out and is_generated(path, text) else None


def _is_for_readers(path: str, text: str) -> bool:
    language = language_of(path, text[:_HEAD])
    return language != TEXT and source_type_of(language) in _FOR_READERS


def pruned_names(options: ScanOptions) -> frozenset[str]:
    """Return the names of folders skipped without walking them."""
    by_name = (rule for rule in FOLDER_RULES if rule.evidence is None and not _is_wanted(rule.reason, options))
    return frozenset().union(*(rule.names for rule in by_name))


def _is_wanted(reason: SkipReason, options: ScanOptions) -> bool:
    if reason is SkipReason.VENDORED:
        return options.include_vendored
    return reason is SkipReason.BUILD_OUTPUT and options.include_generated == ALL
