"""Responses of servers: accepted, retried, or given up with a reason."""

import gzip
import threading
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from web_sites import Reply, Request, Site, page, redirect, serving, text

from foundry.fetching.addresses import Policy
from foundry.fetching.failures import FetchError
from foundry.fetching.fetcher import Fetched, Fetcher, Manners
from foundry.fetching.hosts import Pacer
from foundry.fetching.network import Network
from foundry.fetching.page_cache import PageCache
from foundry.urls import parse_url

MAX_BYTES = 100_000
BIG = b"a" * (2 * MAX_BYTES)

Fetch = Callable[..., Fetched]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


@pytest.fixture
def fetch(site: Site, tmp_path: Path) -> Iterator[Fetch]:
    """Return a function that fetches a path of the site, each time like a separate build."""
    cache = PageCache(tmp_path / "web")

    def run(
        path: str = "/",
        *,
        timeout: float = 60,
        tries: int = 2,
        patience: float = 60,
        stop: threading.Event | None = None,
    ) -> Fetched:
        manners = Manners(
            "Test-Crawler/2.0 (+https://example.com)",
            seconds_between=0,
            timeout=timeout,
            tries=tries,
            patience=patience,
            first_wait=0.001,
        )
        network = Network(Policy.parse(site.allow_private), stop=stop or threading.Event())
        fetcher = Fetcher(manners, cache, network)
        return fetcher.fetch(parse_url(site.url + path), max_bytes=MAX_BYTES)

    yield run
    cache.close()


def gzipped(body: bytes) -> Reply:
    return Reply(gzip.compress(body, mtime=0), headers={"Content-Encoding": "gzip"})


LONG_HEADERS = {f"X-{number}": "a" * 4_000 for number in range(20)}
GIVEN_UP = {
    "1 B/s": (Reply(drips=True), "failed", "too slow"),
    "headers at 1 B/s": (Reply(drips_headers=True), "failed", "too slow"),
    "endless body": (Reply(endless=True), "refused", "over the size limit"),
    "huge body": (Reply(BIG), "refused", "over the size limit"),
    "huge body without a length": (Reply(BIG, length=-1), "refused", "over the size limit"),
    "gzip bomb": (gzipped(b"a" * 2_000_000), "refused", "over the size limit"),
    "many gzip members": (
        Reply(gzip.compress(b"") * 4_500, headers={"Content-Encoding": "gzip"}),
        "failed",
        "damaged content encoding",
    ),
    "gzip cut short": (
        Reply(gzip.compress(BIG)[:-20], headers={"Content-Encoding": "gzip"}),
        "refused",
        "over the size limit",
    ),
    "gzip that is none": (
        Reply(b"plain", headers={"Content-Encoding": "gzip"}),
        "failed",
        "damaged content encoding",
    ),
    "unknown encoding": (
        Reply(b"x", headers={"Content-Encoding": "br"}),
        "failed",
        "unknown content encoding",
    ),
    "two encodings": (
        Reply(gzip.compress(gzip.compress(b"x")), headers={"Content-Encoding": "gzip, gzip"}),
        "failed",
        "unknown content encoding",
    ),
    "too short for its length": (Reply(b"abc", length=10), "failed", "answer was cut short"),
    "length that is no number": (
        Reply(b"abc", length=-1, headers={"Content-Length": "x"}),
        "failed",
        "malformed answer",
    ),
    "two lengths": (
        Reply(b"abc", length=3, headers={"Content-Length": "2"}),
        "failed",
        "malformed answer",
    ),
    "negative length": (
        Reply(b"abc", length=-1, headers={"Content-Length": "-5"}),
        "failed",
        "malformed answer",
    ),
    "hangs up": (Reply(hangs_up=True), "failed", "connection broke"),
    "headers too long": (
        Reply(b"x", headers=LONG_HEADERS),
        "failed",
        "headers over the size limit",
    ),
    "endless header": (
        Reply(b"x", headers={"X-A": "a" * 500_000}),
        "failed",
        "headers over the size limit",
    ),
    "204": (Reply(status=204, kind=None), "failed", "no content"),
    "empty body": (Reply(b""), "failed", "no content"),
    "206": (Reply(b"part", status=206), "failed", "status 206"),
    "304 that was not asked for": (Reply(status=304, kind=None), "failed", "status 304"),
    "404": (Reply(b"?", status=404), "failed", "status 404"),
    "500": (Reply(b"!", status=500), "failed", "status 500"),
    "999": (Reply(b"!", status=999), "failed", "status 999"),
    "redirect to itself": (redirect("/"), "failed", "redirect loop"),
    "redirect to nowhere": (Reply(status=302), "failed", "malformed answer"),
    "redirect to an empty place": (redirect(""), "failed", "malformed answer"),
    "redirect to file:": (redirect("file:///etc/passwd"), "refused", "not an http or https url"),
    "redirect with a body bomb": (
        Reply(gzip.compress(BIG), 302, {"Content-Encoding": "gzip", "Location": "file:/x"}),
        "refused",
        "not an http or https url",
    ),
    "asked to wait too long": (
        Reply(b"", status=429, headers={"Retry-After": "3600"}),
        "failed",
        "status 429",
    ),
    "asked to wait for ever": (
        Reply(b"", status=503, headers={"Retry-After": "9" * 400}),
        "failed",
        "status 503",
    ),
}


@pytest.mark.parametrize("name", GIVEN_UP)
def test_bad_responses_are_given_up_with_a_reason(name: str, site: Site, fetch: Fetch) -> None:
    reply, kind, reason = GIVEN_UP[name]
    site.routes["/"] = reply
    with pytest.raises(FetchError) as caught:
        fetch(timeout=0.5 if "B/s" in name else 60)
    assert (caught.value.kind, caught.value.reason) == (kind, reason)


def test_thirty_redirects_are_too_many(site: Site, fetch: Fetch) -> None:
    site.routes |= {f"/{n}": redirect(f"/{n + 1}") for n in range(30)}
    with pytest.raises(FetchError) as caught:
        fetch("/0")
    assert caught.value.reason == "too many redirects"
    assert len(site.paths()) == 1 + 6


def test_five_redirects_are_followed(site: Site, fetch: Fetch) -> None:
    site.routes |= {f"/{n}": redirect(f"/{n + 1}", 301 + n % 2) for n in range(5)}
    site.routes["/5"] = page("Home")
    assert str(fetch("/0").url) == site.url + "/5"


def test_redirect_loops_are_detected(site: Site, fetch: Fetch) -> None:
    site.routes |= {"/a": redirect("/b"), "/b": redirect("/a#there")}
    with pytest.raises(FetchError) as caught:
        fetch("/a")
    assert caught.value.reason == "redirect loop"
    assert site.paths() == ["/robots.txt", "/a", "/b"]


def test_content_encodings_are_decoded(site: Site, fetch: Fetch) -> None:
    site.routes["/gzip"] = gzipped(b"some text")
    site.routes["/members"] = Reply(
        gzip.compress(b"some ") + gzip.compress(b"text") + b"\0\0",
        headers={"Content-Encoding": "x-gzip"},
    )
    site.routes["/none"] = Reply(b"some text", headers={"Content-Encoding": "identity"})
    for path in ("/gzip", "/members", "/none"):
        assert fetch(path).body == b"some text", path


def test_body_beyond_content_length_is_cut_off(site: Site, fetch: Fetch) -> None:
    """Browsers cut it too. The rest must not be read as the response to another request."""
    site.routes["/"] = Reply(b"abcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", length=3)
    site.routes["/next"] = page("Next")
    assert fetch("/").body == b"abc"
    assert b"Next" in fetch("/next").body


def flaky(failure: Reply, times: int, then: Reply) -> Callable[[Request], Reply]:
    return lambda request: failure if request.number < times else then


@pytest.mark.parametrize(
    "failure",
    [
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(status=429, headers={"Retry-After": formatdate(0, usegmt=True)}),
        Reply(status=503, headers={"Retry-After": "soon"}),
        Reply(status=500),
        Reply(status=502),
        Reply(hangs_up=True),
        Reply(b"abc", length=9),
    ],
    ids=["429, 0 s", "429, a date", "503, nonsense", "500", "502", "hangs up", "cut short"],
)
def test_temporary_failures_are_retried(failure: Reply, site: Site, fetch: Fetch) -> None:
    site.routes["/"] = flaky(failure, 2, page("Home"))
    assert b"Home" in fetch(tries=3).body
    assert len(site.asked("/")) == 3


def test_number_of_tries_is_limited(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = flaky(Reply(status=500), 3, page("Home"))
    with pytest.raises(FetchError):
        fetch(tries=3)
    assert len(site.asked("/")) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 501])
def test_permanent_failures_are_not_retried(status: int, site: Site, fetch: Fetch) -> None:
    site.routes["/"] = Reply(b"no", status=status)
    with pytest.raises(FetchError):
        fetch(tries=3)
    assert len(site.asked("/")) == 1


def test_retry_after_is_waited_for(
    site: Site, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    class Impatient(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0)
            return False

    monkeypatch.setattr("foundry.fetching.hosts.Pacer.hold", lambda *_: None)
    site.routes["/"] = flaky(Reply(status=429, headers={"Retry-After": "7"}), 2, page("Home"))
    fetch(tries=3, patience=20, stop=Impatient())
    assert [wait for wait in waits if wait >= 1] == [7.0, 7.0]
    site.routes["/"] = flaky(Reply(status=429, headers={"Retry-After": "7"}), 9, page("Home"))
    with pytest.raises(FetchError, match="asks to wait 7 s"):
        fetch(tries=3, patience=10, stop=Impatient())


def test_unchanged_pages_are_not_sent_again(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = page("Home")
    first, second = fetch(), fetch()
    assert (first.unchanged, second.unchanged) == (False, True)
    assert first.body == second.body
    assert first.headers == second.headers
    site.routes["/"] = page("New home")
    third = fetch()
    assert not third.unchanged
    assert b"New home" in third.body


def test_last_modified_is_used_as_a_validator(site: Site, fetch: Fetch) -> None:
    date = "Sat, 01 Aug 2026 10:00:00 GMT"

    def answer(request: Request) -> Reply:
        if request.headers.get("if-modified-since") == date:
            return Reply(status=304, kind=None)
        return Reply(b"<p>text", headers={"Last-Modified": date})

    site.routes["/"] = answer
    assert [fetch().unchanged, fetch().unchanged] == [False, True]


def test_pages_without_validators_are_fetched_again(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = Reply(b"<p>text")
    assert [fetch().unchanged, fetch().unchanged] == [False, False]
    assert not set(site.asked("/")[1].headers) & {"if-none-match", "if-modified-since"}


def test_failures_are_not_answered_from_the_cache(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = page("Home")
    fetch()
    site.routes["/"] = Reply(status=500)
    with pytest.raises(FetchError) as caught:
        fetch()
    assert caught.value.reason == "status 500"


def test_user_agent(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = page("Home")
    fetch()
    for request in site.requests:
        assert request.headers["user-agent"] == "Test-Crawler/2.0 (+https://example.com)"


ROBOTS = {
    "disallowed": ("User-agent: *\nDisallow: /private", "/private/a", "disallowed by robots.txt"),
    "allowed": ("User-agent: *\nDisallow: /private", "/public", None),
    "allowed below": ("User-agent: *\nDisallow: /\nAllow: /docs/", "/docs/a", None),
    "wildcard": ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", "disallowed by robots.txt"),
    "our name": (
        "User-agent: test-crawler\nDisallow: /\nUser-agent: *\nAllow: /",
        "/a",
        "disallowed by robots.txt",
    ),
    "another name": ("User-agent: other\nDisallow: /", "/a", None),
    "nonsense": ("\0\xff:::\n" * 100, "/a", None),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, site: Site, fetch: Fetch) -> None:
    rules, path, reason = ROBOTS[name]
    site.routes |= {"/robots.txt": text(rules), path: page("A page")}
    if reason is None:
        fetch(path)
        return
    with pytest.raises(FetchError) as caught:
        fetch(path)
    assert (caught.value.kind, caught.value.reason) == ("refused", reason)
    assert site.paths() == ["/robots.txt"]


def test_robots_txt_is_checked_at_every_redirect(site: Site, fetch: Fetch) -> None:
    site.routes |= {
        "/robots.txt": text("User-agent: *\nDisallow: /private"),
        "/": redirect("/private"),
        "/private": page("Private"),
    }
    with pytest.raises(FetchError, match=r"disallowed by robots\.txt"):
        fetch()
    assert site.asked("/private") == []


@pytest.mark.parametrize("status", [400, 404, 499, 204, 304])
def test_missing_robots_txt_allows_everything(status: int, site: Site, fetch: Fetch) -> None:
    site.routes |= {"/robots.txt": Reply(b"Disallow: /", status=status), "/": page("Home")}
    fetch()


@pytest.mark.parametrize("status", [500, 599, 408, 425, 429])
def test_failing_robots_txt_allows_nothing(status: int, site: Site, fetch: Fetch) -> None:
    site.routes |= {"/robots.txt": Reply(b"", status=status), "/": page("Home")}
    with pytest.raises(FetchError) as caught:
        fetch()
    assert (caught.value.kind, caught.value.reason) == ("failed", "robots.txt unavailable")
    assert site.asked("/") == []


def test_robots_txt_of_ten_megabytes_is_cut(site: Site, fetch: Fetch) -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    # If the file were cut within this line, the rule would be "Disallow: /".
    cut = b"Disallow: /first/but-not-all\n"
    body = head + b"#" * (512_000 - len(head) - 12) + b"\n" + cut
    assert body[:512_000].endswith(b"\nDisallow: /")
    body += b"# padding\n" * 1_000_000 + b"Disallow: /last\n"
    site.routes |= {"/robots.txt": Reply(body, kind="text/plain"), "/last": page("Last")}
    fetch("/last")
    with pytest.raises(FetchError, match=r"disallowed by robots\.txt"):
        fetch("/first")


def test_redirects_of_robots_txt_are_followed(site: Site, fetch: Fetch) -> None:
    site.routes |= {
        "/robots.txt": redirect("/elsewhere.txt"),
        "/elsewhere.txt": text("User-agent: *\nDisallow: /"),
    }
    with pytest.raises(FetchError, match=r"disallowed by robots\.txt"):
        fetch()


def test_crawl_delay(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []
    monkeypatch.setattr(Pacer, "slow_down", lambda *values: delays.append(values[2]))
    cache = PageCache(tmp_path / "web")
    for written in ("2.5", "3600", "-1", "soon"):
        site.routes["/robots.txt"] = text(f"User-agent: *\nCrawl-delay: {written}")
        network = Network(Policy.parse(site.allow_private))
        Fetcher(Manners("rag-foundry"), cache, network).rules_for(parse_url(site.url))
    cache.close()
    assert delays == [2.5, 10.0]


def test_a_host_that_stops_responding_is_given_up(site: Site, tmp_path: Path) -> None:
    site.routes |= {f"/{n}": Reply(hangs_up=True) for n in range(30)} | {"/fine": page("Fine")}
    cache = PageCache(tmp_path / "web")
    manners = Manners("rag-foundry", seconds_between=0, tries=1)
    reasons: list[str] = []
    fetcher = Fetcher(manners, cache, Network(Policy.parse(site.allow_private)))
    for path in (*range(19), "fine", *range(30)):
        try:
            fetcher.fetch(parse_url(f"{site.url}/{path}"), max_bytes=MAX_BYTES)
        except FetchError as error:
            reasons.append(error.reason)
    cache.close()
    assert reasons == ["connection broke"] * (19 + 20) + ["host stopped answering"] * 10
    assert site.asked("/20") == []


def test_unreachable_host(fetch: Fetch, site: Site, tmp_path: Path) -> None:
    with serving() as other:
        allowed = other.allow_private
    cache = PageCache(tmp_path / "other")
    manners = Manners("rag-foundry", seconds_between=0, tries=1)
    fetcher = Fetcher(manners, cache, Network(Policy.parse(allowed)))
    with pytest.raises(FetchError) as caught:
        fetcher.fetch(parse_url(other.url), max_bytes=10)
    cache.close()
    assert caught.value.reason == "cannot be reached"
