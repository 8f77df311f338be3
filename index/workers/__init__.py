"""Disposable processes in which the files of a stranger are parsed: bounded, confined, forked from one that is warm."""

from cqm.index.workers.forking import kept_warm
from cqm.index.workers.pool import Job, Workers

__all__ = ["Job", "Workers", "forking", "kept_warm", "limits", "worker"]
