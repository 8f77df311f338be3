"""Compare the definitions that CQM tells of SQL with those of sqlglot, a parser of its dialects in Python.

Usage: python tests/bench/definitions_sql.py DIALECT TREE [TREE ...] [--differences N]

Prints recall and precision of the names of tables, views, functions, procedures, triggers, types and schemas, and
recall of lines, though sqlglot doesn't tell them. Texts that the parser can't read whole are left out. It needs the
package sqlglot, or pglast for the dialect "pg".
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from cqm.chunkers.code.outline import Mark
from cqm.chunkers.code.program import Program, program_of
from cqm.chunkers.model import ChunkOptions

TOLD = {"table", "view", "function", "type", "namespace"}
READER = r"""
import json, sys
dialect = sys.argv[1]
if dialect == "pg":
    import pglast, pglast.enums
    from pglast import ast
else:
    import logging
    import sqlglot
    logging.disable(logging.CRITICAL)


def names_pg(text):
    for raw in pglast.parse_sql(text):
        it = raw.stmt
        name = None
        if isinstance(it, ast.CreateStmt) or isinstance(it, ast.CreateForeignTableStmt):
            name = (it if isinstance(it, ast.CreateStmt) else it.base).relation.relname
        elif isinstance(it, ast.CreateTableAsStmt):
            name = it.into.rel.relname
        elif isinstance(it, ast.ViewStmt):
            name = it.view.relname
        elif isinstance(it, ast.CreateFunctionStmt):
            name = it.funcname[-1].sval
        elif isinstance(it, (ast.CreateTrigStmt, ast.CreateEventTrigStmt)):
            name = it.trigname
        elif isinstance(it, ast.DefineStmt) and it.kind in (
            pglast.enums.ObjectType.OBJECT_TYPE, pglast.enums.ObjectType.OBJECT_AGGREGATE
        ):
            name = it.defnames[-1].sval
        elif isinstance(it, ast.CompositeTypeStmt):
            name = it.typevar.relname
        elif isinstance(it, (ast.CreateEnumStmt, ast.CreateRangeStmt)):
            name = it.typeName[-1].sval
        elif isinstance(it, ast.CreateDomainStmt):
            name = it.domainname[-1].sval
        elif isinstance(it, ast.CreateSchemaStmt) and it.schemaname:
            name = it.schemaname
        if name:
            data = text.encode()
            at = raw.stmt_location
            part = data[at:].decode(errors="replace")
            import re
            skipped = re.match(r"(?:\s|--[^\n]*|/\*.*?\*/)*", part, re.S).end()
            yield name, data[:at].count(b"\n") + part[:skipped].count("\n") + 1


def names_glot(text):
    for it in sqlglot.parse(text, dialect=dialect):
        if isinstance(it, sqlglot.exp.Command):
            raise ValueError("unread")
        if isinstance(it, sqlglot.exp.Create) and it.args["kind"] in (
            "TABLE", "VIEW", "FUNCTION", "PROCEDURE", "SCHEMA", "TRIGGER", "TYPE", "DATABASE"
        ):
            table = it.find(sqlglot.exp.Table)
            if table and table.name:
                yield table.name, 0


for path in json.load(sys.stdin):
    try:
        text = open(path, encoding="utf-8-sig").read()
        found = list((names_pg if dialect == "pg" else names_glot)(text))
    except Exception:
        continue
    print(json.dumps([path, found]))
"""


def told(marks: Iterable[Mark], lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the names and lines of definitions, without named queries."""
    for mark in marks:
        if mark.name and mark.kind in TOLD and "create" in lines[mark.first].lower():
            yield mark.name.rpartition(".")[2].lower(), mark.first + 1
        yield from told(mark.members or (), lines)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialect")
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--differences", type=int, default=0)
    parser.add_argument("--python", default=sys.executable, help="with the parser's package")
    arguments = parser.parse_args()
    paths = sorted(str(it) for tree in arguments.trees for it in tree.rglob("*.sql") if it.is_file())
    command = [arguments.python, "-c", READER, arguments.dialect]
    lines = subprocess.run(command, input=json.dumps(paths), capture_output=True, text=True, check=True).stdout
    count: Counter[str] = Counter()
    for line in lines.splitlines():
        path, theirs = json.loads(line)
        text = Path(path).read_text(encoding="utf-8-sig")
        program = program_of(text, "sql", ChunkOptions())
        ours = [*told(program.marks, text.split("\n"))] if isinstance(program, Program) else []
        has, wants = Counter(name for name, _ in ours), Counter(name.lower() for name, _ in theirs)
        rows = Counter(ours) & Counter((name.lower(), row) for name, row in theirs)
        count.update(files=1, ours=has.total(), theirs=wants.total(), both=(has & wants).total(), lines=rows.total())
        for word, those in (("lacks", wants - has), ("has more", has - wants)):
            for name in those if count[word] < arguments.differences else ():
                count[word] += 1
                print(word, name, path)
    recall, precision = count["both"] / max(count["theirs"], 1), count["both"] / max(count["ours"], 1)
    print(f"{count['files']} of {len(paths)} files, {count['theirs']} names")
    print(f"recall {recall:.3f}, precision {precision:.3f}, lines {count['lines'] / max(count['theirs'], 1):.3f}")


if __name__ == "__main__":
    main()
