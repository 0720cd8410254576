"""What can go wrong: errors that owners can mend, and what clients are told of them."""


class ServerError(Exception):
    """A failure that the server's owner can understand and mend.

    The message may name files and machines; `reason` is what clients are told instead.
    """

    reason = "The index cannot be used now."
    hint: str | None = None

    def __init__(self, message: str, *, hint: str | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.hint
        self.reason = reason or self.reason


class IndexUnusableError(ServerError):
    """The index cannot be served; nothing was changed on disk."""

    hint = "build the index again, or restore the folder from a trusted copy"


class ConfigurationError(ServerError):
    """A setting has a value that cannot be used."""


class InvalidRequestError(ServerError):
    """A request cannot be answered as asked; `field` is the part of it to mend."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


def cause_of(error: Exception) -> str:
    """Return the kind of an error and its message; its repr may hold everything that was read."""
    return f"{type(error).__name__}: {error}"
