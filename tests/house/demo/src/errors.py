"""Errors that callers see."""


class ServiceError(Exception):
    """The service did not answer."""
