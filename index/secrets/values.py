"""Tell secrets from placeholders, references and names by their characters."""

import math
import re
from collections import Counter
from itertools import pairwise
from operator import add

from cqm.index.text.terms import HUMP

_PLACEHOLDER = re.compile(
    r"""
      change[_-]?(?:me|it|this) | replace[_-]?(?:me|with|this) | place[_-]?holder | example | sample | dummy | redacted
    | your[_ -]? | \bmy[_-] | (?:insert|enter|put|add|fill)[_ -] | to[_-]?be[_-] | not[_-]?(?:set|used|a[_-]|real)
    | fake | abcdef | 123456 | qwerty | asdf | foobar | lorem | undefined | deadbeef | mock | todo | fixme | s3cr3t
    | hunter2
    | ^[\W_]*(?:test|none|null|true|false|password|passwd|secret|token|default|admin|root|user|guest|anonymous)
      [\W_]*\d{0,3}$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(r"(.)\1{5}|\*{3}|x{4}|X{4}|\.\.\.|…")

_REFERENCE = re.compile(
    r"""
      \$[({\[] | ^\$\w | \$(?-i:[A-Z_][A-Z_\d]{2,}|[a-z_]{2,}(?:[A-Z][a-z]+){0,8}\d{0,3})(?![A-Za-z\d])
    | \{\{ | \{\w*\} | \#\{ | <[%\w] | %\( | ^%[A-Z_]+%$ | ^%[sdr] | %[sd]$ | %s[:/@.-]%s | @\w+@$
    | ^[@&*](?-i:[a-z_-]+)$ | ^!(?-i:[a-z/]+)$ | (?:process|os|system|import\.meta|deno)\.?env | getenv | ^env[.:(]
    | ^secrets?[.:/] | ^vault: | ^arn: | ^ssm: | ^(?:op|file|https?)://
    | ^(?:\.{0,2}|~)/(?!(?-i:(?=\S*[A-Z])(?=\S*\d)[\w+/=]{30,}$))[\w.-]+(?:/|$)
    | \[(?:\^|[a-z0-9]-[a-z0-9]) | ^ENC\[ | ^AgA\w{80} | ^[a-z_.]+\([\w.,'" ]*\)?$ | ^(?-i:[a-z_][a-z_\d]*=\w{0,8})$
    | ^0x[\da-f]{1,16}$ | _\w+\*+$
    | \w\|\w+\|\w | \\[sdwb] | \)\*?\( | \(\?[:=!<P] | ^\d{4}-\d\d-\d\d | ^[a-z][\w.-]*\.[a-z]+:\d+ | ^--?[a-z-]+$
    | ^(?:latin|utf|ascii|md|sha|pbkdf|bcrypt|aes|[rhep]s|ed|x|base|iso)[\d_-]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Matches references to a secret looked up at run time, and values never secret: times, options, encodings."""
_WORDS = re.compile(
    r"[A-Za-z]+\d?(?:[ _./:,-]+[A-Za-z]+\d?)*[?!.:]?|[A-Za-z_]+\d?(?:\.[A-Za-z_]+\d?)+|[a-z]+(?:[A-Z][a-z]+)+\d?"
)
_TECHNICAL = re.compile(
    r"sha|md5|pbkdf|aes|rsa|hmac|auth|utf|base\d|http|x509|ipv|win\d|iso|rfc|cve|[/\\=(){}\[\]<>|,;:]|\.\w",
    re.IGNORECASE,
)
"""Matches in names of algorithms, formats and files."""
_LEAST_DIGITS = 3
_PROGRAM = re.compile(r"[A-Za-z_][\w.]*(?:\[|\(|->|::)[\w.,:'\"\[\](){} >-]*$|[\w.]+\.\w+\(")
# A word without digits is read in one way alone: two ways for each of many words take time without end.
_SEGMENT = r"(?:[A-Za-z]+|[a-z]{1,12}\d{1,3}[a-z]{0,12}|\d+)"
_PHRASE = re.compile(rf"[+@#.*-]?{_SEGMENT}(?:[-_./:,+]{{1,2}}{_SEGMENT})*[.!?:)]?")
"""Words and numbers with marks between them: "at-least-8"."""
_HUMP = re.compile(HUMP)
_SHORT_HUMP = 2.5
_LEAST_ODD = 2
_LEAST_ODD_OF_ONE_CASE = 4
_ODD_SHARE = 0.15
_NAME = re.compile(r"[A-Za-z_.:-]+[(\[]?")
ALTERNATING = re.compile(r"(?:[A-Z]{1,3}[a-z]{1,2}){2}[A-Z]")
"""Matches upper and lower case in turn, as in few names."""
_ODD_ROWS = """
    a:hjoq b:ghknqvwxz c:gjnqvwxz d:hjkmqwxz e:z f:bdghjkmnpqvwxz g:bcdjkqvwxyz h:bcdfghjkpqvwxz i:hijquwy
    j:bcdfghjklmnpqrstvwxyz k:bcdghjkmpqrvxyz l:hjqwxz m:cfghjnqrvwxyz n:qwxz o:hqz p:bfjkmnqvwxz
    q:abcdefghijklmnopqrtvwxyz r:hjqxz s:bgjxz t:jkqvz u:hjkquvwxyz v:bcdfghjklmnpqrstuvwxyz
    w:bcfgjklmpqtuvwxyz x:bghjklnqruvwxyz y:bdfghjkqruvwxyz z:bcdfghjklmnpqrstuvwxyz
"""
"""Letters following each other in fewer than 9 of 9,635 common words: after "a", one of "hjoq"."""
_ODD_PAIRS = frozenset(row[0] + second for row in _ODD_ROWS.split() for second in row[2:])
LOGIN = r"""://[^\s/:@"'<>`]*:[^\s/@"'<>`]{3,}@"""
"""Matches addresses with a password."""
_LEAST_ENTROPY = 2.8
_LEAST_PASSWORD, _LEAST_TOKEN = 6, 16
_LEAST_SCRAMBLED = 10
_LEAST_GENERATED = 12
_LEAST_STRONG = 8
_LONGEST_NAME = 30
_MOST = 2048


def is_placeholder(value: str) -> bool:
    """Whether a value only stands in for a secret: "changeme", "xxxx", "${TOKEN}", "<your-key>"."""
    return bool(_PLACEHOLDER.search(value) or _RUN.search(value) or _REFERENCE.search(value))


def is_password(value: str) -> bool:
    """Whether a value named as a password may be one: it may be short, but not a plain word."""
    if not _LEAST_PASSWORD <= len(value) <= _MOST or is_placeholder(value) or " " in value:
        return False
    if _WORDS.fullmatch(value):
        return is_scrambled(value)
    return not _PROGRAM.match(value) and any(it.isdigit() or not it.isalnum() for it in value)


def is_token(value: str) -> bool:
    """Whether a value named as a token, key or secret may be one: long, and of random characters."""
    least = _LEAST_GENERATED if _is_mixed(value) else _LEAST_TOKEN
    if not least <= len(value) <= _MOST or is_placeholder(value) or " " in value:
        return False
    # A value without a digit, or of words alone, must look scrambled or random to count.
    is_plain = not any(it.isdigit() for it in value) or bool(_WORDS.fullmatch(value))
    if is_plain and not (is_scrambled(value) or looks_random(value)):
        return False
    return not _PROGRAM.match(value) and entropy(value) > _LEAST_ENTROPY


def is_strong(value: str) -> bool:
    """Whether a value is a secret by its form alone, beside a name in a sentence or a table."""
    if len(value) < _LEAST_STRONG or not is_password(value):
        return False
    if is_scrambled(value):
        return True
    is_mixed = any(it.isdigit() for it in value) and any(it.isalpha() for it in value)
    return is_mixed and not _PHRASE.fullmatch(value) and not _PROGRAM.match(value)


def is_odd_in_prose(value: str) -> bool:
    """Whether a value is a secret among words, with no name and mark before it: letters of both cases, and digits."""
    if not (is_strong(value) and _is_mixed(value)) or _TECHNICAL.search(value):
        return False
    return is_scrambled(value) or sum(map(str.isdigit, value)) >= _LEAST_DIGITS


def is_scrambled(value: str) -> bool:
    """Whether letters follow each other, or change their case, as in no word of a language."""
    low = value.lower()
    odd = len(_ODD_PAIRS.intersection(map(add, low, low[1:]))) if value.isascii() else 0
    letters = sum(map(str.isalpha, value)) if odd else 0
    if letters < _LEAST_SCRAMBLED:
        return False
    is_crowded = odd > _ODD_SHARE * sum(a.isalpha() and b.isalpha() for a, b in pairwise(value))
    if value.islower() or value.isupper():
        return odd >= _LEAST_ODD_OF_ONE_CASE and is_crowded
    return (odd >= _LEAST_ODD and is_crowded) or letters < len(_HUMP.findall(value)) * _SHORT_HUMP


def _is_mixed(value: str) -> bool:
    return all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))


def entropy(value: str) -> float:
    """Bits per character, from the frequency of each character in the value."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def is_name(value: str) -> bool:
    """Whether a value consists of words, or is a name in a program."""
    return len(value) < _LONGEST_NAME and bool(_NAME.fullmatch(value)) and not looks_random(value)


def looks_random(value: str) -> bool:
    """Whether upper and lower case alternate more than in names."""
    if not ALTERNATING.search(value):
        return False
    turns = sum(a.isupper() != b.isupper() for a, b in pairwise(value) if a.isalpha() and b.isalpha())
    return turns > len(value) * 0.4
