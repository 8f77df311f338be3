"""How the sources of configuration become one `Settings`, for a project or for none."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path
from pydantic import PrivateAttr

from cqm.index.options import IndexOptions
from cqm.server.errors import SettingsError
from cqm.server.layering import merged, option_names, validated
from cqm.server.options import Options
from cqm.server.sources import Layer, command_line_layer, environment_layer, yaml_layer
from cqm.server.trust import TRUST_VARIABLE, outside, refusals, trusts_every_project

FILE_NAME = "cqm.yml"
OTHER_VARIABLES = (TRUST_VARIABLE, "CQM_HTTP_TOKEN")
"""Variables with our prefix that are no options: a switch for one run, and a secret."""


class Settings(Options):
    """The configuration in force."""

    _sources: "_Sources | None" = PrivateAttr(default=None)

    def for_root(self, root: Path) -> "Settings":
        """These settings with the cqm.yml of the folder `root` (of a file: the folder it is in) in its place.

        Raises:
            SettingsError: that file is not valid, or decides what an untrusted project may not decide.
        """
        sources = self._sources or _Sources(Options(), user_file(), (self,), os.environ)
        return _settle(sources, root)

    def index_options(self, root: Path) -> IndexOptions:
        """What shapes the index of `root`, its own cqm.yml included.

        Raises:
            SettingsError: as `for_root`.
        """
        settings = self.for_root(root)
        return IndexOptions(
            **settings.index.model_dump(),
            scan=settings.scan_options(),
            chunk=settings.chunk_options(),
            embedding=settings.embedding_options(),
        )


@dataclass(frozen=True, slots=True)
class _Sources:
    """What is configured apart from a project's file.

    Attributes:
        user: the user's file; `user_file` is its path.
        stronger: what wins over a project's file, weakest first.
        environment: the variables of the process.
        trusts_all: whether every project may decide everything.
    """

    user: Options
    user_file: Path
    stronger: tuple[Options, ...]
    environment: Mapping[str, str]
    trusts_all: bool = False

    def trusts(self, folder: Path) -> bool:
        """Whether the project in `folder` may decide everything."""
        return self.trusts_all or any(not outside(folder, it) for it in self.merged(Options()).trusted_projects)

    def merged(self, project: Options) -> Settings:
        """All sources together, with this as the project's file."""
        return merged(Settings, (self.user, project, *self.stronger))


def user_file() -> Path:
    """The user's cqm.yml, which need not exist."""
    return user_config_path("cqm", appauthor=False) / FILE_NAME


def load_settings(
    root: Path | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    user: Path | None = None,
) -> Settings:
    """The settings in force: command line over environment over the project's file over the user's over defaults.

    Parameters:
        root: the folder (or file) that is indexed; None for no project.
        overrides: what the command line sets, by dotted name ("chunk.max_tokens").
        environment: variables; those of this process when None.
        user: the user's file; `user_file()` when None.

    Raises:
        SettingsError: a source is refused; the message says which, where and why.
    """
    environment = os.environ if environment is None else environment
    user = user_file() if user is None else user
    names = option_names(Options)
    own = yaml_layer(user)
    mine = validated(Options, own) if own else Options()
    # The user may have given the variable of a key a name that begins as ours do.
    keys = [environment.get(name, "") for name in ("CQM_EMBEDDING_API_KEY_ENV", "CQM_LATE_API_KEY_ENV")]
    others = (*OTHER_VARIABLES, mine.embedding.api_key_env, mine.late.api_key_env, *keys)
    stronger = (environment_layer(environment, names, others), command_line_layer(overrides or {}, names))
    sources = _Sources(
        user=mine,
        user_file=user,
        stronger=tuple(validated(Options, layer) for layer in stronger),
        environment=environment,
        trusts_all=trusts_every_project(environment),
    )
    return _settle(sources, root)


def _settle(sources: _Sources, root: Path | None) -> Settings:
    folder = root.parent if root and not root.is_dir() else root
    layer = _project_layer(folder) if folder else None
    project = validated(Options, layer) if layer else Options()
    if layer and folder and not sources.trusts(folder):
        _refuse_untrusted(layer, project, sources, folder)
    settings = sources.merged(project)
    _check_sizes(settings)
    settings._sources = sources  # noqa: SLF001 - our own class
    return settings


def _project_layer(folder: Path) -> Layer | None:
    path = folder / FILE_NAME
    if path.is_symlink() and outside(path, folder):
        raise SettingsError(f"{path}: a link that leads out of the project.", remedy="Replace it by a file.")
    return yaml_layer(path)


def _refuse_untrusted(layer: Layer, project: Options, sources: _Sources, folder: Path) -> None:
    refused = refusals(
        project,
        folder,
        settled=sources.merged(project),
        without=sources.merged(Options()),
        environment=sources.environment,
    )
    if not refused:
        return
    lines = [f'{layer.origin(name)}: "{".".join(name)}" is refused: {why}.' for name, why in refused.items()]
    raise SettingsError(
        "\n".join(lines),
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
