"""Errors that the owner of a server can fix, and the reasons that clients see."""


class ServerError(Exception):
    """A failure that the owner of the server can understand and fix.

    The message may name files and machines; clients see `reason` instead.
    """

    reason = "The index is not available."
    hint: str | None = None

    def __init__(self, message: str, *, hint: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.hint
        self.reason = reason or self.reason


class IndexUnusableError(ServerError):
    """The index cannot be served; its files are left unchanged."""

    hint = "rebuild the index, or restore the folder from a trusted copy"


class ConfigurationError(ServerError):
    """A setting has an unusable value."""


class InvalidRequestError(ServerError):
    """A request is invalid; `field` is the part to correct."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


def cause_of(error: Exception) -> str:
    """Return the type and the message of an error; its repr might quote the whole input."""
    return f"{type(error).__name__}: {error}"
