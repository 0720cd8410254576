"""Identifies callers by bearer token or address, and limits their request rates."""

import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest

from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..errors import ConfigurationError
from ..hosts import plain_host
from ..settings import Limits
from .middleware import Check, values_of

TOKENS_HINT = (
    "set API_TOKENS to one or more tokens, separated by commas;"
    ' python -c "import secrets; print(secrets.token_urlsafe(32))" makes one'
)

MIN_TOKEN_LENGTH = 32  # 128 random bits are 32 hexadecimal digits.
MAX_CALLERS = 10_000  # If there are more, the longest-idle caller is forgotten.


def read_tokens() -> tuple[bytes, ...]:
    """Return the SHA-256 of each token in API_TOKENS. Raises ConfigurationError."""
    parts = os.environ.get("API_TOKENS", "").split(",")
    tokens = [token for part in parts if (token := part.strip())]
    if any(len(token) < MIN_TOKEN_LENGTH for token in tokens):
        problem = f"API_TOKENS: a token has fewer than {MIN_TOKEN_LENGTH} characters"
        raise ConfigurationError(problem, hint=TOKENS_HINT)
    return tuple(sha256(token.encode()).digest() for token in tokens)


def token_digest(scope: Scope) -> bytes:
    """Return the SHA-256 of the bearer token; of b"" if there is none, or several headers."""
    values = values_of(scope, b"authorization")
    scheme, _, token = (values[0] if len(values) == 1 else b"").partition(b" ")
    return sha256(token.strip() if scheme.lower() == b"bearer" else b"").digest()


def token_check(
    is_open: Callable[[Scope], bool] = lambda _scope: False,  # Whether a request needs no token
) -> Check | None:
    """Return a check that raises HTTPException 401 without a valid token.

    Returns None if API_TOKENS is not set. Raises ConfigurationError.
    """
    known = read_tokens()

    def check(scope: Scope) -> None:
        if is_open(scope):
            return
        digest = token_digest(scope)
        # Digests have equal lengths, and a wrong token is compared with all of them, so the
        # duration reveals nothing.
        if not any(compare_digest(digest, other) for other in known):
            detail = "Send a valid token: Authorization: Bearer <token>."
            raise HTTPException(401, detail, {"WWW-Authenticate": "Bearer"})

    return check if known else None


def rate_checks(limits: Limits) -> Mapping[str, Check]:
    """Return checks, by kind of slot, that raise HTTPException 429 for callers above their rate.

    A caller is identified by a valid token, or else by address; behind a proxy, all callers without
    a token share the proxy's address. Searches and MCP calls count together.
    """
    has_tokens = bool(read_tokens())

    def check_of(limit: RateLimit) -> Check:
        def check(scope: Scope) -> None:
            client = scope.get("client")
            caller = plain_host(str(client[0])).encode() if client else b""
            if has_tokens and values_of(scope, b"authorization"):
                caller = token_digest(scope)
            if wait := math.ceil(limit.take(caller)):
                detail = f"Too many requests; try again in {wait} s."
                raise HTTPException(429, detail, {"Retry-After": str(wait)})

        return check

    checks = {}
    if limits.requests_per_minute:
        checks["search"] = checks["mcp"] = check_of(RateLimit(limits.requests_per_minute))
    if limits.chat_requests_per_minute:
        checks["chat"] = check_of(RateLimit(limits.chat_requests_per_minute))
    return checks


class RateLimit:
    """A token bucket of `per_minute` requests for each caller; `clock` returns seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> float:
        """Take a request from the caller's bucket; return 0, or the seconds until there is one."""
        now = self._clock()
        left, since = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - since) * self._capacity / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._capacity
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait
