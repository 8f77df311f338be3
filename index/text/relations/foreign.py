"""Say a question about a relation of a name, asked in another language than English, in English.

Its forms are the rows of `static/foreign.tsv`: German, French, Spanish, Portuguese, Italian, Chinese, Japanese, Korean.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_LONGEST = 200
_QUOTES = "`'\"\u00ab\u00bb\u300c\u300d\u300e\u300f\u201e\u201c\u201d"
_PARTS = {
    # Letters of these languages are around a name, so it has none but ASCII.
    "name": rf"[{_QUOTES}]?\s?(?P<name>[@.#]?[A-Za-z_$](?:[A-Za-z0-9_$.:#\\/-]{{0,120}}[A-Za-z0-9_$])?(?:\(\))?)\s?[{_QUOTES}]?",
    "de": r"(?:(?:die |der |den |das |dem )?(?:klasse|methode|funktion|schnittstelle|interface|variable|umgebungsvariable"
    r"|einstellung|option|ereignis|event|konstanten?|typ|komponente) )?",
    "fr": r"(?:(?:le |la |les |l')?(?:classe|méthode|fonction|interface|variable(?: d'environnement)?|option|paramètre"
    r"|événement|constante|type|composant) )?",
    "es": r"(?:(?:el |la |o |a |il |lo |l')?(?:clase|classe|método|metodo|función|funzione|função|interfaz|interfaccia"
    r"|interface|variable|variabile|variável|opción|opção|opzione|evento|constante|costante|componente|tipo) )?",
    "zh": r"(?:在|是在)?(?:哪里|哪儿|哪|什么地方|何处|哪个文件(?:里|中)?)",
    "ja": r"(?:の)?(?:箇所|場所|ところ|コード|関数|メソッド|クラス|テスト|ファイル|人)?(?:の)?(?:は|を)?(?:どこ|何|どれ|教えて|誰)?"
    r"(?:ですか|か)?",
    "ko": r"(?:는|은|나요|니까|하는|되는)?\s?(?:곳|코드|위치|클래스|테스트)?(?:은|는|이)?\s?(?:어디)?(?:인가요|입니까|야)?",
}
"""Parts of the forms: the name, words for its kind, "where", ends of sentences."""
_ASKS = re.compile(
    r"(?:w(?:er|o|as|ie|elche[rs]?)|alle|aufruf\w*|verwendung\w*|unit-?tests?|tests?|implementier\w*|unterklassen|abgeleitete"
    r"|subklassen|die|css\S*|stil|qui|qu[eé]|quels?|quelles?|quali?|quale|quais|qu'est|o[uù]|tous|toutes|les?|las?|los|os|as|i"
    r"|il|gli|el|appel\w*|utilis\w*|usages?|r[eé]f\w*|sous|classes|implémentations?|implementac\w*|valeur|valore?|styles?"
    r"|estilos?|d[oó]nde|onde|dove|chi|todas|llamadas|usos|chamadas|chiamate|usi|riferimenti|pruebas|prove|testes"
    r"|subclas\w*|sottoclassi|cu[aá]l|qui[eé]n|quem)\b|.{0,150}[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]",
    re.IGNORECASE,
)
"""Beginnings of such questions; of Chinese, Japanese and Korean any letter."""
_OTHER_SCRIPT = re.compile("[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3]")
_AROUND = re.compile(r"^[\u00bf\s]+|[\s?.!\u3002\uff1f\uff01]+$")
_PLEASE = re.compile(
    r"(?:zeige?(?: mir)?|finde|montre(?:-moi)?|trouve|muestra(?:me)?|busca|mostra) |\u8bf7\u95ee|\u627e\u5230|\u627e\u51fa"
    r"|\u67e5\u627e",
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
    return [(said, _compiled(form)) for said, form in (row.split("\t") for row in rows)]


def _compiled(form: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        form = form.replace(f"{{{name}}}", part)
    return re.compile(form, re.IGNORECASE)
