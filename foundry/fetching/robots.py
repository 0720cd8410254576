"""robots.txt as in RFC 9309: fetched once per source and origin, and obeyed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from foundry.documents.reasons import Reason
from foundry.fetching.exchange import Answer
from foundry.fetching.failures import FetchError, refused
from foundry.urls import Url

MAX_BYTES = 512_000
"""Only the first 500 KiB are read (RFC 9309, 2.5)."""

MAX_CRAWL_DELAY_SECONDS = 10.0
"""Longer Crawl-delays are capped."""


@dataclass(frozen=True)
class Rules:
    """The rules of one origin's robots.txt; `failure` is the error if it could not be fetched."""

    failure: FetchError | None = None
    parsed: Protego | None = None

    def check(self, url: Url, agent: str) -> None:
        """Raise FetchError for a url that must not be requested."""
        if self.failure is not None:
            failure = self.failure
            raise FetchError(failure.reason, failure.detail, kind=failure.kind)
        if self.parsed is not None and not self.parsed.can_fetch(str(url), agent):
            raise refused(Reason.DISALLOWED)

    def crawl_delay(self, agent: str) -> float:
        """Return the seconds between requests that the file asks for, capped; 0 if it does not."""
        delay = self.parsed.crawl_delay(agent) if self.parsed is not None else None
        return min(max(float(delay or 0.0), 0.0), MAX_CRAWL_DELAY_SECONDS)

    def sitemaps(self) -> list[str]:
        """Return the urls of sitemaps, as written."""
        return list(self.parsed.sitemaps) if self.parsed is not None else []


class Robots:
    """The rules of all origins of a source; threads can share it.

    `ask` fetches a robots.txt, following redirects and truncating at `MAX_BYTES`.
    """

    def __init__(self, ask: Callable[[Url], Answer]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._origin_locks: dict[str, threading.Lock] = {}
        self._rules: dict[str, Rules] = {}

    def rules_for(self, url: Url) -> Rules:
        """Return the rules of a url's origin. Raises StoppedError."""
        with self._lock:
            origin_lock = self._origin_locks.setdefault(url.origin, threading.Lock())
        with origin_lock:
            if url.origin not in self._rules:
                self._rules[url.origin] = self._load(url)
            return self._rules[url.origin]

    def _load(self, url: Url) -> Rules:
        try:
            answer = self._ask(Url(url.scheme, url.host, url.port, "/robots.txt"))
        except FetchError as error:
            return _unavailable(error.status) if error.status is not None else Rules(error)
        if answer.status == 200:
            body = answer.body
            if len(body) >= MAX_BYTES:
                # A rule that was cut off would be a different rule.
                body = body[: body.rfind(b"\n") + 1]
            return Rules(parsed=Protego.parse(body.decode("utf-8-sig", "replace")))
        # Client errors and too many redirects mean that there is no file, and therefore no rules
        # (RFC 9309, 2.3.1.2, 2.3.1.3). If the server fails, its rules are unknown (2.3.1.4).
        return _unavailable(answer.status) if answer.status >= 500 else Rules()


def _unavailable(status: int) -> Rules:
    return Rules(FetchError(Reason.ROBOTS_UNAVAILABLE, f"status {status}"))
