"""Load grammars on first use: from a wheel each, from the bundle of many, or from the pack of an extra."""

import functools
import importlib
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.chunkers.grammars.bundle import BUNDLE, PACK, capsule_of, load, load_from_pack, waiting_in_bundle

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

__all__ = ["BUNDLE", "PACK", "MissingGrammarError", "bundle", "grammar", "waiting_in_bundle"]


class MissingGrammarError(CqmError):
    """The grammar of a language is not installed, or cannot be loaded."""


@functools.cache
def grammar(module: str, function: str) -> "Grammar":
    """Return the tree-sitter language of a grammar.

    Parameters:
        module: of the grammar's wheel, such as "tree_sitter_python", or `BUNDLE` or `PACK`.
        function: the module's function for this language, or the grammar's name in the bundle or pack.

    Raises:
        MissingGrammarError: it is not installed, or cannot be loaded.
    """
    from tree_sitter import Language

    try:
        pointer = _pointer(module, function)
        return Language(capsule_of(pointer) if isinstance(pointer, int) else pointer)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise MissingGrammarError(
            f"the grammar {function if module in (BUNDLE, PACK) else module} cannot be loaded: {error}"
        ) from error


def _pointer(module: str, function: str) -> object:
    if module == BUNDLE:
        return load(function)
    return load_from_pack(function) if module == PACK else getattr(importlib.import_module(module), function)()
