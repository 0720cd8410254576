"""Errors that the owner of a server can fix, and what clients are told about them."""


class ServerError(Exception):
    """A failure that the owner of the server can understand and fix.

    The message may name files and machines; clients are told `reason` instead.
    """

    reason = "The index cannot be used now."
    hint: str | None = None

    def __init__(self, message: str, *, hint: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.hint
        self.reason = reason or self.reason


class IndexUnusableError(ServerError):
    """The index cannot be served; files are left as they are."""

    hint = "build the index again, or restore the folder from a trusted copy"


class ConfigurationError(ServerError):
    """A setting has a value that cannot be used."""


class InvalidRequestError(ServerError):
    """A request is invalid; `field` is the part of it to correct."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


def cause_of(error: Exception) -> str:
    """Return the type and the message of an error; its repr may contain all that was read."""
    return f"{type(error).__name__}: {error}"
