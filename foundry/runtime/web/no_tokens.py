"""Rejects API_TOKENS in a server that does not check tokens."""

from ..errors import ConfigurationError
from ..settings import read_variable


def refuse_tokens() -> None:
    """Raise ConfigurationError if API_TOKENS is set.

    If it were ignored, the owner would believe that the server checks tokens.
    """
    if read_variable("API_TOKENS") is not None:
        hint = 'unset it, or export the server with "callers = true" in [server]'
        problem = "API_TOKENS is set, but this server does not check tokens"
        raise ConfigurationError(problem, hint=hint)
