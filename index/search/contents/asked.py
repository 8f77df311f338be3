"""Find the lines asked for by data in them."""

from cqm.index.generations.generation import Generation
from cqm.index.ranking.question import Question
from cqm.index.search.contents.build_steps import step_lines
from cqm.index.search.contents.columns import column_lines, is_of_column
from cqm.index.search.contents.constraints import constraint_in, constraint_lines
from cqm.index.search.contents.handlers import handler_lines
from cqm.index.search.contents.messages import made_lines, message_lines
from cqm.index.search.contents.resources import catalog_lines, resource_lines
from cqm.index.search.contents.rows import row_lines
from cqm.index.search.contents.statements import statement_lines
from cqm.index.search.contents.violations import violated_in, violation_lines
from cqm.index.text.reports.builds import instruction_in
from cqm.index.text.routes.services import method_in

__all__ = ["contents_lines", "is_of_column", "is_printed"]


def contents_lines(generation: Generation, question: Question) -> dict[str, int]:
    """Return the lines of a statement, a column, a text of resources or the format of a log, by id of their chunk.

    Parameters:
        question: any; one with places, a route or a name is asked for by these.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    if question.logged and (lines := message_lines(generation, question)):
        return lines
    if lines := catalog_lines(generation, question.text):
        return lines
    # The number behind SQLite's message, "users.email (2067)", looks like a line.
    if len(question.places) > 1 or (question.places and not violated_in(question.text)):
        return {}
    lines = _printed_lines(generation, question.text) or statement_lines(generation, question.text)
    lines = lines or column_lines(generation, question.text) or resource_lines(generation, question.text)
    if lines or question.route or question.symbol:
        return lines
    return row_lines(generation, question.text) or made_lines(generation, question.text)


def is_printed(text: str) -> bool:
    """Whether a text is what a database, a build or a service prints, of which only what makes it is an answer."""
    method = method_in(text)
    # An operation alone may be copied from a program.
    is_called = method is not None and (bool(method.service) or text.lstrip().startswith("{"))
    return is_called or bool(constraint_in(text) or violated_in(text)) or instruction_in(text) is not None


def _printed_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines behind what a database, a build or a service prints."""
    lines = constraint_lines(generation, text) or violation_lines(generation, text)
    return lines or step_lines(generation, text) or handler_lines(generation, text)
