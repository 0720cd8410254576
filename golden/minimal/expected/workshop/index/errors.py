"""Errors of a server, each with a hint that says what to do about it."""

REBUILD_HINT = "build the index again, or restore the folder from a trusted copy"


class ServerError(Exception):
    """A failure that the server's owner can understand and mend.

    The message may name files and machines; `reason` is what clients are told instead.
    """

    http_status = 503
    reason = "The index cannot be used now."
    hint: str | None = None

    def __init__(self, message: str, *, hint: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.hint
        self.reason = reason or self.reason


class IndexUnusableError(ServerError):
    """The index cannot be served; nothing was changed on disk."""

    hint = REBUILD_HINT


class ConfigurationError(ServerError):
    """A setting has a value that cannot be used."""


class InvalidRequestError(ServerError):
    """A request cannot be answered as asked; `field` is the part of it to mend."""

    def __init__(self, message: str, *, field: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field
