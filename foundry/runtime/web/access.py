"""Decides which requests may enter: by Host, Origin and bearer token, and by a caller's rate.

Hosts are loopback names, the address that a connection came in on, and those that are listed. So a
web page that points its own name at this machine (DNS rebinding) is refused.
"""

import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..retrieval.settings import HOST, HOSTS_HINT, ConfigurationError

MAX_HEADERS = 100
MIN_TOKEN_LENGTH = 32
"""Characters of a token: 128 random bits even as hexadecimal digits."""

MAX_CALLERS = 10_000
"""Callers whose rates are remembered; the one that has not asked for longest is forgotten first."""

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Health checks need no token."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Hosts, each `name` or `name:port`, and the SHA-256 of each token; with none, all may enter.

    A request for which `is_open` is true needs no token.
    """

    allowed_hosts: frozenset[str]
    token_digests: tuple[bytes, ...]
    is_open: Callable[[Scope], bool] = lambda _scope: False

    @classmethod
    def from_environment(
        cls, allowed_hosts: Iterable[str], is_open: Callable[[Scope], bool] = lambda _scope: False
    ) -> "AccessPolicy":
        """Read ALLOWED_HOSTS, which adds to `allowed_hosts`, and API_TOKENS: comma separated.

        Raises ConfigurationError for an impossible host and for a token that is too short.
        """
        hosts = frozenset(host.lower() for host in (*allowed_hosts, *_listed("ALLOWED_HOSTS")))
        if wrong := [host for host in hosts if not HOST.fullmatch(host)]:
            problem = f"ALLOWED_HOSTS: {wrong[0]!r} is not a host name"
            raise ConfigurationError(problem, hint=HOSTS_HINT)
        tokens = _listed("API_TOKENS")
        if any(len(token) < MIN_TOKEN_LENGTH for token in tokens):
            problem = f"API_TOKENS: a token has fewer than {MIN_TOKEN_LENGTH} characters"
            hint = 'make one: python -c "import secrets; print(secrets.token_urlsafe(32))"'
            raise ConfigurationError(problem, hint=hint)
        return cls(hosts, tuple(sha256(token.encode()).digest() for token in tokens), is_open)

    def check(self, scope: Scope) -> None:
        """Raise HTTPException, 400, 401, 403, 421 or 431, unless the request may enter."""
        if len(scope["headers"]) > MAX_HEADERS:
            raise HTTPException(431, f"A request may have {MAX_HEADERS} header fields.")
        hosts = _values(scope, b"host")
        if len(hosts) != 1:
            raise HTTPException(400, "A request needs exactly one Host header.")
        host = hosts[0].decode("latin-1").lower()
        parts = HOST.fullmatch(host)
        if parts is None or not self._is_own(parts, scope.get("server")):
            named = parts["name"] if parts else "the host name"
            detail = f"its owner can allow it by adding {named} to ALLOWED_HOSTS in the environment"
            raise HTTPException(421, f"This server does not answer for this Host; {detail}.")
        for origin in _values(scope, b"origin"):
            scheme, _, sender = origin.decode("latin-1").lower().partition("://")
            if scheme not in {"http", "https"} or sender not in {host, *self.allowed_hosts}:
                raise HTTPException(403, "Pages of this Origin may not use this server.")
        if self.token_digests and not (scope["path"] in OPEN_PATHS or self.is_open(scope)):
            digest = token_digest(scope)
            # Digests have one length, and a wrong token is compared with every one of them.
            if not any(compare_digest(digest, known) for known in self.token_digests):
                detail = "Send a valid token: Authorization: Bearer <token>."
                raise HTTPException(401, detail, {"WWW-Authenticate": "Bearer"})

    def caller(self, scope: Scope) -> bytes:
        """Return what identifies the caller of a request that has passed `check`."""
        if self.token_digests and _values(scope, b"authorization"):
            return token_digest(scope)
        client = scope.get("client")
        return str(client[0]).encode() if client else b""

    def _is_own(self, host: re.Match[str], server: tuple[str, int] | None) -> bool:
        is_address = server is not None and host["name"].strip("[]") == server[0]
        return is_address or not {host[0], host["name"]}.isdisjoint(LOOPBACK | self.allowed_hosts)


class RateLimit:
    """A token bucket of `per_minute` requests for each caller; `clock` counts seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = float(per_minute)
        self._clock = clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: bytes) -> float:
        """Take one request from the caller's bucket; return the seconds to wait if it is empty."""
        now = self._clock()
        left, since = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - since) * self._capacity / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._capacity
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait


def token_digest(scope: Scope) -> bytes:
    """Return the SHA-256 of the bearer token, or of no bytes unless there is exactly one."""
    values = _values(scope, b"authorization")
    scheme, _, token = (values[0] if len(values) == 1 else b"").partition(b" ")
    return sha256(token.strip() if scheme.lower() == b"bearer" else b"").digest()


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for field, value in scope["headers"] if field == name]


def _listed(variable: str) -> list[str]:
    return [value for part in os.environ.get(variable, "").split(",") if (value := part.strip())]
