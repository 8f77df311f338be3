"""Find the lines declaring a command-line option or a database table named in a question."""

import re
from typing import NamedTuple

from cqm.index.ranking.evidence import Candidate
from cqm.index.search.named.defining import NameLookup
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.exact_words import is_asking
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 400, 10
_MOST_CHARACTERS = 2_000
_LONGEST_BEFORE = 120
"""Characters before a key to tell whether it is declared."""
_LEAST_QUOTED = 40
"""Leading characters of a statement to recognise the program's own."""
_FLAG = re.compile(r"(?<![\w-])--(?P<name>[A-Za-z][\w-]{1,60}(?:\.[\w-]{1,60}){0,4})(?:=\S{0,200})?(?![\w-])")
_COMMAND = re.compile(r"[$>] ?\S|[a-z][\w./-]{0,60}(?: [a-z][\w./-]{0,60}){0,3} --?\w")
_QUOTES = frozenset("\"'`")
_TABLE = re.compile(
    r"(?:the )?(?:(?:database|db|sql) )?table [`\"']?(\w{2,80})[`\"']?|(?:the )?[`\"']?(\w{2,80})[`\"']? table"
    # Messages of PostgreSQL, SQLite, MySQL and SQL Server.
    r"|.{0,400}(?:relation \"(?:\w+\.)?(\w{2,80})\" does not exist|no such table: (?:\w+\.)?(\w{2,80})"
    r"|Table '(?:[\w-]+\.)?(\w{2,80})' doesn't exist|Invalid object name '(?:\w+\.)?(\w{2,80})').{0,400}",
    re.IGNORECASE | re.DOTALL,
)
_STATEMENT = re.compile(
    r"\s*(?:SELECT\b.{1,1500}?\bFROM|INSERT\s+INTO|UPDATE|DELETE\s+FROM"
    r"|(?:CREATE|ALTER|DROP|TRUNCATE)\s+TABLE(?:\s+IF\s+(?:NOT\s+)?EXISTS)?)"
    r"\s+[`\"\[]?(?:\w{1,80}[`\"\]]?\.[`\"\[]?)?(\w{2,80})(?=[\s`\"\](;]|$)",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED = "no-"
"""Before the name of an option that programs take without declaring it: the opposite of another."""
_OPTIONS = "long option argument flag"
_TABLES = "table tablename create schema"
"""Words beside such declarations."""
_OPTION = re.compile(
    r"(?:\b(?:long|on|names?|params?|flags?)|option|argument|switch|\w(?:Var|VarP)|[.](?:String|Bool|Int|Uint|Float|Duration)\w{0,6})"
    r"\s{0,4}[(\[{=:<,][^\n]{0,80}$",
    re.IGNORECASE,
)
"""Text before the name of an option where it is declared."""
_ASIDE = re.compile(r"migrat|(?:^|/)(?:scripts?|tools?|contrib|hack|completions?)/", re.IGNORECASE)
_OF_GETOPT = re.compile(r"\s*,\s*(?:required|no|optional)_argument")


class _Asked(NamedTuple):
    """A key of a question: its name, words beside its declaration, and the declaration's forms."""

    name: str
    beside: str
    forms: re.Pattern[str]
    statement: str = ""


def declared_lines(lookup: NameLookup, text: str) -> dict[str, int]:
    """Return the lines declaring the option or table named, by id of their chunk, best first; empty for none.

    `--min-runs`, `hyperfine --min-runs 3 ls`, `what does --min-runs do`
    `table posts`, `no such table: posts`, `SELECT * FROM posts`
    """
    asked = _asked_option(text) or _asked_table(text)
    if not asked:
        return {}
    declaring = _declaring(lookup, asked)
    if asked.name.startswith(_NEGATED) and all(_ASIDE.search(chunk.path) for chunk, _ in declaring):
        declaring = _declaring(lookup, _option(asked.name.removeprefix(_NEGATED))) or declaring
    return {chunk.id: chunk.start_line + line for chunk, line in declaring[:_MOST_LINES]}


def _declaring(lookup: NameLookup, asked: _Asked) -> list[tuple[Candidate, int]]:
    """Return the chunks declaring a key with the line in them, best first; none for the program's own statement."""
    generation = lookup.generation
    (found,) = generation.store.search([Nearest(TERMS, query_terms(f"{asked.name} {asked.beside}"), _MOST_CHUNKS)])
    chunks = generation.candidates.of(found)
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    quoted = " ".join(asked.statement.lower().split())[:_LEAST_QUOTED]
    if quoted and any(quoted in " ".join(said.lower().split()) for said in texts):
        return []
    declaring = [(chunk, line) for chunk, said in zip(chunks, texts, strict=True) if (line := _line(asked, said)) >= 0]
    return sorted(declaring, key=_rank)


def _rank(declared: tuple[Candidate, int]) -> tuple[bool, bool, str, int]:
    """Order declarations: of the program itself, of its scripts and migrations, of files with a role."""
    chunk = declared[0]
    return chunk.role is not None, _ASIDE.search(chunk.path) is not None, chunk.path, chunk.start_line


def _asked_option(text: str) -> _Asked | None:
    """Read the option of a question that is only it, a command with it, or a question about it; not a quoted one."""
    text = text.strip().strip("`")
    found = [*_FLAG.finditer(text)] if "--" in text and len(text) < _MOST_CHARACTERS and "\n" not in text else []
    if len({it["name"] for it in found}) != 1:
        return None
    is_alone = found[0].span() == (0, len(text))
    is_quoted = text[found[0].start() - 1 : found[0].start()] in _QUOTES
    if not (is_alone or is_asking(text) or (_COMMAND.match(text) and not is_quoted)):
        return None
    return _option(found[0]["name"])


def _option(written: str) -> _Asked:
    name, plain = re.escape(written), re.escape(written.replace("-", "_"))
    forms = (
        rf"[\"'`](?:-\w[, |]{{1,2}})?(?:--)?(?P<quoted>{name})(?=[\"'`]|(?<=--{name})[ =<\[,|])"
        rf"|\b(?:method_|class_)?option\s+:{plain}\b"
        rf"|#\[(?:arg|clap|structopt)\([^\]]{{0,300}}\blong\b(?!\s*=)[^\]]{{0,300}}\)\]\s{{0,80}}(?:pub )?{plain}\s*:"
        rf"|^\s{{0,40}}(?:[-\w|]{{1,60}}\|)?--{name}(?:=\*)?(?:\|[-\w|]{{1,60}})?\)"
    )
    return _Asked(written, _OPTIONS, re.compile(forms, re.MULTILINE))


def _asked_table(text: str) -> _Asked | None:
    text = text.strip()
    if len(text) > _MOST_CHARACTERS:
        return None
    # Most questions have none of these words.
    is_of_table = any(sign in text.lower() for sign in ("table", "relation", "object name"))
    found, statement = _TABLE.fullmatch(text) if is_of_table else None, _STATEMENT.match(text)
    if not (found or statement):
        return None
    name = next(filter(None, found.groups())) if found else (statement or ("", ""))[1]
    forms = (
        rf"(?:\b__tablename__|\bdb_table|\btable_?name|\$table)\s*(?:=>?|:)\s*[\"':]{name}\b"
        rf"|(?:\bTable(?=\()|\bcreate_?table|\bcreate table|Schema::create"
        rf"|\b(?:pg|mysql|sqlite)Table|@Entity|@@map|\bschema"
        rf"|\bTableName\(\)[^\n]{{0,40}}\n?\s*return)\W{{1,3}}(?:name\s*[=:]\s*)?[\"':`]{name}\b"
        rf"|\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?{name}\b"
    )
    return _Asked(name, _TABLES, re.compile(forms, re.IGNORECASE), "" if found else text)


def _line(asked: _Asked, text: str) -> int:
    """Return the first line of a text, from 0, declaring a key; -1 for none."""
    for match in asked.forms.finditer(text):
        if match.groupdict().get("quoted"):
            before = " ".join(text[max(0, match.start() - _LONGEST_BEFORE) : match.start()].split())
            if not (_OPTION.search(before) or _OF_GETOPT.match(text, match.end() + 1)):
                continue
        return text.count("\n", 0, match.end())
    return -1
