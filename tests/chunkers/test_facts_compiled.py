"""The facts of symbols of Java, Kotlin, C#, Go, Rust, C and C++."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document, Parameter, SymbolFacts

pytestmark = pytest.mark.row("C2")


def facts(text: str, language: str) -> dict[str, SymbolFacts]:
    """The facts of a text's symbols by their qualified names."""
    report = chunk(Document("fixture", text, language), ChunkOptions(details=True))
    return {symbol.name: symbol for piece in report.chunks for symbol in piece.symbols}


JAVA = """\
package org.shop;

import java.util.List;
import static java.lang.Math.max;
import org.other.*;

/**
 * A cart.
 *
 * @param <T> of items
 */
@Entity(name = "cart")
public class Cart<T> {
    private int size, limit = 3;

    Cart(List<T> items) { this.items = items; }

    @Override
    protected <R> List<R> add(final T item, int... counts) throws Full {
        for (int count : counts) { if (count > 1 && size < max(1, 2)) { items.get(0).add(item); } }
        switch (size) { case 1: case 2: break; default: }
        return new Box<>(size).list();
    }

    interface Seen { void look(); }
    enum Side { LEFT, RIGHT; Side() {} }
    public record Page(int number, String title) {}
}
"""


def test_java() -> None:
    found = facts(JAVA, "java")
    cart = found["Cart"]
    assert (cart.doc, cart.decorators) == ("A cart.\n\n@param <T> of items", ('@Entity(name = "cart")',))
    assert (cart.signature, cart.visibility, cart.exported) == ("public class Cart<T>", "public", True)
    assert (cart.fields, cart.methods) == (("size", "limit"), ("Cart", "add"))
    assert (found["Cart.Cart"].visibility, found["Cart.Cart"].kind) == ("package", "constructor")
    add = found["Cart.add"]
    assert add.parameters == (Parameter("item", "T"), Parameter("counts", "int..."))
    assert (add.returns, add.visibility, add.decorators) == ("List<R>", "protected", ("@Override",))
    assert add.complexity == 1 + 3 + 2
    assert add.calls == ("max", "add", "items.get", "list", "Box")
    assert add.imports_used == ("List", "max")
    look = found["Cart.Seen.look"]
    assert (look.visibility, look.exported, look.complexity) == ("public", False, 0)
    assert (found["Cart.Side"].fields, found["Cart.Side.Side"].visibility) == (("LEFT", "RIGHT"), "private")
    assert found["Cart.Page"].fields == ("number", "title")


KOTLIN = """\
package org.shop

import org.base.Node as Base
import org.base.plain

/** Routes calls. */
@Dsl
internal open class Router(private val parent: Router?, name: String = "x") : Base() {
    private val routes = plain<Int>()
    val size: Int get() = if (routes.a && parent == null) 1 else 2

    suspend fun route(path: String, vararg parts: Int, build: () -> Unit = {}): Router? = when (path) {
        "a", "b" -> add(path).also { build() }
        else -> null ?: parent
    }
}
"""


def test_kotlin() -> None:
    found = facts(KOTLIN, "kotlin")
    router = found["Router"]
    assert router.parameters == (Parameter("parent", "Router?"), Parameter("name", "String", '"x"'))
    assert (router.doc, router.decorators, router.visibility) == ("Routes calls.", ("@Dsl",), "internal")
    assert (router.fields, router.methods) == (("parent", "routes", "size"), ("route",))
    assert router.imports_used == ("Base",)
    assert (found["Router.routes"].visibility, found["Router.routes"].calls) == ("private", ("plain",))
    assert found["Router.size"].complexity == 3
    route = found["Router.route"]
    assert route.parameters == (
        Parameter("path", "String"),
        Parameter("parts", "Int"),
        Parameter("build", "() -> Unit", "{}"),
    )
    assert (route.returns, route.complexity, route.calls) == ("Router?", 3, ("also", "add", "build"))


CSHARP = """\
using Json = System.Text.Json;

namespace Shop.Orders;

/// <summary>An order of <see cref="T:Shop.Item"/>.</summary>
/// <param name="id">Its number.</param>
[Serializable]
public sealed class Order<T> : IOrder
{
    private int a, b;

    public int Total => a > 0 || b > 0 ? a ?? b : 0;

    [Obsolete("x")]
    protected internal async Task<bool> PayAsync(decimal amount, string? note = null, params int[] parts)
    {
        foreach (var part in parts) { Json.Parse<int>(part); }
        try { await this.bank.Pay(amount); } catch (Refused e) { }
        return amount switch { 1 => true, _ => new Other(3).Done };
    }
}

record Customer(string Name);
"""


def test_csharp() -> None:
    found = facts(CSHARP, "csharp")
    order = found["Order"]
    assert (order.doc, order.decorators) == ("An order of Shop.Item.\nid: Its number.", ("[Serializable]",))
    assert (order.fields, order.methods) == (("a", "b", "Total"), ("PayAsync",))
    assert (found["Order.a"].visibility, found["Order.Total"].complexity) == ("private", 4)
    pay = found["Order.PayAsync"]
    assert pay.parameters == (
        Parameter("amount", "decimal"),
        Parameter("note", "string?", "null"),
        Parameter("parts", "params int[]"),
    )
    assert (pay.returns, pay.visibility, pay.exported) == ("Task<bool>", "protected internal", True)
    assert (pay.complexity, pay.calls) == (4, ("Json.Parse", "this.bank.Pay", "Other"))
    assert pay.imports_used == ("Json",)
    assert (found["Customer"].visibility, found["Customer"].fields) == ("internal", ("Name",))


GO = """\
package shop

import (
	"context"
	yaml "gopkg.in/yaml.v3"
	"example.com/chi/v5"
)

// Cart holds items.
//
//go:generate stringer
type Cart[T any] struct {
	Items, Old []T
	*Base
}

type reader interface {
	Read(p []byte) (int, error)
}

// Add adds.
func (c *Cart[T]) Add(ctx context.Context, a, b int, rest ...string) (n int, err error) {
	for range rest {
		if a > b || b > 1 {
			chi.Run(func() { c.Base.Close() })
		}
	}
	switch a {
	case 1:
		return yaml.Marshal(context)
	default:
	}
	return
}

func hidden() {}
"""


def test_go() -> None:
    found = facts(GO, "go")
    cart = found["Cart"]
    assert (cart.doc, cart.fields, cart.methods) == ("Cart holds items.", ("Items", "Old", "Base"), ("Add",))
    assert (found["reader"].methods, found["reader"].exported) == (("Read",), False)
    add = found["Cart.Add"]
    assert add.parameters == (
        Parameter("ctx", "context.Context"),
        Parameter("a", "int"),
        Parameter("b", "int"),
        Parameter("rest", "...string"),
    )
    assert (add.returns, add.doc, add.complexity) == ("(n int, err error)", "Add adds.", 5)
    assert add.calls == ("chi.Run", "c.Base.Close", "yaml.Marshal")
    assert add.imports_used == ("context", "chi", "yaml")
    assert (add.exported, found["hidden"].visibility) == (True, "package")


RUST = """\
use std::{fmt::{self, Display}, sync::Arc as Shared};

/// A queue.
///
/// Of items.
#[derive(Debug)]
pub struct Queue<T> { items: Vec<T>, pub(crate) lock: Shared<T> }

pub(crate) enum Error { Full, Closed(u8) }

impl<T> Queue<T> {
    #[inline]
    pub async fn push(&mut self, (a, b): (T, u8), c: &'static str) -> Result<(), Error> {
        if let Some(x) = a && b > 1 { self.items.push::<T>(x)?; }
        match b { 1 | 2 => Shared::new(a), _ => println!("{}", c) }
    }
    fn own(self) {}
}

impl<T> Display for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { todo!() }
}
"""


def test_rust() -> None:
    found = facts(RUST, "rust")
    push = found["Queue.push"]
    assert push.parameters == (Parameter("(a, b)", "(T, u8)"), Parameter("c", "&'static str"))
    assert (push.returns, push.decorators, push.visibility) == ("Result<(), Error>", ("#[inline]",), "public")
    assert (push.complexity, push.calls) == (5, ("self.items.push", "Shared::new", "println!"))
    assert push.imports_used == ("Shared",)
    assert (found["Error"].visibility, found["Error"].fields) == ("internal", ("Full", "Closed"))
    assert (found["Queue.own"].visibility, found["Queue.fmt"].visibility) == ("private", "public")


def test_rust_tells_a_type_and_its_blocks_of_methods_apart() -> None:
    report = chunk(Document("fixture", RUST, "rust"), ChunkOptions(details=True))
    struct, inherent, display = [
        symbol for piece in report.chunks for symbol in piece.symbols if symbol.name == "Queue"
    ]
    assert (struct.doc, struct.decorators) == ("A queue.\n\nOf items.", ("#[derive(Debug)]",))
    assert (struct.fields, struct.methods) == (("items", "lock"), ("push", "own", "fmt"))
    assert [inherent.methods, display.methods] == [("push", "own"), ("fmt",)]


CPP = """\
#include <vector>
using std::vector;

// A shape.
class [[nodiscard]] Shape : public Base {
  int a_, *b_;

 public:
  Shape(int a, const vector<int>& b = {}, ...) : a_(a) {}
  virtual auto area(int (*scale)(int)) const -> double;

 protected:
  void grow();
};

double Shape::area(int (*scale)(int)) const {
  for (auto& x : b_) if (x && a_ or x > 1) std::move<int>(x).run(scale(1));
  return a_ ? 1 : new Other(2)->value();
}

static const char* name(unsigned n[3]) { return 0; }
"""


def test_cpp() -> None:
    report = chunk(Document("fixture", CPP, "cpp"), ChunkOptions(details=True))
    symbols = [symbol for piece in report.chunks for symbol in piece.symbols]
    declared, area = [symbol for symbol in symbols if symbol.name == "Shape.area"]
    found = {symbol.name: symbol for symbol in symbols}
    shape = found["Shape"]
    assert (shape.doc, shape.decorators) == ("A shape.", ("[[nodiscard]]",))
    assert shape.fields == ("a_", "b_")
    assert found["Shape.a_"].visibility == "private"
    assert found["Shape.grow"].visibility == "protected"
    assert found["Shape.Shape"].parameters == (
        Parameter("a", "int"),
        Parameter("b", "const vector<int>&", "{}"),
        Parameter("..."),
    )
    assert found["Shape.Shape"].imports_used == ("vector",)
    assert area.parameters == declared.parameters == (Parameter("scale", "int (*)(int)"),)
    assert [declared.returns, area.returns, declared.complexity] == ["double", "double", 0]
    assert (area.visibility, area.complexity) == ("public", 6)
    assert area.calls == ("run", "std::move", "scale", "value", "Other")
    name = found["name"]
    assert (name.visibility, name.returns) == ("private", "const char *")


def test_c() -> None:
    text = "/* Adds.\n * Twice. */\nstruct node *add(struct node *n, int (*f)(void), ...)\n{\n"
    text += "  while (n && f()) n = next(n->link);\n  switch (n->a) { case 1: break; default: ; }\n  return n;\n}\n"
    found = facts("struct node { int a, *b; };\nenum color { RED, GREEN = 2 };\n" + text, "c")
    add = found["add"]
    assert add.parameters == (Parameter("n", "struct node *"), Parameter("f", "int (*)(void)"), Parameter("..."))
    assert (add.returns, add.doc, add.exported) == ("struct node *", "Adds.\nTwice.", True)
    assert (add.complexity, add.calls) == (4, ("f", "next"))
    assert (found["node"].fields, found["color"].fields) == (("a", "b"), ("RED", "GREEN"))
