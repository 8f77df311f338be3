"""Files that attack whoever parses them: any number, the same ones for the same seed.

They are of every kind that the fault table of a parser knows: comments, strings and brackets that nobody closes, in
each language; characters of several bytes at every border of a parser's reads; nesting; bait for algorithms whose
time grows with the square; bombs of each format; bytes that are no text.
"""

import json
import resource
import time
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from cqm.chunkers.languages.model import Language
from cqm.chunkers.languages.table import GUESSED, LANGUAGES
from cqm.index.files.scan import FoundFile
from cqm.index.update.prepare import Preparation, prepare_file

_BYTES = 60_000
_LONG = 200_000
_NESTED = 100_000
_FIXTURES = Path(__file__).resolve().parents[1] / "chunkers" / "fixtures" / "code"
_WIDE = ("é", "中", "\U0001d4b3", "\u2028", "\ufeff", "﷽", "\ud800")


_SUFFIXES = {
    "matlab": (".m", "function value = first(a)\n"),
    "properties": (".properties", ""),
    "puppet": (".pp", "class a {\n}\n"),
    "actionscript": (".as", "package a\n"),
    "kotlinabi": (".api", "public class a {\n}\n"),
    "coq": (".v", "Lemma a : b.\n"),
}
"""Suffixes of languages which share theirs, with a line that tells them; and one that is never left out as a secret."""


class Hostile(NamedTuple):
    """A file: its name, its bytes, and which kind of attack it is."""

    name: str
    data: bytes
    kind: str


class Bait(NamedTuple):
    """All that is repeated: after `before`, with `after` behind all of it."""

    unit: str
    before: str = ""
    after: str = ""


BAITS = tuple(
    Bait(unit)
    for unit in (
        "a\n",
        "`\n",
        "/*",
        "/*中\n",
        "//\\\n",
        "(*",
        "{-",
        "--[[\n",
        "<!--",
        '"',
        '"\n',
        "'",
        '"""\n',
        "'''\n",
        "\\\n",
        "[==[\n",
        "<<A\n",
        "<<~A\n",
        "%q(",
        'r#"\n',
        '$"{\n',
        "#{",
        "${",
        "(",
        "[",
        "{",
        "<",
        "a<",
        "a<b,",
        "((a)",
        "[a ",
        "{\n",
        "(\n",
        "a.b(\n",
        ".a()\n",
        "a ? b : ",
        "a => ",
        "-> ",
        "a | ",
        "a = ",
        "= ",
        "if a:\n",
        "if (a) {\n",
        "do\n",
        "begin\n",
        "end\n",
        "case\n",
        "#if A\n",
        "#else\n",
        "#endif\n",
        "@a\n",
        "@(\n",
        "fn a<",
        "class A<",
        "func(",
        "select (",
        "a::b<",
        "*a ",
        "&",
        "!",
        "~",
        "a b\n",
        "_ ",
        "\t",
        " ",
        "\r",
        "\n\n",
        "\f",
        "\x00",
        "AA_A ",
        "\nAA_A ",
        "\nAA_A a(",
        "%",
        "^a ",
    )
)
FORMATS = (
    ("a.md", Bait("> ")),
    ("b.md", Bait("[")),
    ("c.md", Bait("*a ")),
    ("d.md", Bait("![](")),
    ("e.md", Bait("- a\n  ")),
    ("f.md", Bait("|a", "", "\n|-\n")),
    ("g.md", Bait("```\n")),
    ("h.md", Bait("<a ")),
    ("i.md", Bait("[a]: <")),
    ("j.html", Bait("<div>")),
    ("k.html", Bait("<!--")),
    ("l.html", Bait("<table><tr><td>")),
    ("m.html", Bait("<a b='")),
    ("n.html", Bait("<script>")),
    ("o.xml", Bait("<a>")),
    ("p.xml", Bait("<![CDATA[")),
    ("q.xml", Bait("<a b='c' ")),
    ("r.json", Bait("[")),
    ("s.json", Bait('{"a":')),
    ("t.json", Bait('"\\u')),
    ("u.json", Bait("[1,", "", "1")),
    ("v.yaml", Bait("[")),
    ("w.yaml", Bait("{a: ")),
    ("x.yaml", Bait("- ")),
    ("y.yaml", Bait("? ")),
    ("z.yaml", Bait("&a *a\n")),
    ("a.toml", Bait("[[a.", "", "]]")),
    ("b.toml", Bait("a = [")),
    ("c.toml", Bait("a.", "", "b=1")),
    ("d.toml", Bait('"""\n')),
    ("e.csv", Bait(",")),
    ("f.csv", Bait('"')),
    ("g.csv", Bait("a,b\n")),
    ("h.tsv", Bait('"a\t\n')),
    ("i.log", Bait("2024-01-01 00:00:00 ERROR a\n")),
    ("j.log", Bait("\tat a.b(c:1)\n")),
    ("k.rst", Bait("=\n")),
    ("l.rst", Bait(".. a::\n\n   ")),
    ("m.rst", Bait("+-")),
    ("n.adoc", Bait("= a\n")),
    ("o.adoc", Bait("====\n")),
    ("p.adoc", Bait("[a,")),
    ("q.txt", Bait("a")),
    ("r.txt", Bait(". ")),
    ("s.txt", Bait("。")),
    ("t.txt", Bait("「")),
    ("u.txt", Bait("a. B? c! ")),
    ("v.ipynb", Bait('{"cells":[')),
    ("w.ipynb", Bait('{"cell_type":"code","source":["a"]},', '{"cells":[', "{}]}")),
    ("x.ps1", Bait("@'\n")),
    ("y.sql", Bait("((select ")),
)


def hostile_files(number: int, seed: int = 1) -> list[Hostile]:
    """Return so many hostile files, the fixed ones of each kind first.

    Parameters:
        number: of files; 2,300 hold every kind in every language.
        seed: of what is drawn.
    """
    random = Random(seed)
    fixed = [*_bombs(), *_baited(random)]
    if number < len(fixed):
        # Every so many of them, so that few hold some of each kind too.
        return [fixed[place * len(fixed) // number] for place in range(number)]
    drawn = _drawn(random)
    return [*fixed, *(next(drawn) for _ in range(number - len(fixed)))]


def _baited(random: Random) -> Iterator[Hostile]:
    for language in (*LANGUAGES, *GUESSED):
        suffix, head = _suffix_of(language)
        baits = [(f"bait_{place}", bait, _BYTES, "bait") for place, bait in enumerate(random.sample(BAITS, 16))]
        baits += [
            (name, Bait(unit), _NESTED, "nest") for name, unit in (("round", "("), ("square", "["), ("curly", "{"))
        ]
        baits += [(f"own_{place}", it, _LONG, "own") for place, it in enumerate(_own_baits(language.name, random))]
        for name, bait, size, kind in baits:
            data = _repeated(bait._replace(before=head + bait.before), size)
            yield Hostile(f"{language.name}/{name}{suffix}", data, kind)
        text = "".join(f"{'x' * (8192 - random.randrange(4))}{wide}\n" for wide in _WIDE)
        yield Hostile(f"{language.name}/borders{suffix}", (head + text).encode("utf-8", "surrogatepass"), "borders")
    for name, bait in FORMATS:
        yield Hostile(f"formats/{name}", _repeated(bait, 4 * _BYTES), "format")


def _suffix_of(language: Language) -> tuple[str, str]:
    """Return a suffix of the language, and a first line where it shares that with others."""
    suffix = next((it for it in sorted(language.suffixes) if it.startswith(".")), f".{language.name}")
    return _SUFFIXES.get(language.name, (suffix, ""))


def _own_baits(language: str, random: Random) -> list[Bait]:
    """Return baits of what the language has: a file of it many times, one that breaks off, and lines that open much."""
    fixture = _FIXTURES / f"{language}.txt"
    text = fixture.read_text(encoding="utf-8") if fixture.is_file() else ""
    lines = sorted({line for line in text.splitlines(keepends=True) if line.strip()})
    if not lines:
        return []
    cut = random.randrange(len(text) // 4, len(text) * 3 // 4)
    return [Bait(text), Bait(text[:cut]), *map(Bait, random.sample(lines, min(5, len(lines))))]


def _repeated(bait: Bait, size: int) -> bytes:
    unit = bait.unit.encode()
    return bait.before.encode() + unit * (size // len(unit)) + bait.after.encode()


def _drawn(random: Random) -> Iterator[Hostile]:
    """Two or three baits mixed, in one of the languages."""
    for number in count():
        suffix, head = _suffix_of(random.choice((*LANGUAGES, *GUESSED)))
        units = [random.choice(BAITS).unit for _ in range(random.randint(2, 3))]
        if random.random() < 0.5:
            units.append(random.choice(_WIDE))
        text = head + "".join(random.choice(units) for _ in range(_BYTES // 3))
        yield Hostile(f"drawn/{number}{suffix}", text.encode("utf-8", "surrogatepass"), "drawn")


def _bombs() -> Iterator[Hostile]:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    laughs = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "lol">{lol}]><a>&l11;</a>'
    yield Hostile("bombs/laughs.xml", laughs.encode(), "bomb")
    aliases = "a0: &a0 [x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    yield Hostile("bombs/aliases.yaml", aliases.encode(), "bomb")
    yield Hostile("bombs/external.xml", b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///dev/zero">]><a>&b;</a>', "bomb")
    yield Hostile("bombs/number.json", b"1" * 500_000, "bomb")
    yield Hostile("bombs/exponent.json", b'{"a": 1e' + b"9" * 100_000 + b"}", "bomb")
    yield Hostile("bombs/keys.json", json.dumps({f"k{n}": {} for n in range(60_000)}).encode(), "bomb")
    yield Hostile("bombs/escapes.json", b'["' + b"\\ud800" * 80_000 + b'"]', "bomb")
    yield Hostile("bombs/utf16.txt", b"\xff\xfe" + b"\x00\xd8" * 100_000, "bomb")
    yield Hostile("bombs/random.bin.txt", Random(7).randbytes(200_000), "bomb")
    yield Hostile("bombs/output.ipynb", json.dumps(_notebook()).encode(), "bomb")
    for name, operators in (("text", b"(a) Tj "), ("moves", b"1 0 0 1 0 0 cm "), ("saves", b"q ")):
        yield Hostile(f"bombs/{name}.pdf", pdf_bomb(operators), "bomb")
    yield Hostile("bombs/pages.pdf", _pdf_of([b"BT (a) Tj ET"], kids=200_000), "bomb")
    yield Hostile("bombs/cut.pdf", pdf_bomb(b"q ")[:-500], "bomb")


def _notebook() -> dict[str, object]:
    output = {"output_type": "stream", "name": "stdout", "text": ["x\n"] * 60_000}
    return {"cells": [{"cell_type": "code", "source": ["x"], "outputs": [output], "metadata": {}}], "nbformat": 4}


def pdf_bomb(operators: bytes, repeats: int = 10_000_000) -> bytes:
    """Return a small PDF with a page of so many operators."""
    packer = zlib.compressobj(9)
    block = operators * 10_000
    packed = [packer.compress(b"BT /F1 9 Tf ")]
    packed += [packer.compress(block) for _ in range(repeats // 10_000)]
    return _pdf_of([b"".join([*packed, packer.compress(b" ET"), packer.flush()])], packed=True)


def _pdf_of(contents: list[bytes], *, packed: bool = False, kids: int = 1) -> bytes:
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (kids, b"3 0 R " * kids),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kind = b"/Filter /FlateDecode " if packed else b""
    objects += [b"<< %s/Length %d >>\nstream\n%s\nendstream" % (kind, len(it), it) for it in contents]
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(written)


def measured(task: tuple[FoundFile, Preparation]) -> tuple[float, float, str, str]:
    """Prepare a file in a worker; its processor seconds, the worker's most megabytes, and the state with its reason."""
    began = time.process_time()
    file = prepare_file((task[0], ""), task[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return time.process_time() - began, peak, file.row.state.value, file.row.reason
