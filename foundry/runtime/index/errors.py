"""Errors of a server, each with a hint that says what to do about it.

ServerError
├── IndexUnusableError      the index is missing, damaged, or of another format version
├── ConfigurationError      settings.json or an environment variable has an impossible value
├── HookError               a hook in custom.py returned what no search can answer with
└── InvalidRequestError     a request cannot be answered as asked; names the field
"""

REBUILD_HINT = "build the index again, or restore the folder from a trusted copy"


class ServerError(Exception):
    """A failure that the server's owner can understand and mend."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class IndexUnusableError(ServerError):
    """The index cannot be served; nothing was changed on disk."""

    def __init__(self, message: str, *, hint: str | None = REBUILD_HINT) -> None:
        super().__init__(message, hint=hint)


class ConfigurationError(ServerError):
    """A setting has a value that cannot be used."""


class HookError(ServerError):
    """The owner's own code returned something impossible; the message names the hook."""


class InvalidRequestError(ServerError):
    """A request cannot be answered as asked; `field` is the part of it to mend."""

    def __init__(self, message: str, *, field: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field
