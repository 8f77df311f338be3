"""How a value is kept outside this process, so that nothing else is taken for one.

A frame is a magic number with the format's version, the time when the value is out of date, a checksum, and the value.
The checksum covers the name too: a value that lies under another's name, as after a reply in the wrong order, is
garbage. It tells damage, not forgery: whoever can write to a shared cache can put a valid frame there. Values are bytes
and nothing is ever executed to read them.
"""

import struct
from hashlib import blake2b

from cqm.index.cache.base import Kept

_MAGIC = b"CQM\x01"
_CHECKSUM_BYTES = 16
_NAME_BYTES = 20
_HEADER = struct.Struct(f"<4s{_CHECKSUM_BYTES}sd")


def name_of(kind: str, key: str) -> str:
    """What a key is called in all layers: short whatever the key, and without a word of it.

    The version is a part: what another version of CQM keeps in another form is not met at all.
    """
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES)
    return f"cqm1:{kind}:{digest.hexdigest()}"


def framed(name: str, kept: Kept) -> bytes:
    """The frame of a value that is kept under a name."""
    return _HEADER.pack(_MAGIC, _checksum(name, kept), kept.expires) + kept.value


def unframed(name: str, data: object) -> Kept | None:
    """What was framed under the name; None for anything else."""
    if not isinstance(data, bytes) or len(data) < _HEADER.size:
        return None
    magic, checksum, expires = _HEADER.unpack_from(data)
    kept = Kept(data[_HEADER.size :], expires)
    return kept if magic == _MAGIC and checksum == _checksum(name, kept) else None


def _checksum(name: str, kept: Kept) -> bytes:
    # The name has no zero byte, so no two pairs of name and value look alike.
    covered = blake2b(name.encode() + b"\0" + struct.pack("<d", kept.expires), digest_size=_CHECKSUM_BYTES)
    covered.update(kept.value)
    return covered.digest()
