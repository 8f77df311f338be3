"""Cut files of several languages: components, templates, pages with scripts, Objective-C++, programs in data."""

__all__ = ["cells", "components", "configuration", "mixed", "page_scripts", "strings", "templates"]
