"""The facts of symbols of Python, JavaScript, TypeScript, PHP and Ruby."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document, Parameter, SymbolFacts

pytestmark = pytest.mark.row("C2")


def facts(text: str, language: str) -> dict[str, SymbolFacts]:
    """The facts of a text's symbols by their qualified names."""
    report = chunk(Document("fixture", text, language), ChunkOptions(details=True))
    return {symbol.name: symbol for piece in report.chunks for symbol in piece.symbols}


PYTHON = '''\
import json
import os.path as paths
from typing import Any, Protocol as Shape

LIMIT = 3


class Store(Shape):
    """Keeps values.

        Indented more.
    Not so.
    """

    size: int = 0

    def __init__(self, name: str, *, deep=False) -> None:
        self.name = name
        self._open = [json.loads(x) for x in name if x]

    # Not documentation.
    @property
    def path(self) -> Any:
        def part(json):
            return json or None

        return paths.join(self.name, part(1)).strip()

    async def _load(self, *args: int, **options) -> "list[int]":
        for arg in args:
            if arg and deep:
                break
        else:
            raise ValueError
        return [arg if arg else 0 for arg in args]
'''


def test_python() -> None:
    found = facts(PYTHON, "python")
    assert list(found) == [
        *["LIMIT", "Store", "Store.size", "Store.__init__", "Store.path", "Store.path.part", "Store._load"]
    ]
    store = found["Store"]
    assert (store.doc, store.start_line, store.end_line) == ("Keeps values.\n\n    Indented more.\nNot so.", 8, 35)
    assert (store.fields, store.methods) == (("size", "name", "_open"), ("__init__", "path", "_load"))
    assert (store.complexity, store.imports_used, store.signature) == (0, ("Shape",), "class Store(Shape):")
    init = found["Store.__init__"]
    assert init.parameters == (Parameter("name", "str"), Parameter("deep", "", "False"))
    assert (init.kind, init.returns, init.complexity, init.calls) == ("constructor", "None", 3, ("json.loads",))
    path = found["Store.path"]
    assert (path.start_line, path.decorators, path.doc, path.complexity) == (21, ("@property",), "", 1)
    assert path.calls == ("strip", "paths.join", "part")
    assert path.imports_used == ("Any", "paths")
    part = found["Store.path.part"]
    assert (part.visibility, part.exported, part.imports_used, part.complexity) == ("local", False, (), 2)
    load = found["Store._load"]
    assert load.parameters == (Parameter("*args", "int"), Parameter("**options"))
    assert (load.visibility, load.exported, load.returns) == ("private", False, '"list[int]"')
    assert load.complexity == 1 + 2 + 2 + 2  # the loop and its else, "if" and "and", the comprehension and its "if"


def test_python_exports_what_all_names() -> None:
    found = facts('__all__ = ["shown"]\n\ndef shown(): pass\n\ndef hidden(): pass\n', "python")
    assert [found[name].exported for name in ("shown", "hidden")] == [True, False]


JAVASCRIPT = """\
import base, { helper as help } from './base.js'
const { join, sep: separator } = require('path')

/**
 * Adds.
 * @param {number} a
 */
export function add (a, b = 1, ...rest) {
  for (const item of rest) a += item || help(a)?.total()
  return a > b ? join(a) : new base.Total(b)
}

const hide = (x) => { try { x() } catch { return separator } }

class Cart extends base.Cart {
  #items = []
  static limit = 3
  add (item) { this.count = 1; switch (item) { case 1: case 2: return this.#items.push(item); default: } }
}

export { Cart }
module.exports = { hide }
"""


def test_javascript() -> None:
    found = facts(JAVASCRIPT, "javascript")
    add = found["add"]
    assert (add.doc, add.start_line, add.end_line) == ("Adds.\n@param {number} a", 4, 11)
    assert add.signature == "export function add (a, b = 1, ...rest)"
    assert add.parameters == (Parameter("a"), Parameter("b", "", "1"), Parameter("...rest"))
    assert (add.complexity, add.calls) == (4, ("total", "help", "join", "base.Total"))
    assert add.imports_used == ("help", "join", "base")
    hide = found["hide"]
    assert (hide.kind, hide.complexity, hide.calls, hide.imports_used) == ("function", 2, ("x",), ("separator",))
    cart = found["Cart"]
    assert (cart.fields, cart.methods, cart.exported) == (("#items", "limit", "count"), ("add",), True)
    assert (found["Cart.#items"].visibility, found["Cart.#items"].exported) == ("private", False)
    assert (found["Cart.add"].complexity, found["Cart.add"].exported, hide.exported) == (3, True, True)


TYPESCRIPT = """\
import type { Options } from './options'
import * as path from 'path'

@Component({ selector: 'x' })
export abstract class Service<T> implements Named {
  constructor(private readonly name: string, size?: number) {}

  /** Loads. */
  @Cached()
  protected async load<K>(this: Service<T>, key: K, { deep }: Options = {}): Promise<T | undefined> {
    return (await path.open(key)) ?? undefined
  }
}

enum Color { Red = 'red', Green }

function over(a: string): string
function over(a: any): any { return a }

interface Named { readonly name: string; rename(to: string): void }
"""


def test_typescript() -> None:
    found = facts(TYPESCRIPT, "typescript")
    service = found["Service"]
    assert (service.decorators, service.exported) == (("@Component({ selector: 'x' })",), True)
    assert (service.fields, service.methods) == (("name",), ("constructor", "load"))
    assert found["Service.constructor"].parameters == (Parameter("name", "string"), Parameter("size?", "number"))
    load = found["Service.load"]
    assert load.parameters == (Parameter("key", "K"), Parameter("{ deep }", "Options", "{}"))
    assert (load.returns, load.visibility, load.doc) == ("Promise<T | undefined>", "protected", "Loads.")
    assert (load.decorators, load.complexity, load.calls) == (("@Cached()",), 2, ("path.open",))
    assert load.imports_used == ("Options", "path")
    assert found["Color"].fields == ("Red", "Green")
    named = found["Named"]
    assert (named.fields, named.methods, named.exported) == (("name",), ("rename",), False)
    assert (found["Named.rename"].complexity, found["Named.rename"].returns) == (0, "void")


def test_overloads_are_told_apart() -> None:
    report = chunk(Document("fixture", TYPESCRIPT, "typescript"), ChunkOptions(details=True))
    overloads = [symbol for piece in report.chunks for symbol in piece.symbols if symbol.name == "over"]
    assert [symbol.returns for symbol in overloads] == ["string", "any"]


def test_tsx_tells_what_a_component_uses() -> None:
    text = "import React from 'react'\nimport { Box } from './box'\n\n"
    text += "export const Panel: React.FC<Props> = ({ title }) => title && <Box>{title}</Box>\n"
    panel = facts(text, "tsx")["Panel"]
    assert (panel.parameters, panel.imports_used) == ((Parameter("{ title }"),), ("React", "Box"))
    assert (panel.complexity, panel.exported) == (2, True)


PHP = """\
<?php
namespace App\\Mail;

use Psr\\Log\\LoggerInterface as Logger;
use App\\Base;

/**
 * Sends mail.
 */
#[Service]
final class Mailer extends Base
{
    private ?string $from = null, $to;

    public function __construct(private Logger $logger, int ...$ids) {}

    #[Pure] protected static function send(string $to, ?int $n = 3): ?bool
    {
        foreach ($to as $x) { if ($x and $n) { $this->logger->info($x); } elseif (!$x) { parent::send(); } }
        return match ($n) { 1 => mail($to), default => new Base() };
    }
}
"""


def test_php() -> None:
    found = facts(PHP, "php")
    mailer = found["Mailer"]
    assert (mailer.doc, mailer.decorators, mailer.imports_used) == ("Sends mail.", ("#[Service]",), ("Base",))
    assert (mailer.fields, mailer.methods) == (("from", "to", "logger"), ("__construct", "send"))
    init = found["Mailer.__construct"]
    assert init.parameters == (Parameter("$logger", "Logger"), Parameter("...$ids", "int"))
    send = found["Mailer.send"]
    assert send.parameters == (Parameter("$to", "string"), Parameter("$n", "?int", "3"))
    assert (send.returns, send.visibility, send.decorators) == ("?bool", "protected", ("#[Pure]",))
    assert send.complexity == 1 + 5
    assert send.calls == ("$this->logger->info", "parent::send", "mail", "Base")
    assert found["Mailer.from"].visibility == "private"


RUBY = """\
require 'json'

# A bed.
class Bed < Base
  attr_reader :size

  # Grows
  # plants.
  def grow(a, b = 1, *rest, key:, other: 2, **options, &block)
    @count = a.map { |x| x.water! if x } unless b && key
    rescue_me rescue nil
  end

  def self.build = new(1)

  def shown; end
  private :shown

  private

  def weed?
    case size when 1, 2 then true when 3 then false end
  end

  protected def kin; end
end
"""


def test_ruby() -> None:
    found = facts(RUBY, "ruby")
    bed = found["Bed"]
    assert (bed.doc, bed.fields) == ("A bed.", ("size", "count"))
    assert bed.methods == ("grow", "build", "shown", "weed?", "kin")
    grow = found["Bed.grow"]
    assert [parameter.name for parameter in grow.parameters] == [
        *["a", "b", "*rest", "key:", "other:", "**options", "&block"]
    ]
    assert [parameter.default for parameter in grow.parameters] == ["", "1", "", "", "2", "", ""]
    assert (grow.doc, grow.complexity, grow.calls) == ("Grows\nplants.", 5, ("a.map", "x.water!"))
    names = ("grow", "build", "shown", "weed?", "kin")
    assert [found[f"Bed.{name}"].visibility for name in names] == [
        *["public", "public", "private", "private", "protected"]
    ]
    assert found["Bed.weed?"].complexity == 3
