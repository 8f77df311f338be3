"""Say a question about a relation of a name, asked in another language than English, in English.

Its forms are rows of `static/foreign.tsv` with their language: German, French, Spanish (with Portuguese and Italian),
Chinese, Japanese, Korean, Russian, Polish, Czech, Turkish.
Before them stand parts of several forms, such as the words for the kinds of names.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_LONGEST = 200
_QUOTES = "`'\"\u00ab\u00bb\u300c\u300d\u300e\u300f\u201e\u201c\u201d"
_NAME = (
    rf"[{_QUOTES}]?\s?(?P<name>[@.#]?[A-Za-z_$](?:[A-Za-z0-9_$.:#\\/-]{{0,120}}[A-Za-z0-9_$])?(?:\(\))?)\s?[{_QUOTES}]?"
)
"""Letters of these languages are around a name, so it has none but ASCII."""
_BEGINNINGS = {
    "de": r"(?:gibt|w(?:er|o|as|ie|elche[rsn]?)|alle|aufruf\w*|verwendung\w*|benutzer"
    r"|(?:unit-)?tests? (?:für|von|zu|testet|testen|prüfen|decken)|implementierung\w*|unterklassen|abgeleitete"
    r"|subklassen|die|(?:css|stil|style)\S* (?:für|von|der|zu)|standardwert|vorgabewert|wert|übersetzung|text)\b",
    "fr": r"(?:y|existe|est-ce|classes|qui|quels?|quelles?|o[uù]|tous|toutes|les?|la|appel(?:s|ants)?|utilisations?"
    r"|usages? (?:de|à|d')|références|tests? (?:unitaires|de|pour|d'|testent|couvrent)|sous-classes|implémentations?"
    r"|valeur|traduction|styles? (?:de|pour))\b|qu'est",
    "es": r"(?:en|em|in|hay|existen|há|existem|ci|esistono|clases|classes|classi|qu[eé]|quali?|quale|quais|d[oó]nde"
    r"|onde|dove|chi|qui[eé]n|quem|cu[aá]l|las?|los|os?|as?|i|il|le|gli|el|todas|llamadas|usos|chamadas"
    r"|chiamate|usi|refer[eê]nci?as|riferimenti|pruebas|prove|testes|tests? (?:unitari\w+|de|para|di|per|do|da)"
    r"|implementaciones|implementações|implementazioni|subcl\w+|sottoclassi|valore?|estilos?|stili?|traducción|tradução|traduzione"
    r"|styles? (?:de|para|di|per))\b",
    "pl": r"(?:kto|co|gdzie|skąd|jak\w{0,3}|któr[aey]|czy są|wszystkie|wywołania|użycia|odwołania|miejsca|testy|klasy"
    r"|implementacje|podklasy|potomkowie|(?:domyślna )?wartość|(?:css |reguły css )?styl\w{0,2}|tłumaczenie)\b",
    "cs": r"(?:kdo|co|kde|odkud|jak\w{0,3}|kter[áéý]|existují|jsou|všechn[ay]|volání|použití|využití|odkazy|místa|testy"
    r"|jednotkové|unit testy|třídy|implementace|podtřídy|potomci|odvozené|(?:výchozí )?hodnota"
    r"|(?:css )?styly?|překlad)\b",
}
"""Beginnings of such questions."""
_LATIN = {language: re.compile(form, re.IGNORECASE) for language, form in _BEGINNINGS.items()}
_PLEASES = r"(?:zeige?(?: mir)?|finde|montre(?:-moi)?|trouve|mu[eé]stra(?:me)?|busca|mostra|pokaż|znajdź|ukaž|najdi) "
_ASKS = re.compile(rf"[\u00bf\s]{{0,9}}(?:{_PLEASES})?(?:{'|'.join(_BEGINNINGS.values())})", re.IGNORECASE)
_SCRIPTS = {
    "ja": re.compile("[\u3041-\u30fa]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "ru": re.compile("[\u0400-\u04ff]"),
}
"""Letters of a language; those of Chinese may be of Japanese."""
_OTHER_SCRIPT = re.compile("[\u0400-\u04ff\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]")
_TURKISH = re.compile(
    r"\b(?:kim(?:ler)?|neler?|nere\w+|nas\u0131l|hangi|kaç(?:t\u0131r)?|çağ[\u0131i]?r\w+"
    r"|kullan\w+|testleri|için|uygul\w+|implement\w*"
    r"|gerçekleme\w+|genişleten|miras|türe\w+"
    r"|alt s\u0131n\u0131flar\u0131|değeri|stil(?:ler)?i|s\u0131n\u0131f\u0131\w*|çevirisi)\b",
    re.IGNORECASE,
)
"""Words of such questions in Turkish, which begin with the name as often as not."""
_AROUND = re.compile(r"^[\u00bf\s]+|[\s?.!\u3002\uff1f\uff01]+$")
_PLEASE = re.compile(
    rf"^[\u00bf\s]{{0,9}}(?:{_PLEASES}|\u8bf7\u95ee|\u627e\u5230|\u627e\u51fa|\u67e5\u627e"
    r"|\u043f\u043e\u043a\u0430\u0436\u0438 (?:\u043c\u043d\u0435 )?|\u043d\u0430\u0439\u0434\u0438 )",
    re.IGNORECASE,
)


def as_english(text: str) -> str:
    """Return a question about a relation of a name in English; empty for other texts, and for most in English.

        "Wer ruft parse_args auf?" is "who calls `parse_args`"

    Parameters:
        text: of the question, of one line.
    """
    is_of_script = not text.isascii() and _OTHER_SCRIPT.search(text) is not None
    if len(text) > _LONGEST or not (is_of_script or _ASKS.match(text) or _TURKISH.search(text)):
        return ""
    plain = _AROUND.sub("", _PLEASE.sub("", text.strip(), count=1)).strip()
    if is_of_script:
        languages = [language for language, mark in _SCRIPTS.items() if mark.search(plain)]
    else:
        languages = [language for language, mark in _LATIN.items() if mark.match(plain)]
        languages += ["tr"] if _TURKISH.search(plain) else []
    for found in filter(None, (_said(plain, language) for language in languages)):
        # Among letters of another script each word of these is a name.
        is_marked = is_of_script or (found.at > 0 and plain[found.at - 1] in _QUOTES)
        return found.said.format(f"`{found.name}`" if is_marked else found.name)
    return ""


def _said(text: str, language: str) -> "_Said | None":
    matches = ((said, form.fullmatch(text)) for said, form in _forms(language))
    return next((_Said(said, it["name"], it.start("name")) for said, it in matches if it), None)


class _Said(NamedTuple):
    """A question in English with "{}" for the name, and the name's place in the text."""

    said: str
    name: str
    at: int


@cache
def _forms(language: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    # Few questions are of them, and their compilation takes time.
    rows = files(__package__).joinpath("static", "foreign.tsv").read_text("utf-8").splitlines()
    table = [row.split("\t") for row in rows]
    parts = {f"{{{name}}}": form for of, name, form in table if not of} | {"{name}": _NAME}
    return [(said, _compiled(form, parts)) for of, said, form in table if of == language]


def _compiled(form: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    for mark, part in parts.items():
        form = form.replace(mark, part)
    return re.compile(form, re.IGNORECASE)
