"""Read what stands before a message in a line of a log: time, level, thread, logger."""

import re

_LEVEL = "(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|WRN|INF|CRIT|CRITICAL|FATAL|SEVERE|PANIC)"
_DAY = r"(?:\d{4}[-/]\d\d[-/]\d\d|[A-Z][a-z]{2} +\d{1,2})"
_TIME = rf"(?:{_DAY}[T ,]{{0,2}})?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z| ?[+-]\d\d:?\d\d)?"
_LOG_HEAD = re.compile(
    r"[ \t]*(?=\[|\d{4}[-/]|\d\d:|[A-Z])"
    rf"(?:(?:\[?{_TIME}(?: {_LEVEL})?\]?|\[[\w./:@ -]{{1,60}}\]|{_LEVEL}(?:\[\d{{1,9}}\])?(?![\w:])"
    r"|[A-Z](?=  )|\d{1,7}(?= )|---|[|:-](?= )"
    # glog: I1127 10:11:12.1  123 app.cc:12] ; Android: W/Tag( 123):
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,9} [\w./-]{1,80}:\d{1,7}\]"
    r"|[VDIWEF]/[\w.-]{1,60}\( {0,6}\d{1,9}\):)[ \t]{0,8}){1,12}"
    r"(?:[\w.$/-]{1,80}(?:\[\d{1,9}\])? ?(?:[-:|]|\])[ \t]+)?"
)
"""Time, level, thread and logger before a message."""


def without_log_head(text: str) -> str:
    """Return a line of a log without its time, level, thread and logger; unchanged without any."""
    head = _LOG_HEAD.match(text)
    return text[head.end() :] if head else text
