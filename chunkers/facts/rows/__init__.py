"""List each language's syntax for facts; to add a language, add its row to a file of its family."""

from collections.abc import Mapping
from types import MappingProxyType

from cqm.chunkers.facts.rows.comments import written
from cqm.chunkers.facts.rows.csharp import CSHARP
from cqm.chunkers.facts.rows.ecmascript import JAVASCRIPT, TYPESCRIPT
from cqm.chunkers.facts.rows.go import GO
from cqm.chunkers.facts.rows.java import JAVA
from cqm.chunkers.facts.rows.kotlin import KOTLIN
from cqm.chunkers.facts.rows.model import Syntax
from cqm.chunkers.facts.rows.native import CPP, C
from cqm.chunkers.facts.rows.php import PHP
from cqm.chunkers.facts.rows.python import PYTHON
from cqm.chunkers.facts.rows.ruby import RUBY
from cqm.chunkers.facts.rows.rust import RUST

__all__ = ["GENERAL", "SYNTAXES", "comments", "model", "uses"]

GENERAL = Syntax()
"""For languages without a row: only names, kinds, lines, signatures and marked doc comments."""

# Documentation looks like any other comment here.
_UNMARKED = Syntax(comments=written)

_CLAUSES = Syntax(joined=True)

SYNTAXES: Mapping[str, Syntax] = MappingProxyType(
    {
        "python": PYTHON,
        "javascript": JAVASCRIPT,
        "typescript": TYPESCRIPT,
        "tsx": TYPESCRIPT,
        "java": JAVA,
        "kotlin": KOTLIN,
        "csharp": CSHARP,
        "go": GO,
        "rust": RUST,
        "c": C,
        "cpp": CPP,
        "php": PHP,
        "ruby": RUBY,
        **dict.fromkeys(("haskell", "elixir"), _CLAUSES),
        **dict.fromkeys(("bash", "lua", "powershell", "sql"), _UNMARKED),
    }
)
