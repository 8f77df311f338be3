"""Cut files that hold several languages: components, templates, pages with scripts, and programs inside other files."""

__all__ = ["cells", "components", "configuration", "page_scripts", "strings", "templates"]
