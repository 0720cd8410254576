"""Refuses tokens for a server that asks nobody for one."""

from ..errors import ConfigurationError
from ..retrieval.settings import read_variable


def refuse_tokens() -> None:
    """Raise ConfigurationError if API_TOKENS is set.

    Ignored, they would make their owner believe that the server asks for them.
    """
    if read_variable("API_TOKENS") is not None:
        hint = 'unset it, or export the server with "callers = true" in [server]'
        raise ConfigurationError("API_TOKENS is set, and this server asks for no tokens", hint=hint)
