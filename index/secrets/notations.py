"""Patterns of text between the name of a secret and its value, one row for each kind of notation."""

import re
from functools import lru_cache

_OPERATORS = r"""
    (?: : \s? (?:&'\w+\s)? [&\w<>\[\]|. ?]{1,30}? \s? =        # a type: "password: str ="
      | \s(?i:as)\s\w{1,30} \s? =                              # "As String ="
      | \{ [^{}\n"']{0,40} \} \s? :? =                         # "{ get; set; } ="
      | </(?:key|[\w:-]{0,12}name)> | \s\w{1,20}="[\w/.-]{1,20}">(?:\s{0,20}<value>)?
      | :\*{1,2} | <?=> | [:!?+]?={1,3} | <- | <<< | ::? | [,(] | \?\?=? | \?: | \|\|=? | >
      | (?<=\)) \s? \{                                         # ENV.fetch("NAME") { "value" }
      | (?<=[\s)]) or (?=\s)
      | (?<=\s) (?P<word> (?i:to|is|was|ist|is[ ]now|by|using|(?:with[ ]\w{1,40}[ ]by)) ) \s? [:=]? (?=\s)
    )
"""
_WRAPPERS = r"""
    (?: \s{1,24}+
      | [(\[{]
      | (?:new\s|&)? (?:\[\])? [A-Za-z_][\w.:]{0,40} !? (?:<[\w<>]{0,30}>)? \( (?=[\s"'`bf(])
      | ![\w!/-]{1,30} [ \t]
      | &\w{1,30} [ \t]
      | <!\[CDATA\[
      | </?(?i:key|name|string|value|val|data|clear|content|text|plain\w{0,4}|param-value)\b [^<>]{0,40} >
      | [|>][+-]?\d?[+-]? [ \t]{0,4} \n
      | <<[~-]?["']?\w{1,20}["']?[ \t]{0,4}\n                   # a text to a mark of its end
      | "{3} | '{3}
      | (?P<empty> \\?["'`]{2} ) (?!["'`]) \s{0,4} [+.&]{0,2}
    )
"""
_VALUES = r"""
    (?: (?P<prefix>[rbfuRBFUL@$]{0,2}) (?P<quote>\\?["'`])
        (?P<quoted>(?:(?!(?P=quote))(?:\\[^\r\n]|[^\r\n\\])){1,2048}) (?P=quote)
      | (?<=\[) (?P<long>[^\s\[\]]{6,2048}) (?=\]\])
      | (?P<bare>[^\s"'`,;<>(){}\[\]\\|][^\s"'`,;<>\\|]{5,2047}) (?P<after>.?)
    )
"""

VALUE = re.compile(
    rf"""
    (?P<name>[\w.-]{{0,40}})
    (?P<gap>
      (?: \\?["'`\])}}*]{{0,3}} \s{{0,8}} {_OPERATORS} \s{{0,8}} (?P<wrapped>{_WRAPPERS}{{0,4}})
        | ["'] (?:\s{{1,8}} \w{{1,20}}="\w{{1,20}}")? \s{{1,8}} (?: value | content | default ) \s? = \s?
        | ["'`*]? [ \t]{{1,8}} (?! [=:,>] )
      )
    )
    {_VALUES}
    """,
    re.VERBOSE,
)
"""Matches after an anchor: the rest of the name, the gap, and the value."""

SIBLING = re.compile(
    rf"""
    (?P<name>[\w.-]{{0,40}})
    (?P<gap>
      (?: ["'`]? \s? (?: \{{ | : (?:\s?\{{)? | [,;>] )? \s{{1,24}}+ | ["'] \s? [,:] \s? \{{? \s{{0,4}} )
      (?> [{{-]? \s? ["']?+ [A-Za-z_][\w-]{{0,20}}+ ["']?+ \s{{0,12}}+ [:=] \s?
          (?: "[^"\n]{{0,80}}+" | '[^'\n]{{0,80}}+' | [\w. ()-]{{0,60}}+ ) [,;]? \s{{0,24}}+ ){{0,3}}?
      [<]? ["']? (?i:value|default|defaultvalue|val|content|plaintext) ["']? \s{{0,12}} (?: => | [:=>] ) \s?
    )
    {_VALUES}
    """,
    re.VERBOSE,
)
"""Matches after an anchor in the value of one key: other pairs of a mapping, and the one with the secret."""

OPENING = re.compile(r"[\w.-]{0,40}(?:[\"'`]?\s?(?P<nested>[:{]\s*+\{?\s*+(?=[\"'A-Za-z-]))|[\"'`]?\s?[,;>}\n])")
"""Matches after an anchor where other pairs may follow."""

DEFAULT = re.compile(
    rf"""(?P<name>[\w.-]{{0,40}}) (?P<gap> ["'] \s? , [^()]{{0,160}}? \b default \s? = \s? ) {_VALUES}""", re.VERBOSE
)
"""Matches the default of a command's option."""

MORE = re.compile(
    r"""\s{0,40}[+.&\\]{0,2}\s{0,40}[rbfuL]?(?P<quote>\\?["'`])(?P<quoted>(?:(?!(?P=quote))(?:\\[^\r\n]|[^\r\n\\])){1,2048})(?P=quote)(?!\s?:)"""
)
"""Matches a further literal of the same value: "ab" "cd", "ab" + "cd"."""

NAME = re.compile(r"[\w.-]{0,40}")
"""Matches the rest of a name after an anchor."""

ENCODED = re.compile(
    r"""
    [\w.-]{0,40} (?:
      (?P<quote> %(?:25)?22 | &quot; | &\#(?:34|x22); | \\u0022 | \\x22 | \\{2,7}" ) \s?
      (?: : | = | %(?:25)?3[AD] ) \s? (?:%20)? (?P=quote) (?P<quoted> (?: (?!(?P=quote)) [^\s"'<>] ){6,300} ) (?P=quote)
      | %(?:25)?3D (?P<bare> [^\s"'&<>%]{6,300} ) (?= %(?:25)?26 | [&\s"'] | $ )
    )
    """,
    re.VERBOSE,
)
"""Matches after an anchor in encoded JSON or an encoded query: for an address, for HTML, or as a string once more."""
ENCODING = ("%", "&", "\\")
"""Characters after a name there."""

SENTENCE = re.compile(
    r"[\w-]{0,20}(?:\s[\w'-]{1,20}){0,6}?\s(?:(?:is|to|as|are|ist|lautet|now|[=\u2013-])\s)?[\"'`*(]{0,3}(?P<value>[^\s\"'`*<>]{8,100})"
)
"""Matches after an anchor in a sentence: some words, and one for the password."""

FALLBACK = re.compile(r"[\w.-]{0,40}:[-=]?(?P<value>[^\s{}\"'`$]{6,300})\}")
"""Matches after an anchor in "${NAME:-value}"."""

NAMED = re.compile(
    r"(?:name|key|id|variable|param\w*|field|label|property|setting)[\"']?\s?[:=]?\s?[\"']?[\w.-]*$", re.IGNORECASE
)
"""Matches before an anchor in the value of "name:"."""

VALUE_FIRST = re.compile(
    r"\b(?i:value)[\"']?\s?[:=]\s?[\"']?(?P<value>[^\s\"',]{6,300})[\"']?,?\s{0,24}"
    r"[\"']?(?i:name|key)[\"']?\s?[:=]\s?[\"']?[\w.-]{0,40}$"
)
"""Matches up to an anchor where the value stands before its name."""

COLLECTION = re.compile(
    r"(?:word|phrase|key|code)?s[\"']?\s?(?:=|:=|:|=>)\s?(?:[\w<>\[\], ]{1,40})?[\[{(]", re.IGNORECASE
)
ITEM = re.compile(r"(?P<quote>[\"'`])(?P<value>[^\"'`\n]{6,300})(?P=quote)(?!\s{0,4}(?::|=>))")
"""Match a mapping or list of secrets, and each of its values."""

YAML_COLLECTION = re.compile(r"(?:words|phrases|keys|codes|s)[\"']?:[ \t]*\n(?P<indent>[ \t]+)")
YAML_ITEM = re.compile(r"[ \t]*(?:- )?(?:[\w.@-]{1,60}:)?[ \t]*[\"']?(?P<value>[^\s\"':#]{6,300})[\"']?[ \t]*$")

_BARE_FILES = re.compile(
    r"(?:dockerfile|containerfile|makefile|procfile|caddyfile|jenkinsfile|\.?env\b).*$"
    r"|\.?[^.]*$|.*\.(?:ya?ml|ini|cfg|conf|cnf|config|properties|env|sh|bash|zsh|fish|c?sh|ksh|ps1|bat|cmd|service|toml|tf|tfvars|txt|md|rst|adoc|log|sql|http|rest|ovpn|"
    r"list|repo|netrc|xml|csproj|plist|csv|tsv|desktop|nix|mk|editorconfig|gradle|tmpl|j2|erb|hcl|ldif|bak|old|orig|htpasswd|"
    r"xcconfig|sls|rsc|asset|pp|args|rc|reg|inf|kv|network|netdev|pod|container|nu|tpl|tftpl|secrets)$",
)
"""Files with unquoted values: settings, shell scripts, texts."""
_PROSE = (".txt", ".md", ".rst", ".adoc", ".log", ".csv")


@lru_cache(maxsize=1024)
def takes_bare(name: str) -> bool:
    """Whether files of a name have values without quotes."""
    return bool(_BARE_FILES.match(name.lower()))


def is_prose(name: str) -> bool:
    """Whether files of a name have sentences."""
    return name.lower().endswith(_PROSE)


OPTION = re.compile(r"(?<![\w-])--?[\w-]*$")
SETTER = re.compile(r"(?:^|[\s;&])(?:ENV|ARG|(?i:set(?:env|x)?)(?:\s-\w{1,9})*|export|login\s\S{1,80})\s{1,8}[\w.-]*$")
"""Matches before a name and its value, separated by blanks."""
CALL = re.compile(
    r"(?:define\s?\(\s*[\"'`]?|(?:env|get|set\w*|put|add\w*|environ|config|option|property)\w*\(\s*[\"'`])[\w.-]*$",
    re.IGNORECASE,
)
"""Matches a call before a name with its value in the next argument."""
