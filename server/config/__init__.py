"""Options from `cqm.yml`, environment and command line; which of them a project may set."""

__all__ = ["followed", "project_root", "settings", "usual", "watch_options"]
