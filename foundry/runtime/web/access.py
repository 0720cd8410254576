"""Who may talk to the server: Host and Origin allow-lists, bearer tokens.

Loopback names and the literal address that a connection came in on are always hosts of this
server. No other name is unless it is listed, so a web page that points its own name at this
machine (DNS rebinding) is refused.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hmac import compare_digest

from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..index.errors import ConfigurationError
from ..retrieval.settings import HOST, HOSTS_HINT

MIN_TOKEN_LENGTH = 32
"""Characters of a token: 128 random bits even as hexadecimal digits."""

MAX_HEADERS = 100

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths that answer without a token, for load balancers and supervisors."""

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Which hosts the server answers for, and the SHA-256 of each token that opens it.

    A host is listed as `name` (any port) or `name:port`. Without tokens everybody may ask; with
    them, `is_open` says which requests beside those for OPEN_PATHS need none.
    """

    allowed_hosts: frozenset[str]
    token_digests: tuple[bytes, ...]
    is_open: Callable[[Scope], bool] | None = None

    @classmethod
    def from_environment(
        cls, allowed_hosts: Iterable[str], is_open: Callable[[Scope], bool] | None = None
    ) -> "AccessPolicy":
        """Read ALLOWED_HOSTS, in addition to `allowed_hosts`, and API_TOKENS: comma separated.

        Raises ConfigurationError for a host that is no host and for a token that is too short.
        """
        hosts = {host.lower() for host in (*allowed_hosts, *_listed("ALLOWED_HOSTS"))}
        for host in hosts:
            if not HOST.fullmatch(host):
                raise ConfigurationError(
                    f"ALLOWED_HOSTS: {host!r} is not a host name", hint=HOSTS_HINT
                )
        tokens = _listed("API_TOKENS")
        if any(len(token) < MIN_TOKEN_LENGTH for token in tokens):
            raise ConfigurationError(
                f"API_TOKENS: a token has fewer than {MIN_TOKEN_LENGTH} characters",
                hint='make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        digests = tuple(hashlib.sha256(token.encode()).digest() for token in tokens)
        return cls(frozenset(hosts), digests, is_open)

    def check(self, scope: Scope) -> None:
        """Raise HTTPException, 400, 401, 403, 421 or 431, unless the request may go on."""
        if len(scope["headers"]) > MAX_HEADERS:
            raise HTTPException(431, f"A request may have {MAX_HEADERS} header fields.")
        host = self._check_host(scope)
        for origin in _values(scope, b"origin"):
            scheme, _, sender = origin.decode("latin-1").lower().partition("://")
            if scheme not in {"http", "https"} or (
                sender != host and sender not in self.allowed_hosts
            ):
                raise HTTPException(403, "Pages of this Origin may not use this server.")
        if self.token_digests and not self._is_open(scope):
            self._check_token(scope)

    def _check_host(self, scope: Scope) -> str:
        values = _values(scope, b"host")
        if len(values) != 1:
            raise HTTPException(400, "A request needs exactly one Host header.")
        host = values[0].decode("latin-1").lower()
        authority = HOST.fullmatch(host)
        if authority:
            name, server = authority["name"], scope.get("server")
            own = LOOPBACK_NAMES | self.allowed_hosts
            if name in own or host in own or (server and name.strip("[]") == server[0]):
                return host
        named = authority["name"] if authority else "the host name"
        raise HTTPException(
            421,
            "This server does not answer for this Host. Its owner can allow it by adding"
            f" {named} to ALLOWED_HOSTS in the environment.",
        )

    def _is_open(self, scope: Scope) -> bool:
        return scope["path"] in OPEN_PATHS or (self.is_open is not None and self.is_open(scope))

    def _check_token(self, scope: Scope) -> None:
        values = _values(scope, b"authorization")
        scheme, _, token = (values[0] if len(values) == 1 else b"").partition(b" ")
        challenge = "Bearer"
        if scheme.lower() == b"bearer":
            # Digests have one length, and every one is compared: the time tells nothing.
            digest = hashlib.sha256(token.strip()).digest()
            matches = [compare_digest(digest, known) for known in self.token_digests]
            if any(matches):
                return
            challenge = 'Bearer error="invalid_token"'
        raise HTTPException(
            401,
            "Send a valid token: Authorization: Bearer <token>.",
            headers={"WWW-Authenticate": challenge},
        )

    def caller(self, scope: Scope) -> bytes:
        """Tell callers whose requests were checked apart: by token, else by address."""
        if self.token_digests and (values := _values(scope, b"authorization")):
            # A digest, so that no token stays in memory.
            return hashlib.sha256(values[0].partition(b" ")[2].strip()).digest()
        client = scope.get("client")
        return str(client[0]).encode() if client else b""


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for field, value in scope["headers"] if field == name]


def _listed(variable: str) -> list[str]:
    return [value for part in os.environ.get(variable, "").split(",") if (value := part.strip())]
