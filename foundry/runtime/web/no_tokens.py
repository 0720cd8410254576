"""Refuses API_TOKENS in a server that checks none."""

from ..errors import ConfigurationError
from ..retrieval.settings import read_variable


def refuse_tokens() -> None:
    """Raise ConfigurationError if API_TOKENS is set.

    If it were ignored, the owner would believe that the server checks tokens.
    """
    if read_variable("API_TOKENS") is not None:
        hint = 'unset it, or export the server with "callers = true" in [server]'
        raise ConfigurationError("API_TOKENS is set, and this server asks for no tokens", hint=hint)
