"""What shapes what a generation stores, noted in it, so that people can be told why another one is built."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from cqm.chunkers.version import CHUNKER_VERSION
from cqm.index.context import TERMS_VERSION
from cqm.index.contextual import writer_name
from cqm.index.embedding.addresses import MAY_HOLD_A_SECRET
from cqm.index.embedding.opening import recipe
from cqm.index.options import IndexOptions
from cqm.index.secrets.model import REDACTION_VERSION
from cqm.index.stores import SHAPING

SHAPE_FACT = "shape"
WHY_FACT = "why"

ASKED_FOR = "it was asked for"
OTHER_MODEL = "a model is another one than before under the same name"

_NEWER = {
    "chunker": "CQM cuts files in another way now",
    "terms": "CQM stores other terms now",
    "secrets": "CQM redacts secrets in another way now",
}
_CODE, _PROSE = "embedding.", "embedding.prose."
_IDENTITY = frozenset({"provider", "model"})
"""What is said of a model that was not there before, or is not there any more."""
_UNSAID = frozenset({"base_url", "url", "allow", "allow_paths"})
"""An address may hold a secret, a pattern of allowed values may be one."""


def shape_text(options: IndexOptions) -> str:
    """What shapes a generation with these options, by the names of the options, as JSON."""
    shape: dict[str, object] = {"chunker": CHUNKER_VERSION, "terms": TERMS_VERSION}
    secrets = options.scan.secrets
    shape |= {"secrets": REDACTION_VERSION, "secrets.redact": secrets.redact}
    shape |= {"secrets.allow": _hashed(secrets.allow), "secrets.allow_paths": _hashed(secrets.allow_paths)}
    shape |= {f"chunk.{name}": value for name, value in asdict(options.chunk).items()}
    for route, models in zip((_CODE, _PROSE), recipe(options), strict=True):
        preferred = asdict(models[0]) if models else {}  # type: ignore[index]
        shape |= {f"{route}{name}": value for name, value in preferred.items()}
    shape |= {"context.model": writer_name(options.context), "context.place": options.context.place}
    if options.store.url:
        shape |= {f"store.{name}": getattr(options.store, name) for name in SHAPING}
    return json.dumps({name: _written(name, value) for name, value in shape.items()}, default=str)


def what_differs(old: str, new: str) -> str:
    """Why a generation of the second shape takes the place of one of the first; empty when that can't be told.

    Parameters:
        old, new: as `shape_text` gives them; empty for a generation that has none.
    """
    if not old or not new:
        return ""
    before, now = json.loads(old), json.loads(new)
    return ", ".join(_differences(before, now))


def _written(name: str, value: object) -> object:
    """A value as it is noted: of an address that may hold a secret, what tells it from others."""
    has_secret = name.rpartition(".")[2] in _UNSAID and not MAY_HOLD_A_SECRET.isdisjoint(str(value))
    return _hashed(value) if has_secret else value


def _hashed(value: object) -> str:
    return hashlib.sha256(str(value).encode()).hexdigest()[:12] if value else ""


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for name in [name for name in {**before, **now} if _said(before.get(name)) != _said(now.get(name))]:
        option = name.rpartition(".")[2]
        has_come_or_gone = name not in before or name not in now
        if _is_told_of_code(name, before, now) or (has_come_or_gone and option not in _IDENTITY and name not in _NEWER):
            continue
        if name in _NEWER:
            yield _NEWER[name]
        elif option in _UNSAID:
            yield f"{name} has changed"
        else:
            yield f"{name} is {_said(now.get(name))} and was {_said(before.get(name))}"


def _is_told_of_code(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Whether an option of the model for prose is that of the model for code, which it is without one of its own."""
    other = name.replace(_PROSE, _CODE)
    return name.startswith(_PROSE) and all(shape.get(name) == shape.get(other) for shape in (before, now))


def _said(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
