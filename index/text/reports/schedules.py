"""Read the script that a line of cron runs."""

import re

_LONGEST = 1_000
_FIELD = r"(?:\*|\?|\d{1,2}|[A-Za-z]{3})(?:[-,/*](?:\d{1,2}|[A-Za-z]{3}|\*)){0,30}"
_LINE = re.compile(
    rf"(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|reboot)|{_FIELD}(?:[ \t]{{1,8}}{_FIELD}){{4}})"
    r"[ \t]{1,8}"
    r"(?P<command>\S[^\n]*)"
)
_USER = re.compile(
    r"(?!(?:cd|bash|sh|python3?|ruby|node|perl|php|nice|env) )[a-z][a-z0-9_-]{0,30}[ \t]{1,8}"
    r"(?=[./~]|cd |bash |sh |python)"
)
_BEFORE = re.compile(r"cd \S{1,200} && |(?:/\S{0,80}/)?(?:bash|sh|python3?|ruby|node|perl|php|nice|env)[ \t]{1,4}(?!-)")
_REDIRECTED = re.compile(r"[ \t]{1,4}(?:\d?>{1,2}|&>{1,2}|\|)[^\n]*$")
_SCRIPT = re.compile(r"(?:\.{1,2}/|/|~/)?[\w.-]{1,80}(?:/[\w.-]{1,80}){1,20}")
_MOST_BEFORE = 4


def scheduled(text: str) -> str:
    """Return the path of the script that a line of cron runs; other texts unchanged.

    "*/5 * * * * cd /srv/app && ./bin/sync --all >> /var/log/sync.log 2>&1" runs "./bin/sync"
    """
    line = _LINE.fullmatch(text.strip()) if len(text) <= _LONGEST and text.lstrip()[:1] in "*@?0123456789" else None
    if not line:
        return text
    command = _REDIRECTED.sub("", line["command"])
    if user := _USER.match(command):
        command = command[user.end() :]
    for _ in range(_MOST_BEFORE):
        if not (before := _BEFORE.match(command)):
            break
        command = command[before.end() :]
    script = command.split()[0] if command.split() else ""
    return script if _SCRIPT.fullmatch(script) else text
