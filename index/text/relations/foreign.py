"""Say a question about a relation of a name, asked in another language than English, in English.

Its forms are rows of `static/foreign.tsv`: German, French, Spanish, Portuguese, Italian, Chinese, Japanese, Korean.
Before them stand parts of several forms, such as the words for the kinds of names.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_LONGEST = 200
_QUOTES = "`'\"\u00ab\u00bb\u300c\u300d\u300e\u300f\u201e\u201c\u201d"
_NAME = (
    rf"[{_QUOTES}]?\s?(?P<name>[@.#]?[A-Za-z_$](?:[A-Za-z0-9_$.:#\\/-]{{0,120}}[A-Za-z0-9_$])?(?:\(\))?)\s?[{_QUOTES}]?"
)
"""Letters of these languages are around a name, so it has none but ASCII."""
_ASKS = re.compile(
    r"(?:w(?:er|o|as|ie|elche[rs]?)|alle|aufruf\w*|verwendung\w*|unit-?tests?|tests?|implementier\w*|unterklassen"
    r"|abgeleitete|subklassen|die|css\S*|stil|qui|qu[eé]|quels?|quelles?|quali?|quale|quais|qu'est|o[uù]|tous|toutes|les?|las?|los|os|as"
    r"|i|il|gli|el|appel\w*|utilis\w*|usages?|r[eé]f\w*|sous|classes|implémentations?|implementac\w*|valeur|valore?|styles?"
    r"|estilos?|d[oó]nde|onde|dove|chi|todas|llamadas|usos|chamadas|chiamate|usi|riferimenti|pruebas|prove|testes"
    r"|subclas\w*|sottoclassi|cu[aá]l|qui[eé]n|quem)\b|.{0,150}[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]",
    re.IGNORECASE,
)
"""Beginnings of such questions; of Chinese, Japanese and Korean any letter."""
_OTHER_SCRIPT = re.compile("[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]")
_AROUND = re.compile(r"^[\u00bf\s]+|[\s?.!\u3002\uff1f\uff01]+$")
_PLEASE = re.compile(
    r"(?:zeige?(?: mir)?|finde|montre(?:-moi)?|trouve|muestra(?:me)?|busca|mostra) |\u8bf7\u95ee"
    r"|\u627e\u5230|\u627e\u51fa|\u67e5\u627e",
    re.IGNORECASE,
)


def as_english(text: str) -> str:
    """Return a question about a relation of a name in English; empty for other texts, and for most in English.

        "Wer ruft parse_args auf?" is "who calls `parse_args`"

    Parameters:
        text: of the question, of one line.
    """
    if len(text) > _LONGEST:
        return ""
    plain = _AROUND.sub("", _PLEASE.sub("", text.strip(), count=1)).strip()
    if not _ASKS.match(plain):
        return ""
    for said, form in _forms():
        if found := form.fullmatch(plain):
            name = found["name"]
            # Among letters of another script each word of these is a name.
            is_marked = _OTHER_SCRIPT.search(plain) or plain[found.start("name") - 1 : found.start("name")] in _QUOTES
            return said.format(f"`{name}`" if is_marked else name)
    return ""


@cache
def _forms() -> Sequence[tuple[str, re.Pattern[str]]]:
    # Few questions are of them, and their compilation takes time.
    rows = files(__package__).joinpath("static", "foreign.tsv").read_text("utf-8").splitlines()
    told = [(said, form) for said, form in (row.split("\t") for row in rows)]
    parts = {f"{{{said}}}": form for said, form in told if "{}" not in said} | {"{name}": _NAME}
    return [(said, _compiled(form, parts)) for said, form in told if "{}" in said]


def _compiled(form: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    for mark, part in parts.items():
        form = form.replace(mark, part)
    return re.compile(form, re.IGNORECASE)
