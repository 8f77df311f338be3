"""`cqm report`: measure a tree, and print the result as text, JSON or a page."""

from pathlib import Path

from cqm.index.disk.durable import is_replaceable
from cqm.server.cli.progress import progress_shown
from cqm.server.config.settings import Settings
from cqm.server.console import emit, show
from cqm.server.report.html import report_page
from cqm.server.report.report import quality_report
from cqm.server.report.text import report_lines


def report(root: Path, settings: Settings, *, page: Path | None, as_json: bool) -> int:
    """Measure how a tree is chunked, and report it; 1 when a gate finds an error or a file fails.

    Parameters:
        settings: in force for it.
        page: file for the report as HTML; None for no page.
    """
    options = settings.index_options(root)
    with progress_shown() as progress:
        found = quality_report(root, options, report=progress)
    if page:
        _write_page(page, report_page(found).encode("utf-8", "backslashreplace"))
    if as_json:
        emit(found)
    else:
        show(report_lines(found))
    return 1 if found.has_errors else 0


def _write_page(page: Path, content: bytes) -> None:
    """Replace an earlier page once the new one is complete: a full disk leaves the earlier one."""
    if not is_replaceable(page):
        page.write_bytes(content)
        return
    new = page.with_name(f".{page.name}.new")
    new.unlink(missing_ok=True)
    try:
        # A new name, to follow no link in a stranger's folder.
        with new.open("xb") as file:
            file.write(content)
        new.replace(page)
    except OSError:
        new.unlink(missing_ok=True)
        raise
