"""Load the sources of configuration and make one `Settings` of them, for a project or for none."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import PrivateAttr

from cqm.index.model.options import IndexOptions
from cqm.server.config.declared import as_section, instance_of
from cqm.server.config.merge import given, merged, option_names, validated
from cqm.server.config.options import Options
from cqm.server.config.project_root import FILE_NAME, user_file
from cqm.server.config.sources import (
    ANY,
    Layer,
    Name,
    Stamp,
    command_line_layer,
    environment_layer,
    environment_variable,
    nearest,
    problems_text,
    project_layer,
    stamp_of,
    user_layer,
)
from cqm.server.config.trust import TRUST_VARIABLE, outside, refusals, trusts_every_project
from cqm.server.errors import SettingsError

OTHER_VARIABLES = (TRUST_VARIABLE, "CQM_HTTP_TOKEN", "CQM_HTTP_TOKEN_FILE")
"""Variables with our prefix beside the options: a switch for one run, and a secret."""
_NOTHING = Options.model_construct()
"""All defaults; none is validated."""


class Settings(Options):
    """The configuration in force."""

    _sources: "_Sources | None" = PrivateAttr(default=None)
    _folder: Path | None = PrivateAttr(default=None)
    _stamps: Mapping[Path, Stamp] = PrivateAttr(default_factory=dict)

    def for_root(self, root: Path) -> "Settings":
        """These settings with the cqm.yml of another folder, or of a file's folder.

        Raises:
            SettingsError: this cqm.yml is not valid, or sets an option forbidden to an untrusted project.
        """
        return _settle(self._read_from, root)

    @property
    def folder(self) -> Path | None:
        """The folder with the cqm.yml among the sources; None for no project."""
        return self._folder

    @property
    def stamps(self) -> Mapping[Path, Stamp]:
        """The files these settings were read from, as they were; also missing ones, which may come."""
        return self._stamps

    def read_again(self) -> "Settings":
        """Read the files again, with the environment and the command line as they were given.

        Raises:
            SettingsError: a file is refused.
        """
        sources = self._read_from
        return _settle(sources.again() if sources.again else sources, self._folder)

    @property
    def _read_from(self) -> "_Sources":
        """The sources; for settings made in code, these alone."""
        return self._sources or _Sources(_Source(_NOTHING), user_file(), (_Source(self),))

    def group(self, name: str) -> tuple[Path, ...]:
        """Return the folders of a group.

        Raises:
            SettingsError: there is no such group.
        """
        if name not in self.groups:
            known = ", ".join(self.groups) or "none is set"
            raise SettingsError(
                f"group {name}: expected one of groups in your cqm.yml: {known}.{nearest(name, self.groups)}"
            )
        return self.groups[name]

    def index_options(self, root: Path) -> IndexOptions:
        """Return the options of the index of `root`, its own cqm.yml included: as it was read, if these have it.

        Raises:
            SettingsError: as `for_root`.
        """
        settings = self if self._folder and self._folder == _folder_of(root) else self.for_root(root)
        return instance_of(
            IndexOptions,
            settings.index,
            scan=settings.scan_options(),
            chunk=settings.chunk_options(),
            embedding=settings.embedding_options(),
            routes=settings.route_options(),
            cache=settings.cache_options(),
            context=settings.context_options(),
            rerank=settings.rerank_options(),
            store=settings.store_options(),
            late=settings.late_options(),
        )


@dataclass(frozen=True, slots=True)
class _Source:
    """One source of configuration: its options, and where they are written (nowhere, if made in code)."""

    options: Options
    layer: Layer | None = None


@dataclass(frozen=True, slots=True)
class _Sources:
    """All sources but a project's file.

    Attributes:
        user: the user's file; `user_file` is its path.
        stronger: sources winning over a project's file, weakest first.
        trusts_all: whether every project may set everything.
        stamps: of the user's file, before it was read.
        again: reads all of them again; None if they were made in code.
    """

    user: _Source
    user_file: Path
    stronger: tuple[_Source, ...]
    trusts_all: bool = False
    stamps: Mapping[Path, Stamp] = field(default_factory=dict)
    again: "Callable[[], _Sources] | None" = None

    def trusts(self, folder: Path) -> bool:
        """Whether the project in `folder` may set everything."""
        return self.trusts_all or any(not outside(folder, it) for it in self.merged().trusted_projects)

    def merged(self, project: _Source = _Source(_NOTHING)) -> Settings:
        """Merge all sources, with this as the project's file."""
        return merged(Settings, (source.options for source in self._ordered(project)))

    def origin(self, name: Name, project: _Source) -> str:
        """Return the place where an option is set; some source sets it."""
        deciding = (source for source in reversed(self._ordered(project)) if _sets(source.options, name))
        layer = next(deciding).layer
        return layer.origin(name) if layer else "settings"

    def _ordered(self, project: _Source) -> tuple[_Source, ...]:
        return (self.user, project, *self.stronger)


def load_settings(
    root: Path | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    user: Path | None = None,
) -> Settings:
    """Return the settings in force: command line, environment, the project's file, the user's, defaults; first wins.

    Parameters:
        root: the indexed folder or file; None for no project.
        overrides: of the command line, by dotted name ("chunk.max_tokens").
        environment: variables; those of this process when None.
        user: the user's file; `user_file()` when None.

    Raises:
        SettingsError: a source is refused; the message names it, the line and the reason.
    """
    environment = os.environ if environment is None else environment
    return _settle(_read(overrides or {}, environment, user_file() if user is None else user), root)


def settings_without_project(root: Path, *, overrides: Mapping[str, object] | None = None) -> Settings:
    """Return the settings without the project's file: they tell the index's folder while that file is refused.

    Parameters:
        root, overrides: as in `load_settings`.

    Raises:
        SettingsError: another source is refused.
    """
    settings = load_settings(overrides=overrides)
    settings._folder = _folder_of(root)  # noqa: SLF001 - our own class
    return settings


def _read(overrides: Mapping[str, object], environment: Mapping[str, str], user: Path) -> _Sources:
    """Read all sources but a project's file."""
    names, stamps = option_names(Options), {user: stamp_of(user)}
    mine = _source(user_layer(user))
    others = (*OTHER_VARIABLES, *_secret_variables(mine.options, environment, overrides, names))
    stronger = (environment_layer(environment, names, others), command_line_layer(overrides, names))
    return _Sources(
        user=mine,
        user_file=user,
        stronger=tuple(map(_source, stronger)),
        trusts_all=trusts_every_project(environment),
        stamps=stamps,
        again=partial(_read, overrides, environment, user),
    )


def every_option() -> list[str]:
    """Return the dotted names of all options except in blocks, as users name these."""
    return [".".join(name) for name in option_names(Options) if ANY not in name]


def _source(layer: Layer | None) -> _Source:
    return _Source(validated(Options, layer) if layer and layer.values else _NOTHING, layer)


def _secret_variables(
    mine: Options, environment: Mapping[str, str], overrides: Mapping[str, object], names: Iterable[Name]
) -> Iterator[str]:
    """Yield the variables of the user's keys; their names may begin with our prefix."""
    for _, section in mine.sections():
        yield from (str(value) for key, value in section if key.endswith("_env"))
    yield from (environment.get(environment_variable(name), "") for name in names if name[-1].endswith("_env"))
    yield from (str(value) for key, value in overrides.items() if key.endswith("_env"))


def _folder_of(root: Path) -> Path:
    return root if root.is_dir() else root.parent


def _settle(sources: _Sources, root: Path | None) -> Settings:
    folder = _folder_of(root) if root else None
    stamps = {**sources.stamps, **({folder / FILE_NAME: stamp_of(folder / FILE_NAME)} if folder else {})}
    project = _with_excludes(_source(project_layer(folder, FILE_NAME) if folder else None), sources.user.options)
    if folder and not sources.trusts(folder):
        _refuse_untrusted(project, sources, folder)
    settings = sources.merged(project)
    _check_sizes(settings)
    problems = list(_block_problems(settings, lambda name: sources.origin(name, project)))
    if problems:
        raise SettingsError("\n".join(problems), remedy="docs/models.md shows such blocks.")
    settings._sources, settings._folder, settings._stamps = sources, folder, stamps  # noqa: SLF001 - our own class
    return settings


def _with_excludes(project: _Source, user: Options) -> _Source:
    """Add the excluded patterns of the project's file to those of the user's."""
    scan = as_section(project.options.scan)
    if "exclude" not in scan.model_fields_set or not user.scan.exclude:
        return project
    patterns = tuple(dict.fromkeys((*user.scan.exclude, *project.options.scan.exclude)))
    both = project.options.model_copy(update={"scan": scan.model_copy(update={"exclude": patterns})})
    return _Source(both, project.layer)


def _refuse_untrusted(project: _Source, sources: _Sources, folder: Path) -> None:
    if not project.layer:
        return
    refused = refusals(project.options, settled=sources.merged(project), without=sources.merged())
    if not refused:
        return
    layer, places = project.layer, list(project.layer.origins)
    ordered = sorted(refused, key=lambda name: places.index(layer.place(name)))
    lines = [f'{layer.origin(name)}: "{".".join(name)}" is refused: {refused[name]}.' for name in ordered]
    raise SettingsError(
        problems_text(lines, len(lines)),
        remedy=f"Set it in {sources.user_file}, or trust the project: list {folder} under trusted_projects there, or "
        f"set {TRUST_VARIABLE}=1.",
    )


def _check_sizes(settings: Settings) -> None:
    least, most = settings.chunk.min_tokens, settings.chunk.max_tokens
    if least > most:
        raise SettingsError(
            f'"chunk.min_tokens" ({least}) is over "chunk.max_tokens" ({most}).',
            remedy="Lower the first or raise the second.",
        )
    if settings.chunk.overlap_tokens > most // 2:
        raise SettingsError(
            f'"chunk.overlap_tokens" ({settings.chunk.overlap_tokens}) is over half of "chunk.max_tokens" ({most}).',
            remedy="Lower the first or raise the second.",
        )


def _block_problems(settings: Settings, origin: Callable[[Name], str]) -> Iterator[str]:
    """Mismatches of the blocks under `providers` and the options naming them."""
    embedding = settings.embedding
    named = [("fallback", name) for name in embedding.fallback]
    if embedding.prose:
        named.append(("prose", embedding.prose))
    for key, name in named:
        if name not in settings.providers:
            hint = nearest(name, settings.providers)
            yield f'{origin(("embedding", key))}: "embedding.{key}" names "{name}", not a block of "providers".{hint}'
    for name, block in settings.providers.items():
        if "provider" not in as_section(block).model_fields_set or block.provider == "none":
            yield f'{origin(("providers", name))}: "providers.{name}" needs a "provider" that embeds.'


def _sets(options: Options, name: Name) -> bool:
    """Whether a value is given to an option, or to one of a section or block."""
    values: object = given(options)
    for part in name:
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True
