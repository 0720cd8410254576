"""Fetches urls: obeys robots.txt and rates, follows redirects, retries, and uses cached pages."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from foundry.documents.reasons import Reason, answered
from foundry.fetching.exchange import ACCEPTED, Answer, exchange
from foundry.fetching.failures import FetchError, StoppedError, refused
from foundry.fetching.hosts import HostHealth, Pacer
from foundry.fetching.network import Network
from foundry.fetching.page_cache import CachedPage, PageCache
from foundry.fetching.robots import MAX_BYTES as MAX_ROBOTS_BYTES
from foundry.fetching.robots import Robots, Rules
from foundry.runtime.retrieval.embedding.http import parse_retry_after
from foundry.urls import Url, UrlError, join_url

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_KEPT_HEADERS = ("content-type", "etag", "last-modified", "link", "x-robots-tag")


@dataclass(frozen=True, slots=True)
class Manners:
    """Limits for the requests of one source.

    In seconds: `seconds_between` is the interval between requests to a host, `timeout` the limit of
    one try, `patience` the limit of all waits between tries of a url, and `first_wait` the first of
    these waits, which then double.
    """

    user_agent: str
    seconds_between: float = 0.2
    timeout: float = 60.0
    tries: int = 3
    patience: float = 60.0
    first_wait: float = 0.5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched page; `url` is its address after redirects.

    `unchanged` means that the server answered "not modified"; `body` then comes from the cache.
    """

    url: Url
    headers: Mapping[str, str]
    body: bytes
    unchanged: bool


class Fetcher:
    """Fetches the pages of one source into a cache; threads can share it.

    `agent` is the name that robots.txt and pages may address. `allows` is called with every url on
    the way to a page, and raises FetchError for one outside the source.
    """

    def __init__(
        self,
        manners: Manners,
        cache: PageCache,
        network: Network,
        allows: Callable[[Url], None] = lambda _: None,
    ) -> None:
        self._allows = allows
        self._manners = manners
        self._cache = cache
        self._network = network
        self.agent = manners.user_agent.partition("/")[0].partition(" ")[0]
        self._pacer = Pacer(manners.seconds_between, network.stop)
        self._health = HostHealth()
        self._robots = Robots(self._ask_for_robots)

    def fetch(self, url: Url, *, max_bytes: int) -> Fetched:
        """Return the content of a url, after up to five redirects.

        Requests only carry validators: there are no cookies or credentials that could leak to
        another host. Raises FetchError if the url is refused, or has no content or more than
        `max_bytes`, even if a page is cached, and StoppedError if the build was stopped.
        """
        visited: set[Url] = set()
        for _ in range(MAX_REDIRECTS + 1):
            if url in visited:
                raise FetchError(Reason.REDIRECT_LOOP, str(url))
            visited.add(url)
            self._network.policy.check_literal(url)
            self._allows(url)
            self.rules_for(url).check(url, self.agent)
            page = self._cache.load(url)
            answer = self._ask(url, self._headers(page), max_bytes)
            if answer.status in _REDIRECTS:
                url = _follow(url, answer)
                continue
            return self._accept(url, answer, page, max_bytes)
        raise FetchError(Reason.TOO_MANY_REDIRECTS, f"more than {MAX_REDIRECTS}, to {url}")

    def rules_for(self, url: Url) -> Rules:
        """Return the rules for the url's origin, and apply their Crawl-delay from now on."""
        rules = self._robots.rules_for(url)
        if delay := rules.crawl_delay(self.agent):
            self._pacer.slow_down(url.host, delay)
        return rules

    def _accept(self, url: Url, answer: Answer, page: CachedPage | None, max_bytes: int) -> Fetched:
        if answer.status == 304 and page is not None:
            if len(page.body) > max_bytes:
                raise refused(Reason.OVERSIZE, f"the limit is {max_bytes} bytes")
            return Fetched(url, page.headers, page.body, unchanged=True)
        if answer.status == 204:
            raise FetchError(Reason.NO_CONTENT, "status 204")
        if answer.status != 200:
            raise FetchError(answered(answer.status))
        if not answer.body:
            raise FetchError(Reason.NO_CONTENT, "empty body")
        kept = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
        self._cache.store(url, CachedPage(kept, answer.body))
        return Fetched(url, kept, answer.body, unchanged=False)

    def _headers(self, page: CachedPage | None) -> dict[str, str]:
        headers = {
            "User-Agent": self._manners.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": ACCEPTED,
        }
        if page is not None:
            if "etag" in page.headers:
                headers["If-None-Match"] = page.headers["etag"]
            if "last-modified" in page.headers:
                headers["If-Modified-Since"] = page.headers["last-modified"]
        return headers

    def _ask(
        self, url: Url, headers: Mapping[str, str], max_bytes: int, *, truncate: bool = False
    ) -> Answer:
        """Return the response to a request, which is retried after temporary failures."""
        waited = 0.0
        attempt = 1
        while True:
            self._health.check(url.host)
            self._pacer.wait_for_turn(url.host)
            try:
                answer = exchange(
                    self._network,
                    url,
                    headers,
                    max_bytes=max_bytes,
                    seconds=self._manners.timeout,
                    truncate=truncate,
                )
                if answer.status not in _TEMPORARY:
                    self._health.succeeded(url.host)
                    return answer
                failure = _temporary(answer)
            except FetchError as error:
                failure = error
            wait = self._manners.first_wait * 2.0 ** (attempt - 1) * random.uniform(0.5, 1)
            wait = max(wait, failure.retry_after or 0.0)
            is_last = attempt == self._manners.tries or waited + wait > self._manners.patience
            if is_last or not failure.is_temporary:
                self._health.failed(url.host, failure)
                raise failure
            if failure.retry_after is not None:
                # The wait that a server requests applies to the whole host, not only to this url.
                self._pacer.hold(url.host, wait)
            if self._network.stop.wait(wait):
                raise StoppedError
            waited += wait
            attempt += 1

    def _ask_for_robots(self, url: Url) -> Answer:
        # The response must not be compressed, because it may be truncated.
        headers = {"User-Agent": self._manners.user_agent, "Accept-Encoding": "identity"}
        for _ in range(MAX_REDIRECTS + 1):
            self._network.policy.check_literal(url)
            answer = self._ask(url, headers, MAX_ROBOTS_BYTES, truncate=True)
            if answer.status not in _REDIRECTS:
                return answer
            try:
                url = _follow(url, answer)
            except FetchError:
                break
        return Answer(404, {}, b"")


def _follow(url: Url, answer: Answer) -> Url:
    location = answer.headers.get("location", "")
    if not location:
        raise FetchError(Reason.MALFORMED_ANSWER, f"status {answer.status} without a Location")
    try:
        # Servers send UTF-8 in this header, but the library decodes it as Latin-1.
        location = location.encode("latin-1").decode("utf-8", "replace")
        return join_url(url, location)
    except UrlError as error:
        raise refused(error.reason, f"redirect from {url}: {error.detail}") from None


def _temporary(answer: Answer) -> FetchError:
    wait = parse_retry_after(answer.headers)
    return FetchError(
        answered(answer.status),
        f"asks to wait {wait:.0f} s" if wait else "",
        is_temporary=True,
        retry_after=wait,
        status=answer.status,
    )
