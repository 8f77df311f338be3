"""Names of secrets in any notation: `dbPassword`, `API_KEY`, `пароль`, but not `password_length`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

Places = Mapping[str, Sequence[int]]
"""Positions of words in a text."""

ANCHORS = ("pass", "pw", "secret", "token", "cred", "auth", "key")
"""Parts of names."""

SETTINGS_ANCHORS = (
    "ennwor",
    "senha",
    "contrase",
    "wachtwoord",
    "passord",
    "losenord",
    "salasana",
    "adgangskode",
    "heslo",
    "clave",
    "parola",
)
"""Parts of names in other languages, sought only in settings and texts."""

_FOREIGN_PASSWORDS: tuple[str, ...] = (
    "парол",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "รหัสผ่าน",
    "كلمة المرور",
    "סיסמ",
)
_FOREIGN_PASSWORDS += ("contraseña", "hasło", "şifre", "mật khẩu", "lösenord")
FOREIGN = (*_FOREIGN_PASSWORDS, "токен", "секрет", "密钥", "密鑰", "令牌", "秘密")
"""Such words with other letters, sought only in texts with any."""

_FOREIGN_PARTS = [(word, max(re.findall("[^\x00-\x7f]+", word), key=len)) for word in FOREIGN]

_KEY_WORDS = """
    app api access account auth private preshared pre_shared signing storage shared encrypt encryption decryption
    master service license session cookie hmac aes webhook deploy ssh subscription instrumentation validation jwt
    admin bot write crypt crypto client server
"""
_KEYS = tuple(_KEY_WORDS.split())
"""Before "key": without one of these it is the key of a mapping."""

_PASS = re.compile(
    r"(?<!by)(?<!com)(?<!sur)(?<!tres)pass(?:w|phrase|code|e?\b(?!-(?:th|\d))|e?(?=[_-](?!thr|depth|fail|count|by)))|pass$"
)
_AUTH = re.compile(r"auth(?:orization)?(?:[_-]?(?:key|string|header|value))?(?![a-z_-])")
_WHOLE = {
    "pass": _PASS,
    "auth": _AUTH,
    "pw": re.compile(r"pwd|(?<![a-z0-9])pw(?![a-z0-9])"),
    "ennwor": re.compile(r"(?<=k)ennwor"),
    "clave": re.compile(r"(?<![a-z])clave(?![a-z])"),
    "parola": re.compile(r"(?<![a-z])parola(?![a-z])"),
    "heslo": re.compile(r"(?<![a-z])heslo(?![a-z])"),
}
"""Words some anchors must be part of."""

_PASSWORDS = frozenset({"pass", "pw", *SETTINGS_ANCHORS, *_FOREIGN_PASSWORDS} - {"clave"})
"""Anchors of values chosen by people, which are short."""

# Endings of names about a secret, such as its path or length, rather than of a secret.
_ABOUT = re.compile(
    r"""
    s?[_-]?(?:
      ur[il]s? | path | dir | file(?:name|path)? | names? | type | kind | ids? | field | key_?name | length | len | size
    | count | expir\w* | expires?_\w+ | ttl | age | lifetime | env(?:_var)? | header | prefix | suffix | regexp?
    | pattern | policy | hint | label | class | template | placeholder | param\w* | error | message | msg | text
    | validat\w+
    | required | enabled | format | version | method | mode | provider | manager | store | service | endpoint | scopes?
    | input | form | box | reset\w* | strength | title | description | prompt | confirmation_\w+ | ref | arn | location
    | index | position | budget | limit | usage | handler | hash_?(?:alg\w*|func\w*) | encod\w+ | algorithm | usages?
    | iz\w+ | isation\w* | ization\w* | s?_used | s?_per_\w+ | s?_total | info | stream | lists? | sets? | map | kinds?
    | widgets? | history | rules? | tag
    )$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"(?<![A-Za-z])(?:public|max|min|num|n|csrf|next|stop|eos|bos|pad|unk|special|page|sort|cache|input)[_-]?$",
    re.IGNORECASE,
)
_MOST_PUBLIC = 9
"""Characters of the longest, with a line end."""
_CANCEL = re.compile(r"(?<![A-Za-z])cancel\w*[_-]?$", re.IGNORECASE)
_TYPE = re.compile(r"::\w*$")
_CELL = re.compile(r"[\w. -]{2,60}")


def is_chosen(anchor: str) -> bool:
    """Whether people choose the values of such names."""
    return anchor in _PASSWORDS


def is_about(before: str, rest: str) -> bool:
    """Whether the characters around an anchor make the name one of something else than a secret."""
    return bool(
        _PUBLIC.search(before, len(before) - _MOST_PUBLIC)
        or _ABOUT.fullmatch(rest)
        or ("cancel" in before.lower() and _CANCEL.search(before))
        or ("::" in before and _TYPE.search(before))
    )


def anchors(text: str, low: str, places: Places, others: str = "") -> Iterator[tuple[int, str]]:
    """Yield the places of anchors within names of secrets, in no order.

    Parameters:
        low: the text in lower case, of the same length, "?" for characters beyond ASCII.
        places: positions of each of ANCHORS in it.
        others: all characters of the text beyond ASCII, in lower case.
    """
    for anchor in (*ANCHORS, *SETTINGS_ANCHORS):
        for place in places.get(anchor, ()):
            if _is_part(low, place, anchor):
                yield place, anchor
    words = [word for word, part in _FOREIGN_PARTS if part in others] if others else []
    small = text.replace("İ", "i").lower() if words else ""
    for word in words:
        yield from ((place, word) for place in places_of(small, word))


def anchor_of(name: str) -> str:
    """Return the anchor of a whole name, such as a table's column; empty if it names no secret."""
    if not _CELL.fullmatch(name):
        return ""
    low = name.lower()
    for anchor in (*ANCHORS, *SETTINGS_ANCHORS, *FOREIGN):
        place = low.find(anchor)
        if place >= 0 and _is_part(low, place, anchor) and " " not in name[place:]:
            return "" if is_about(name[:place], name[place + len(anchor) :]) else anchor
    return ""


def places_of(low: str, word: str) -> list[int]:
    """Return where a word stands in a text."""
    places = []
    place = low.find(word)
    while place >= 0:
        places.append(place)
        place = low.find(word, place + len(word))
    return places


def pattern_of(words: Iterable[str]) -> str:
    """Return a pattern of words in lower case, with "key" only where it may be a part of a name, as few are.

    Parameters:
        words: with "key". A match may contain several of them.
    """
    # A match begins with the first word in it, if it contains another one: "auth" in "auth_key".
    before = [re.escape(it) for it in words if it.endswith(_KEYS)] + sorted({it[-2:] for it in _KEYS})
    others = sorted(map(re.escape, {*words} - {"key"}), key=len, reverse=True)
    return "|".join([f"(?:{'|'.join(before)})[ _-]{{0,17}}key", *others])


def _is_part(low: str, place: int, anchor: str) -> bool:
    if anchor == "key":
        return low[max(0, place - 18) : place].rstrip(" _-").endswith(_KEYS)
    return anchor not in _WHOLE or bool(_WHOLE[anchor].match(low, place))
