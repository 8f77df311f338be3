"""Several layers as one cache: the nearest is asked first and keeps values found in those behind it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from cqm.index.cache.base import Kept, Layer, lifetime, name_of
from cqm.index.model.status import CacheLayer


class LayeredCache:
    """A `Cache` of several layers; without layers it holds nothing.

    Parameters:
        layers: the nearest and fastest first.
        clock: decides when values expire.
    """

    def __init__(self, layers: Sequence[Layer], clock: Callable[[], float]) -> None:
        self._layers = tuple(layers)
        self._clock = clock

    @property
    def enabled(self) -> bool:
        """See `Cache.enabled`."""
        return bool(self._layers)

    def get(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """See `Cache.get`. Values found in a layer are copied to the layers before it."""
        wanted = {name_of(kind, key): key for key in keys}
        found: dict[str, bytes] = {}
        layers = self._layers_of(kind)
        for depth, layer in enumerate(layers):
            if not wanted:
                break
            kept = layer.get(tuple(wanted))
            self._promote(kind, kept, layers[:depth])
            found.update((wanted.pop(name), value) for name, (value, _) in kept.items())
        return found

    def put(self, kind: str, items: Mapping[str, bytes]) -> None:
        """See `Cache.put`."""
        now = self._clock()
        named = {name_of(kind, key): value for key, value in items.items()}
        for layer in self._layers_of(kind) if named else ():
            expires = now + lifetime(kind, layer.name)
            layer.put({name: Kept(value, expires) for name, value in named.items()})

    def layers(self) -> tuple[CacheLayer, ...]:
        """See `Cache.layers`."""
        return tuple(layer.told() for layer in self._layers)

    def close(self) -> None:
        """See `Cache.close`."""
        for layer in self._layers:
            layer.close()

    def _layers_of(self, kind: str) -> tuple[Layer, ...]:
        return tuple(layer for layer in self._layers if lifetime(kind, layer.name) > 0)

    def _promote(self, kind: str, kept: Mapping[str, Kept], nearer: Sequence[Layer]) -> None:
        """Copy values to nearer layers. Reading never extends a value's life: its old expiry still bounds it."""
        now = self._clock()
        for layer in nearer if kept else ():
            latest = now + lifetime(kind, layer.name)
            layer.put({name: Kept(value, min(expires, latest)) for name, (value, expires) in kept.items()})
