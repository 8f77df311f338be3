"""Hook of mkdocs: put the documents at the root of the repository on the site, and turn links to and from them."""

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def on_files(files: Files, *, config: Any) -> Files:  # noqa: ANN401 - mkdocs's own types are untyped
    """Add the pages of the root."""
    for name in PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:  # noqa: ANN401 - as above
    """Turn links for the place that a page has on the site."""
    if page.file.src_uri in PAGES:
        return markdown.replace("](docs/", "](")
    for name in PAGES:
        markdown = markdown.replace(f"](../{name}", f"]({name}").replace(f"](../../{name}", f"](../{name}")
    return markdown
