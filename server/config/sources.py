"""Read configuration from YAML files, environment variables and the command line, each as a layer."""

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from cqm.index.disk.beneath import NotRegularError, read_small, read_small_beneath
from cqm.server.errors import SettingsError

Name = tuple[str, ...]
"""An option's place: `("chunk", "max_tokens")`, or in a block `("providers", "backup", "model")`."""

Stamp = tuple[tuple[int, ...], ...]
"""Identity, size and times of a file and of its link's target; empty for no file."""

ANY = "*"
"""Stands for the user's name of a block, in the place of an option of blocks."""

MAX_FILE_BYTES = 64 * 1024
_ENVIRONMENT_PREFIX = "CQM_"
_BESIDE = 0.54
"""Least similarity, by `difflib`, of a suggestion from the same section: as of "base_url" and "url"."""
_NO_VARIABLE = " Blocks are written in cqm.yml, or given by --set providers.NAME.OPTION=VALUE."
_MAX_OPTIONS = 1000
"""In one file: as many as 40 models have. Checking more would take minutes."""
MAX_PROBLEMS = 20
_OF_LINKS = frozenset({errno.ELOOP, errno.EMLINK, getattr(errno, "EFTYPE", errno.ELOOP)})
"""The error for a forbidden link, of Linux and macOS, of FreeBSD, of NetBSD."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The options of one source, not yet validated.

    Attributes:
        values: options by section, as in the source.
        origins: the place of each option and section, for messages: "cqm.yml:12", "CQM_CHUNK_MAX_TOKENS".
        base: the folder where relative paths start.
        typed: whether values have types of their own (YAML): then the text "512" is not a number.
    """

    values: Mapping[str, object]
    origins: Mapping[Name, str]
    base: Path
    typed: bool

    def place(self, name: Name) -> Name:
        """Return the option itself, the first option written in it, or the nearest section written around it."""
        while True:
            within = (written for written in self.origins if written[: len(name)] == name)
            if (found := next(within, None)) is not None:
                return found
            name = name[:-1]

    def origin(self, name: Name) -> str:
        """Return the file and line, or the variable, of an option."""
        return self.origins[self.place(name)]


def stamp_of(path: Path) -> Stamp:
    """Return a stamp to tell one state of a file from the next; take it before reading the file."""
    found = []
    for look in (os.lstat, os.stat):
        try:
            it = look(path)
        except OSError:
            continue
        found.append((it.st_ino, it.st_size, it.st_mtime_ns, it.st_ctime_ns, it.st_mode))
    return tuple(found)


def nearest(name: str, names: Iterable[str]) -> str:
    """Suggest a name for an unknown one: " Did you mean ...?", or nothing."""
    known = list(names)
    section, _, last = name.rpartition(".")
    beside = [other.rpartition(".")[2] for other in known if section and other.rpartition(".")[0] == section]
    in_section = [f"{section}.{other}" for other in get_close_matches(last, beside, 1, _BESIDE)]
    same_last_part = [other for other in known if other.rpartition(".")[2] == last]
    close = in_section or same_last_part or get_close_matches(name, known, 1)
    return f' Did you mean "{close[0]}"?' if close else ""


def problems_text(lines: Sequence[str], count: int) -> str:
    """Join the first `MAX_PROBLEMS` of `count` problems, a line each."""
    more = [f"... and {count - MAX_PROBLEMS} more."] if count > MAX_PROBLEMS else []
    return "\n".join([*lines[:MAX_PROBLEMS], *more])


def printable(text: str) -> str:
    """Escape control characters, so a file cannot control the terminal."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def user_layer(path: Path) -> Layer | None:
    """Read the user's own YAML file, which may be a link; None when there is none.

    A key without a value is left to the next source.

    Raises:
        SettingsError: the file cannot be read, is over 64 KiB, is not YAML, has an alias or the same key twice.
    """
    return _yaml_layer(path, lambda: read_small(Path(os.path.realpath(path)), MAX_FILE_BYTES))


def project_layer(folder: Path, name: str) -> Layer | None:
    """Read a project's YAML file in the same way, but refuse links: a stranger chose where they lead.

    Raises:
        SettingsError: as `user_layer`; or the file is a link.
    """
    return _yaml_layer(folder / name, lambda: read_small_beneath(folder, name, MAX_FILE_BYTES))


def _yaml_layer(path: Path, read: Callable[[], bytes]) -> Layer | None:
    text = _text(path, read)
    if text is None:
        return None
    from cqm.server.config.yaml_text import NotYamlError, read_yaml  # start-up time: most have no file

    try:
        values, origins = read_yaml(text, path)
    except NotYamlError as error:
        place = f"{path}:{error.line}" if error.line else str(path)
        raise SettingsError(f"{place}: not valid YAML: {printable(str(error))}.") from error
    if len(origins) > _MAX_OPTIONS:
        message = f"{path}: {len(origins):,} options, more than {_MAX_OPTIONS:,}."
        raise SettingsError(message, remedy="Remove those that you don't change.")
    return Layer(values, origins, path.parent, typed=True)


def environment_layer(environment: Mapping[str, str], options: Mapping[Name, bool], others: Iterable[str]) -> Layer:
    """Read variables named CQM_SECTION_KEY; an empty one counts as not set.

    Parameters:
        options: all options, and whether each is a list. A list is written as in YAML, `[a, b]`; one value needs no
            brackets. Options of blocks have no variable: it would not show where a block's name ends.
        others: variables with our prefix beside the options.

    Raises:
        SettingsError: a variable with our prefix is no option.
    """
    variables = {environment_variable(name): name for name in options if ANY not in name}
    given = {key: text for key, text in environment.items() if key.startswith(_ENVIRONMENT_PREFIX) and text}
    unknown = sorted(given.keys() - variables.keys() - set(others))
    if unknown:
        in_blocks = tuple(f"{environment_variable(name[:1])}_" for name in options if ANY in name)
        hints = [_NO_VARIABLE if key.startswith(in_blocks) else nearest(key, variables) for key in unknown]
        lines = [f"{key}: there is no such option.{hint}" for key, hint in zip(unknown, hints, strict=True)]
        raise SettingsError("\n".join(lines), remedy="Unset the variable or correct its name.")
    entries = {variables[key]: (text, key) for key, text in given.items() if key in variables}
    return _flat_layer(entries, options)


def command_line_layer(overrides: Mapping[str, object], options: Mapping[Name, bool]) -> Layer:
    """Read options of the command line, by dotted name ("chunk.max_tokens", "providers.backup.model").

    Raises:
        SettingsError: there is no such option.
    """
    lists = {tuple(key.split(".")): _is_list(tuple(key.split(".")), options) for key in overrides}
    unknown = sorted(name for name, is_list in lists.items() if is_list is None)
    if unknown:
        dotted = [(".".join(name), as_written(options, name)) for name in unknown]
        lines = [f'command line: unknown option "{key}".{nearest(key, known)}' for key, known in dotted]
        raise SettingsError("\n".join(lines))
    entries = {tuple(key.split(".")): (value, f"command line: {key}") for key, value in overrides.items()}
    return _flat_layer(entries, {name: bool(is_list) for name, is_list in lists.items()})


def as_written(options: Iterable[Name], near: Name) -> list[str]:
    """Return the options as written beside `near`: those of blocks with the name of its block."""
    block = near[1] if len(near) > 1 else ""
    concrete = (tuple(block if part == ANY else part for part in name) for name in options)
    return [".".join(name) for name in concrete if all(name)]


def environment_variable(name: Name) -> str:
    """Return the variable of an option: CQM_CHUNK_MAX_TOKENS for ("chunk", "max_tokens")."""
    return _ENVIRONMENT_PREFIX + "_".join(name).upper()


def _is_list(name: Name, options: Mapping[Name, bool]) -> bool | None:
    """Whether an option is a list; None when there is no such option."""
    return options.get(name, options.get((name[0], ANY, *name[2:])))


def _flat_layer(entries: Mapping[Name, tuple[object, str]], options: Mapping[Name, bool]) -> Layer:
    values: dict[str, object] = {}
    for name, (value, origin) in entries.items():
        target = values
        for part in name[:-1]:
            target = cast("dict[str, object]", target.setdefault(part, {}))
        target[name[-1]] = _listed(value, origin) if options[name] and isinstance(value, str) else value
    origins = {name: origin for name, (_, origin) in entries.items()}
    return Layer(values, origins, Path.cwd(), typed=False)


def _listed(text: str, origin: str) -> object:
    if not text.lstrip().startswith("["):
        return [text]
    from cqm.server.config.yaml_text import NotYamlError, read_value  # start-up time

    try:
        return read_value(text)
    except NotYamlError as error:
        raise SettingsError(f"{origin}: not a list as in YAML: {text}", remedy="Write it as [a, b].") from error


def _text(path: Path, read: Callable[[], bytes]) -> str | None:
    try:
        data = read()
        if len(data) > MAX_FILE_BYTES:
            message = f"{path}: larger than {MAX_FILE_BYTES // 1024:,} KiB."
            raise SettingsError(message, remedy="Remove the options that you don't change.")
        return data.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotRegularError as error:
        message = f"{path}: cannot be read: it is no regular file."
        raise SettingsError(message, remedy="Replace it by a file.") from error
    except OSError as error:
        if error.errno in _OF_LINKS:
            message = f"{path}: cannot be read: it is a link."
            raise SettingsError(message, remedy="Replace it by a file.") from error
        raise SettingsError(f"{path}: cannot be read: {error.strerror}.", remedy="Mend its permissions.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8.", remedy="Save the file as UTF-8.") from error
