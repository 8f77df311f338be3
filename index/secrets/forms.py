"""Secrets recognisable by their form, a row for each: options of programs, rows of settings, headers, hashes.

Each rule first searches its literals; its pattern is tried on the lines containing one.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from cqm.index.secrets.values import is_odd_in_prose, is_password, is_placeholder, is_strong, is_token

USUAL = frozenset({"pass", "password", "passwd", "pwd", "secret", "user", "username", "token", "key", "root", "admin"})
USUAL |= {"guest", "test", "postgres", "mysql", "redis"}
"""Passwords used in manuals."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A secret recognisable by its form.

    Attributes:
        kind: the name shown to people.
        literals: lower-case texts; the line of every match contains one.
        also: another lower-case text in the line.
        pattern: with a group "secret".
        is_secret: whether a match may be a secret.
    """

    kind: str
    literals: tuple[str, ...]
    also: str
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


def _rule(kind: str, literals: str, pattern: str, is_secret: Callable[[str], bool], also: str = "") -> Rule:
    # "·" is a blank in a literal.
    return Rule(kind, tuple(it.replace("·", " ") for it in literals.split()), also, re.compile(pattern), is_secret)


def _is_basic(value: str) -> bool:
    """Whether it is "user:password" in base64."""
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return (
        bool(colon and user)
        and password.isprintable()
        and password.lower() not in USUAL
        and not is_placeholder(password)
    )


def _is_login(value: str) -> bool:
    return is_token(value) or _is_basic(value)


def _is_any(_value: str) -> bool:
    return True


_PGPASS = r"^[^\s:]{1,100}:\d{4}:[^\s:]{1,60}:[^\s:]{1,60}:(?P<secret>[^\s:]{6,200})\s*$"
_COOKIE = r"(?:(?i:cookie)[\"']?\]?\s?[:=,]\s?[\"'`]?|;\s?)[\w.-]{1,60}=(?P<secret>[^\s;,\"'`<>\\]{12,2000})"


def _is_cookie(value: str) -> bool:
    return is_strong(value) and is_token(value)


RULES = (
    _rule(
        "authorization",
        "bearer authorization",
        r"(?i:bearer|authorization[\"']?\]?\s?[:,=]\s?[\"'`]?(?:token|apikey|api-key|key))\s{1,4}"
        r"(?P<secret>[^\s\"'`,;<>\\(){}\[\]]{16,2000})",
        is_strong,
    ),
    _rule("authorization", "basic", r"(?i:basic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})", _is_basic, "auth"),
    _rule("registry login", '"auth"', r"\"auth\"\s{0,4}:\s{0,4}\"(?P<secret>[A-Za-z0-9+/]{8,2000}={0,2})\"", _is_basic),
    _rule("registry token", "_auth", r"_auth(?i:token)?\s{0,4}=\s{0,4}[\"']?(?P<secret>[^\s\"'$]{8,2000})", _is_login),
    _rule(
        "login",
        "curl· curl.exe",
        r"curl\b[^\n|]{0,120}?\s(?:-[a-zA-Z]{0,6}u\s?|--user[= ])[\"']?[^\s:\"'$]{1,100}:(?P<secret>[^\s\"'$]{4,200})",
        is_password,
    ),
    _rule(
        "password", "mysql mariadb", r"(?:mysql|mariadb)\w*[^\n|]{0,120}?\s-p(?P<secret>[^\s\"'$]{4,200})", is_password
    ),
    _rule("password", "sshpass", r"sshpass\s{1,4}-p\s{0,2}[\"']?(?P<secret>[^\s\"'$]{4,200})", is_password),
    _rule(
        "password hash",
        "$1$ $5$ $6$ $7$ $y$ $2$ $2a$ $2b$ $2x$ $2y$ $apr1$ $argon2 $scrypt$ $pbkdf2",
        r"(?P<secret>\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[156y7]\$(?:[^\s$:\"']{1,40}\$){1,2}[./A-Za-z0-9]{20,90}"
        r"|apr1\$[^\s$:]{1,16}\$[./A-Za-z0-9]{16,}|(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$[^\s\"']{20,300}))",
        _is_any,
    ),
    _rule(
        "password hash",
        "pass",
        r"\{(?i:s?sha(?:256|512)?|s?md5|crypt)\}(?P<secret>[A-Za-z0-9+/=.$]{13,400})",
        _is_any,
        "{",
    ),
    _rule(
        "password",
        "securestring",
        r"(?i:securestring)[\s(]{1,4}(?:-String\s)?[\"'](?P<secret>[^\s\"']{6,300})[\"']",
        is_strong,
    ),
    _rule(
        "password",
        "pass sudo",
        r"\b(?:echo|printf)\s{1,4}(?:-\w\s)?[\"']?(?P<secret>[^\s\"'$|]{6,300})[\"']?\s?\|",
        is_strong,
        "|",
    ),
    _rule(
        "password",
        "identified",
        r"(?i:by|as)\s{1,4}(?:(?i:password)\s)?[\"'](?P<secret>[^\s\"']{6,300})[\"']",
        is_password,
    ),
    _rule(
        "password",
        "bindpw rootpw",
        r"(?i:bindpw|rootpw)\s{1,4}(?:--\w{1,12}\s)?[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "default_authtok",
        r"(?i:authtok)\w{0,20}\s{0,8}[:=]\s{0,8}[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule("password", "psk", r"\b(?i:psk)\s{1,4}[\"'](?P<secret>[^\s\"']{6,200})[\"']", is_password),
    _rule("password", "insecure-password", r"insecure-password\s{1,4}(?P<secret>[^\s\"']{6,200})", is_password),
    _rule(
        "password",
        "createuser",
        r"(?i:createuser)\s\S{1,60}\s(?i:md5|sha)[\w-]{0,8}\s[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    # Short options of programs that log in.
    _rule(
        "password",
        "login",
        r"\blogin\b[^\n|]{0,120}?\s(?:-p|--pass(?:word)?)[\s=]?[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -p",
    ),
    _rule("password", "redis-cli", r"redis-cli\b[^\n|]{0,120}?\s-a\s?[\"']?(?P<secret>[^\s\"'$]{6,200})", is_password),
    _rule(
        "password",
        "htpasswd",
        r"htpasswd\s(?:-\w{1,8}\s){0,4}-\w{0,8}b\w{0,8}\s(?:\S{1,200}\s){1,2}[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "openssl",
        r"openssl\b[^\n|]{0,160}?\s(?:-k\s|-pass\w{0,3}\spass:)[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule("password", ":5432: :3306: :1521: :5433: :6432:", _PGPASS, is_password),
    _rule("password", "]:587 ]:465 ]:25", r"\]:\d{2,5}\s{1,8}[^\s:]{1,100}:(?P<secret>\S{6,200})", is_password),
    _rule(
        "password",
        "zip 7z",
        r"\b(?:zip\s-P|7z\s[^\n|]{0,80}?\s?-p)\s?[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -p",
    ),
    _rule(
        "password",
        "passwd/",
        r"passwd/[\w/-]{1,40}\s{1,4}password\s{1,4}(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule("password hash", ":::", r":(?P<secret>[0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::", _is_any),
    _rule(
        "seed phrase",
        "mnemonic seed_phrase seedphrase",
        r"(?i:mnemonic|seed_?phrase)\w{0,20}[\"']?\s?[:=]\s?[\"']?(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b",
        _is_any,
    ),
    # Logins of Oracle: "scott/tiger@orcl".
    _rule(
        "password",
        "sqlplus sqlldr expdp impdp rman· userid= connect· conn·",
        r"(?i:\b(?:conn(?:ect)?|sqlplus|sqlldr|expdp|impdp|target)\s(?:\s?-\w{1,8}\s){0,3}|userid=)\s{0,4}[\"']?"
        r"[A-Za-z][\w$#.]{0,60}/[\"']?(?P<secret>[^\s@\"'/;]{6,100})(?=[\"']?(?:[@\s]|$))",
        is_strong,
        "/",
    ),
    _rule("password", "connect(", r"(?i:connect\()\s?[\"'][\w$#.]{1,60}/(?P<secret>[^\s@\"'/]{6,100})@", is_password),
    _rule(
        "password", "jdbc:oracle", r"(?i:jdbc:oracle):\w{1,8}:[\w$#.]{1,60}/(?P<secret>[^\s@\"'/]{6,100})@", is_password
    ),
    _rule("password", "@tcp( @unix(", r"[\w.-]{1,60}:(?P<secret>[^\s@\"'`:/]{4,100})@(?:tcp|unix)\(", is_password),
    # Redis.
    _rule(
        "password",
        "setuser +@ allkeys allcommands ~*",
        r"(?i:\buser|\bsetuser)\s{1,4}\S{1,60}\s[^\n]{0,200}?(?<=[\s\"'])[>#](?P<secret>[^\s\"'>]{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "masterauth auth-pass",
        r"(?i:masterauth|auth-pass\s{1,4}\S{1,80})\s{1,4}[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "\"auth\" 'auth'",
        r"[\"'](?:AUTH|auth)[\"'],\s?(?:[\"'][^\"'\n]{1,60}[\"'],\s?)?[\"'](?P<secret>[^\s\"']{6,200})[\"']",
        is_strong,
    ),
    # Options of further programs with a login.
    _rule(
        "password",
        "ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd",
        r"\bldap\w{1,12}\b[^\n|]{0,200}?\s-w\s?[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -w",
    ),
    _rule(
        "password",
        "mongo useradd usermod psexec influx sqlcmd ipmitool mosquitto_ bcp· isql tsql· rdesktop",
        r"\b(?i:mongo\w{0,8}|useradd|usermod|psexec\w{0,4}|influx|sqlcmd|ipmitool|mosquitto_\w{1,8}|bcp|isql|tsql|rdesktop)"
        r"\b[^\n|]{0,200}?\s-[pP]\s?[\"']?(?!\d{1,5}:\d)(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -p",
    ),
    _rule(
        "password",
        "smbclient rpcclient smbmap smbget",
        r"\b(?:smb|rpc)\w{1,8}\b[^\n|]{0,160}?\s(?:-U|--user)[\s=]?[\"']?[^\s%\"']{1,80}%(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        "%",
    ),
    _rule(
        "password",
        "lftp",
        r"\blftp\b[^\n|]{0,160}?\s-u\s?[\"']?[^\s,\"']{1,80},(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -u",
    ),
    _rule(
        "login",
        "http·- https·- httpie xhs·-",
        r"\b(?:https?|httpie|xh|xhs)\s[^\n|]{0,120}?(?:-a|--auth)[\s=][\"']?[^\s:\"'$]{1,100}:(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -",
    ),
    _rule(
        "password",
        "net·use net·user",
        r"\b(?i:net)\s(?i:use|user)\s(?:\S{1,3}\s)?\S{1,120}\s{1,4}[\"']?(?P<secret>[^\s\"'$%/*][^\s\"'$%]{5,200})[\"']?\s{1,4}/",
        is_password,
        " /",
    ),
    _rule(
        "password",
        "freerdp mstsc cmdkey",
        r"(?i:freerdp|mstsc|cmdkey)[^\n|]{0,160}?\s/p(?:ass)?:[\"']?(?P<secret>[^\s\"'$%]{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "wpa_passphrase",
        r"wpa_passphrase\s{1,4}(?:\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|\S{1,60})\s{1,4}[\"']?(?P<secret>[^\s\"'$]{8,63})",
        is_password,
    ),
    _rule(
        "password", "ssh-keygen", r"ssh-keygen\b[^\n|]{0,160}?\s-[NP]\s?[\"']?(?P<secret>[^\s\"'$]{6,200})", is_password
    ),
    _rule("password", "-setcookie", r"-setcookie\s{1,4}[\"']?(?P<secret>[^\s\"'$]{6,200})", is_password),
    _rule(
        "password",
        "plink pscp psftp",
        r"\bp(?:link|scp|sftp)\b[^\n|]{0,160}?\s-pw\s[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule(
        "password", 'send·"', r"\b(?:exp_)?send\s(?:--\s)?\"(?P<secret>[^\s\"$\\\[]{6,100})\\[rn]\"", is_strong, "\\"
    ),
    _rule(
        "password",
        "login credential creds zugang",
        r"(?i:logins?|log\sin|credentials?|creds|zugang\w{0,8})\b[^\n]{0,40}?[\s:][\"'`(]{0,2}[\w.@-]{2,40}+[\"'`]{0,2}"
        r"\s{0,2}(?:/|:|\band\b|\bund\b)\s{0,2}[\"'`]{0,2}(?P<secret>[^\s\"'`<>]{8,100}?)(?=[\"'`.,)]{0,2}(?:\s|$))",
        is_odd_in_prose,
    ),
    # Devices of networks, and lists of users.
    _rule(
        "password",
        "snmp-server",
        r"snmp-server\s(?:community|user\s\S{1,60})\s(?P<secret>[^\s\"']{6,100})",
        is_password,
    ),
    _rule(
        "password",
        "neighbor· username· enable·secret enable·password",
        r"^\s{0,8}(?:neighbor\s\S{1,60}|username\s\S{1,60}(?:\sprivilege\s\d{1,2})?|enable)\s(?:password|secret)"
        r"\s(?:\d\s)?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule(
        "password",
        ":/home/ :/bin/ :/root:",
        r"^[a-z_][\w.-]{0,31}:(?P<secret>[^\s:$*!]{6,100}):\d{0,9}:\d{0,9}:",
        is_password,
    ),
    # Keys of wallets, in hexadecimal digits.
    _rule(
        "private key",
        "wallet( from_key( fromkey( privatekeytoaccount( accounts",
        r"(?i:wallet\(|from_?key\(|privatekeytoaccount\(|accounts\b[^\n]{0,20}\[)\s?[\"'`](?P<secret>(?:0x)?[0-9a-fA-F]{64})[\"'`]",
        _is_any,
    ),
    _rule("cookie", "cookie", _COOKIE, _is_cookie, "="),
)
"""Secrets recognisable by their form. Remove a row once the library finds its secrets."""
