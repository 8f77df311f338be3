"""Disposable processes for parsing a stranger's files: bounded, confined, forked from a warm one."""

from cqm.index.workers.forking import kept_warm
from cqm.index.workers.pool import Job, Workers

__all__ = ["Job", "Workers", "forking", "kept_warm", "limits", "worker"]
