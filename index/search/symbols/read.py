"""Read the present lines of a symbol, a place or a file."""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cqm.index.disk.locations import relative_to_root
from cqm.index.files.listed import is_folder, listed_file
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import NotIndexedError, QueryError, ScanError, UnknownNameError
from cqm.index.model.symbols import Reading, ReadQuery
from cqm.index.ranking.question import Lines, Question, read_question
from cqm.index.search.named.defining import NameLookup, meant_name
from cqm.index.search.named.named_paths import has_usual_ending, is_symbol, plain_name
from cqm.index.search.named.tree_paths import tree_of
from cqm.index.search.symbols.fresh import FreshFile, FreshFiles
from cqm.index.search.symbols.lookup import definitions_named, near_names, preferred
from cqm.index.search.symbols.page import (
    Asked,
    below_comment,
    count_lines,
    heads_of,
    imports_of,
    page_of,
    range_of,
    ranges_of,
)
from cqm.index.search.usages.resolve import asked_name
from cqm.index.text.names.parameters import parameters_in
from cqm.index.text.names.parts import last_part
from cqm.index.text.places import path_in, places_in
from cqm.index.workers import Workers

_MOST_DEFINITIONS = 50
"""Definitions told of an ambiguous name; more are of a name such as "get"."""
_MOST_PLACES = 8
_MOST_TOKENS = 200_000
_LONGEST_NAME = 1000
"""Characters of a path or symbol: a longer text is neither."""
_RANGE_END = re.compile(r"-L?\d+\s*$")
_LINES_ALONE = re.compile(r"L?\d{1,8}(-L?\d{1,8})?")


class Reader(NamedTuple):
    """Reads the files of an index.

    Attributes:
        generation: knows the definitions.
        workers: read and parse files.
        files: of the index.
    """

    generation: Generation
    workers: Workers
    files: FreshFiles

    def read(self, query: ReadQuery) -> Reading:
        """Read a page of the place named by a query, or list the definitions it may mean.

        Raises:
            QueryError: nothing has the name, or the lines, the cursor or the tokens are out of range.
            NotIndexedError: the file is left out of the index; the message has the reason.
            VanishedFileError, UnreadableFileError: the file cannot be read.
        """
        what = query.what.strip()
        if not what or len(what) > _LONGEST_NAME:
            given = f"`what` has {len(what):,} characters" if what else "`what` is empty"
            raise QueryError(
                f"{given}: expected a symbol, `path:10-40` or `path`, of at most {_LONGEST_NAME:,} characters."
            )
        if not 1 <= query.tokens <= _MOST_TOKENS:
            raise QueryError(f"`tokens {query.tokens}`: expected 1 to {_MOST_TOKENS}.")
        if query.base and _LINES_ALONE.fullmatch(what):
            what = f"{query.base}:{what.replace('L', '')}"
        lookup = NameLookup(self.generation)
        path, lines = self._place(what, query.base, lookup)
        return self._lines(query, path, lines) if path else self._symbol(query, lookup)

    def _place(self, what: str, base: str, lookup: NameLookup) -> tuple[str, Lines | None]:
        """Return the path named by a question, empty for a symbol, and the lines if it names any."""
        if path := self._exact(what, base) or self._exact(plain_name(what), base):
            return path, None
        question = read_question(what)
        named = [question.lines] if question.lines else []
        for lines in (*named, *(Lines(*place[:3]) for place in places_in(what)[:_MOST_PLACES])):
            if path := self._exact(lines.path, base) or self._by_end(lines.path):
                return path, lines if lines.first or question.lines else None
        asked = named[0].path if named else path_in(what)
        if not asked:
            return "", None
        if path := self._exact(asked, base) or self._by_end(asked):
            return path, None
        if not named and self._is_symbol(lookup, question, asked):
            return "", None
        raise self._missing(asked)

    def _is_symbol(self, lookup: NameLookup, question: Question, asked: str) -> bool:
        """Whether a path of no file is the name of a symbol."""
        if has_usual_ending(asked):
            return is_symbol(lookup, question, str(self.files.root))
        meant = meant_name(lookup, question)
        chunks = lookup.defining(meant) if meant else ()
        return any(last_part(name) == last_part(meant) for it in chunks for name in it.defines)

    def _exact(self, named: str, base: str) -> str:
        """Return the relative path of a file, looked for in the base first; empty if there is none."""
        root = self.files.root
        if root.is_file():
            return root.name if named in {root.name, str(root)} else ""
        for folder in dict.fromkeys((base, "")):
            try:
                # An absolute path stays as it is.
                path = relative_to_root(root, str(Path(folder) / named))
                if path and (path in self.generation.manifest.files([path]) or _is_there(root / path)):
                    return path
            except (ScanError, ValueError, OSError):
                continue
        return ""

    def _by_end(self, named: str) -> str:
        return tree_of(self.generation, str(self.files.root)).one(named)

    def _missing(self, named: str) -> NotIndexedError:
        """Return the error for a path outside of the index, with its reason."""
        try:
            listed_file(self.files.root, relative_to_root(self.files.root, named), self.files.scan)
        except NotIndexedError as error:
            reason = error
        except (ScanError, ValueError):
            return NotIndexedError(f"{named} is outside of {self.files.root}.")
        else:
            return NotIndexedError(f"{named} is not indexed yet.", retryable=True)
        paths = tree_of(self.generation).near(named)
        hint = f"Did you mean {', '.join(paths)}?" if paths else ""
        return NotIndexedError(reason.message, remedy=reason.remedy or hint)

    def _lines(self, query: ReadQuery, path: str, lines: Lines | None) -> Reading:
        found = listed_file(self.files.root, path, self.files.scan)
        fresh = self.files.read(self.workers, found, parses=lines is not None)
        total = count_lines(fresh.text)
        if lines is None:
            return self._reading(query, path, fresh, Asked(1, total))
        first, last = sorted((lines.first, lines.last))
        if not 1 <= first <= total:
            raise QueryError(
                f"`{path}:{first}`: the file has {total} lines, counted from 1.", remedy="Name some of them."
            )
        is_place = first == last and not _RANGE_END.search(query.what)
        asked = range_of(fresh, first, min(last, total), query.tokens if is_place else 0)
        return self._reading(query, path, fresh, asked)

    def _symbol(self, query: ReadQuery, lookup: NameLookup) -> Reading:
        question = read_question(query.what)
        name = asked_name(question, meant_name(lookup, question))
        found = definitions_named(lookup, name)
        best = preferred(found, name, query.base)
        if not best:
            if is_folder(self.files.root, query.what.strip()):
                raise self._missing(query.what.strip())
            near = [it.definition.symbol for it in found[:3]] or near_names(self.generation, name)
            hint = f"Did you mean {', '.join(dict.fromkeys(near))}?" if near else "Search for it in other words."
            raise UnknownNameError(f"No symbol of the index is called `{query.what}`.", remedy=hint)
        if len({(it.path, it.symbol) for it in best}) > 1:
            return Reading(query.what, definitions=tuple(best[:_MOST_DEFINITIONS]))
        path = best[0].path
        found_file = listed_file(self.files.root, path, self.files.scan)
        fresh = self.files.read(self.workers, found_file, parses=True)
        is_one = len(best) == 1 and bool(parameters_in(query.what))
        ranges = ranges_of(fresh, best[0].symbol, {it.kind for it in best}, are_apart=is_one)
        if is_one:
            ranges = [it for it in ranges if it.first <= (best[0].line or 0) <= it.last] or ranges
        if not ranges:
            raise QueryError(
                f"{path} changed and no longer defines `{best[0].symbol}`, or cannot be parsed now.",
                remedy="Read its lines, or ask again when it is indexed.",
                retryable=True,
            )
        if len(ranges) > 1:
            return Reading(query.what, definitions=tuple(best[:_MOST_DEFINITIONS]))
        asked, note = below_comment(fresh, ranges[0], query.tokens)
        reading = self._reading(query, path, fresh, asked, note)
        others = [it.definition for it in found if it.definition not in best]
        return replace(reading, definitions=tuple(others[:_MOST_DEFINITIONS]))

    def _reading(self, query: ReadQuery, path: str, fresh: FreshFile, asked: Asked, note: str = "") -> Reading:
        page = page_of(fresh, asked, query)
        row = self.generation.manifest.files([path]).get(path)
        is_as_indexed = row is not None and row.hash == fresh.hash
        changed = "" if is_as_indexed else "The file changed after it was indexed; these are its lines now."
        symbol = asked.symbol
        return Reading(
            query.what,
            path,
            fresh.language,
            symbol.name if symbol else "",
            symbol.kind if symbol else "",
            symbol.line if symbol else None,
            asked.first,
            asked.last,
            page.start,
            page.end,
            page.column,
            count_lines(fresh.text),
            page.text,
            heads_of(fresh, asked),
            () if query.cursor else imports_of(fresh, asked),
            sum(it.count for it in fresh.secrets if page.start <= it.line <= page.end),
            tuple(filter(None, (note, page.note, changed))),
            page.next_cursor,
            hash=fresh.hash,
        )


def _is_there(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and not path.is_dir())
