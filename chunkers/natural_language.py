"""Detect the natural language of a text by its script, or by common words in a shared script.

It needs no model and no dependency: it only separates the languages of documents and comments, and short words such as
"the", "der" and "les" make up a quarter of all prose. Text with too few of them gets no language.
"""

import functools
import re

_SAMPLES = (400, 2_000)
"""Characters tested: a few lines of prose reveal its language. The larger number is for text beginning with markup."""
_CODE_CHARACTERS = 4_000
_TAG = re.compile("<[^<>]*>")

_LEAST_WORDS, _LEAST_CHARACTERS = 2, 4
"""Minimum of different common words, or of characters in a script of its own; shorter texts get no language."""
_LEAST_SHARE = 12
"""At least one word in this many must be common: lists of names and code are not prose."""

# The commonest function words, without keywords of programming languages ("for", "in", "if", "not").
_COMMON_WORDS = {
    "en": "the of to and a an with that this it its are be can you your will by on at which we was were has have been"
    " but they when used into only than then also may must should how what there these our",
    "de": "der die das und ist nicht ein eine einen einer mit für von zu den dem des auf im als auch sich wird werden"
    " sind oder kann wenn bei nach aus wie über nur noch hat durch dass diese dieser dieses zum zur man es er sie wir",
    "fr": "le la les des et est une un du dans pour que qui sur pas par avec ce cette ces sont ou plus au aux vous nous"
    " il elle être peut en de se ne sa son ses mais on comme à sans fait",
    "es": "el la los las de del y en un una que es por para con no se su sus al lo como más este esta son puede pero si"
    " cuando sin está o a hay ser",
    "pt": "o a de da dos das e em um uma que é para com não se no na por mais como são ou pode seu sua ao pelo"
    " pela está você esta este",
    "it": "il lo la i gli le di del della dei delle e è un una che per con non si sono come da nel nella al più questo"
    " questa può anche ma ed",
    "nl": "de het een en van is niet met voor op te dat die zijn aan er wordt worden kan ook bij uit naar als om deze"
    " dit maar of je",
    "pl": "i w z na do nie się jest że to dla jak o po od ale oraz lub może przez są jego",
    "sv": "och det att som en av för är inte på med den till ett om kan har från eller du vi",
}

# First UTF-8 bytes of the scripts: counting bytes takes a tenth of the time of regular expressions.
_KANA = (b"\xe3\x81", b"\xe3\x82", b"\xe3\x83")
_HAN = (b"\xe4", b"\xe5", b"\xe6", b"\xe7", b"\xe8", b"\xe9")
_CYRILLIC = (b"\xd0", b"\xd1", b"\xd2", b"\xd3")
_ARABIC = (b"\xd8", b"\xd9", b"\xda", b"\xdb")
# Scripts used by hardly more than one language.
_SCRIPTS = (
    ("ko", (b"\xea", b"\xeb", b"\xec", b"\xed")),
    ("el", (b"\xce", b"\xcf")),
    ("he", (b"\xd6", b"\xd7")),
    ("th", (b"\xe0\xb8", b"\xe0\xb9")),
    ("hi", (b"\xe0\xa4", b"\xe0\xa5")),
)
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_PERSIAN = re.compile("[پچژگیک]")

# Characters used only in Japan (simplified in 1946, otherwise than China in 1956), and characters never used in Japan:
# simplified and traditional Chinese ones, and Chinese pronouns and particles.
_JAPANESE_FORMS = re.compile(
    "[変図対応実発経総関様処検値込働読続売単県権歴帰気転伝絵広択沢験駅円両囲証拡隠覧価仮楽齢満渋抜暦巻弾戦桜栄毎焼獣"
    "縁縄聴脳舗蔵薬譲軽辺遅郷酔鉄銭鋳録錬険雑霊顔駆騒髪鶏黒黙徳悪恵廃従徴拝挙掲揺摂撃収剤剰労効勧勲圧壊姫嬢専峠塀]"
)
_CHINESE_FORMS = re.compile(
    "[这们个为说时对应实发经总关样处检设图读续单权历归气转传吗呢吧啊你她它很没还么该让给进运过动务现认问题间见观规视觉"
    "记许词译试话语调议识码类项输层构标组线级细终结统继编网络节华书东车连选择隐难页须预领频风飞"
    "這們為說對應實發經總關樣處檢圖讀續單權歷歸氣轉傳嗎將從讓麼與點數據碼擇隱繼]"
)
_LEAST_KANA_PERCENT, _MOST_KANA_PERCENT = 8, 40
"""Share of kana among kana and ideographs.

Japanese prose has 40 to 70 %, terse headings and tables 10 and more; Chinese quotes some.
"""


def natural_language(text: str) -> str:
    """Detect the language of a text's beginning as an ISO 639-1 code; "" for too little text.

        natural_language("Der Index ist nicht mehr aktuell und wird neu gebaut.")  # "de"

    Parameters:
        text: prose; tags, addresses and marked code are ignored.
    """
    for length in _SAMPLES:
        sample = _without_markup(text[:length])
        language = _by_script(sample) or _by_words(sample)
        if language or len(text) <= length or 2 * len(sample) > length:
            return language
    return ""


def natural_language_of_comments(text: str) -> str:
    """Detect the language of comments and literals in code by their non-ASCII text.

    See `natural_language`.
    """
    if text.isascii():
        return ""
    lines = text[:_CODE_CHARACTERS].split("\n")
    return natural_language("\n".join(line for line in lines if not line.isascii()))


def _without_markup(text: str) -> str:
    # Code stands between single back quotes, or between triple ones, also an odd number.
    prose = "".join(text.split("`")[::2]) if "`" in text else text
    return _TAG.sub("", prose) if "<" in prose else prose


def _by_script(text: str) -> str:
    if text.isascii():
        return ""
    data = text.encode("utf-8", "ignore")
    words = len(text.encode("ascii", "ignore").split())
    # A character of these scripts counts as half a word: a script wins if most of the text is in it.
    enough = max(_LEAST_CHARACTERS, words / 2)
    kana, han = _count(_KANA, data), _count(_HAN, data)
    if kana + han >= enough:
        return _japanese_or_chinese(text, kana, han)
    if _count(_CYRILLIC, data) >= enough:
        return "uk" if _UKRAINIAN.search(text) else "ru"
    if _count(_ARABIC, data) >= enough:
        return "fa" if _PERSIAN.search(text) else "ar"
    return next((name for name, script in _SCRIPTS if _count(script, data) >= enough), "")


def _count(script: tuple[bytes, ...], data: bytes) -> int:
    return sum(map(data.count, script))


def _japanese_or_chinese(text: str, kana: int, han: int) -> str:
    if 100 * kana >= _MOST_KANA_PERCENT * (kana + han):
        return "ja"
    japanese, chinese = len(_JAPANESE_FORMS.findall(text)), len(_CHINESE_FORMS.findall(text))
    if 100 * kana >= _LEAST_KANA_PERCENT * (kana + han) and kana >= chinese:
        return "ja"
    if japanese != chinese:
        return "ja" if japanese > chinese else "zh"
    # Characters common to both languages: Chinese, unless the text is as short as a name.
    return "zh" if han >= 4 * _LEAST_CHARACTERS else ""


def _by_words(text: str) -> str:
    table = _languages_of_words()
    words = text.lower().split()
    found = [word for word in words if word in table]
    hits: dict[str, int] = {}
    for word in found:
        for language in table[word]:
            hits[language] = hits.get(language, 0) + 1
    if not hits:
        return ""
    count = max(hits.values())
    best = [language for language, its in hits.items() if its == count]
    different = sum(best[0] in table[word] for word in set(found))
    is_clear = len(best) == 1 and different >= _LEAST_WORDS and count * _LEAST_SHARE >= len(words)
    return best[0] if is_clear else ""


@functools.cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language, words in _COMMON_WORDS.items():
        for word in words.split():
            table[word] = (*table.get(word, ()), language)
    return table
