"""Everything shaping a generation: as its recipe, which names it, and as its shape, shown to people."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields
from typing import Any

from cqm.chunkers.model import CHUNKER_VERSION
from cqm.index.contextual import writer_name
from cqm.index.embedding.opening import recipe
from cqm.index.manifest.schema import FORMAT_VERSION
from cqm.index.model.options import IndexOptions
from cqm.index.model.secrets import REDACTION_VERSION
from cqm.index.remote.addresses import MAY_HOLD_A_SECRET
from cqm.index.store.open import SHAPING
from cqm.index.text.headers import TERMS_VERSION

ASKED_FOR = "it was asked for"
OTHER_MODEL = "a model is another one than before under the same name"

_NEWER = {
    "chunker": "CQM cuts files in another way now",
    "terms": "CQM stores other terms now",
    "secrets": "CQM redacts secrets in another way now",
}
_CODE, _PROSE = "embedding.", "embedding.prose."
_IDENTITY = frozenset({"provider", "model"})
"""Words for a model which came or went."""
_UNSAID = frozenset({"base_url", "url", "allow", "allow_paths"})
"""An address may hold a secret, a pattern of allowed values may be one."""

UNWRITTEN: Mapping[str, object] = {
    "chunk.max_tokens": 512,
    "chunk.min_tokens": 128,
    "chunk.max_parse_bytes": 1_000_000,
    "chunk.overlap_percent": 25,
    "chunk.overlap_tokens": 0,
    "chunk.apart": False,
    "chunk.rules": (),
    "chunk.details": False,
    "secrets.redact": True,
    "secrets.allow": (),
    "secrets.allow_paths": (),
    "model.provider": "embedded",
    "model.model": "",
    "model.base_url": "",
    "model.dimensions": 0,
    "model.query_prefix": None,
    "model.document_prefix": None,
    "model.context_tokens": 0,
    "model.long_texts": "pool",
    "store.prefix": "cqm",
    "store.shard_number": 1,
    "store.replication_factor": 1,
    "store.write_consistency_factor": 1,
    "store.quantization": "none",
    "store.on_disk": False,
}
"""Values left out of a recipe: each option's default at its introduction.

So a new option with a default renames no generation. If a default changes, the row here stays: the new default is
written then, and makes another generation.
"""


def recipe_text(options: IndexOptions, spaces: Sequence[str] = ()) -> str:
    """Return everything shaping a generation, by name, as JSON; unchanged options are left out (`UNWRITTEN`)."""
    values: dict[str, object] = {"format": FORMAT_VERSION, "chunker": CHUNKER_VERSION, "terms": TERMS_VERSION}
    values |= {"secrets": REDACTION_VERSION, **_differing("chunk", options.chunk)}
    values |= _differing("secrets", options.scan.secrets)
    for route, models in zip((_CODE, _PROSE), recipe(options), strict=True):
        values[f"{route}models"] = [_differing("model", model) for model in models]
    values |= {"context.model": writer_name(options.context), "context.place": options.context.place}
    if options.store.index_url:
        store = _differing("store", options.store)
        values |= {name: value for name, value in store.items() if name.removeprefix("store.") in SHAPING}
    return json.dumps(values | {"spaces": spaces}, sort_keys=True)


def _differing(section: str, options: Any) -> dict[str, object]:  # noqa: ANN401 - a dataclass
    """Return the options with other values than in `UNWRITTEN`, by "section.name"."""
    values = {f"{section}.{it.name}": (getattr(options, it.name), default_of(it)) for it in fields(options)}
    return {name: value for name, (value, default) in values.items() if value != UNWRITTEN.get(name, default)}


def default_of(declared: "Field[Any]") -> object:
    """Return the default of a dataclass's field."""
    return declared.default if declared.default_factory is MISSING else declared.default_factory()


def shape_text(options: IndexOptions) -> str:
    """Return the options shaping a generation by name, as JSON."""
    shape: dict[str, object] = {"chunker": CHUNKER_VERSION, "terms": TERMS_VERSION}
    secrets = options.scan.secrets
    shape |= {"secrets": REDACTION_VERSION, "secrets.redact": secrets.redact}
    shape |= {"secrets.allow": _hashed(secrets.allow), "secrets.allow_paths": _hashed(secrets.allow_paths)}
    shape |= {f"chunk.{name}": value for name, value in asdict(options.chunk).items()}
    for route, models in zip((_CODE, _PROSE), recipe(options), strict=True):
        preferred = asdict(models[0]) if models else {}
        shape |= {f"{route}{name}": value for name, value in preferred.items()}
    shape |= {"context.model": writer_name(options.context), "context.place": options.context.place}
    if options.store.index_url:
        shape |= {f"store.{name}": getattr(options.store, name) for name in SHAPING}
    return json.dumps({name: _written(name, value) for name, value in shape.items()}, default=str)


def what_differs(old: str, new: str) -> str:
    """Say why a generation of the second `shape_text` takes the place of one of the first; empty when unknown."""
    if not old or not new:
        return ""
    before, now = json.loads(old), json.loads(new)
    return ", ".join(_differences(before, now))


def _written(name: str, value: object) -> object:
    """Return a value as recorded; an address with a possible secret is hashed."""
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
    """Whether a prose option equals the code model's, before and now, as it does where it is not set."""
    other = name.replace(_PROSE, _CODE)
    return name.startswith(_PROSE) and all(shape.get(name) == shape.get(other) for shape in (before, now))


def _said(value: object) -> str:
    return "none" if value is None or value == "" else str(value)
