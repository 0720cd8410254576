"""Private addresses are never connected to, however named: canaries must get no connection."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpcore2
import pytest
from tls_certificates import contexts
from waiting import wait_until
from web_sites import Canary, Reply, Site, canary, page, redirect, serving

from foundry.fetching.addresses import Policy
from foundry.fetching.failures import FetchError, StoppedError
from foundry.fetching.fetcher import Fetcher, Manners
from foundry.fetching.network import Network
from foundry.fetching.page_cache import PageCache
from foundry.urls import UrlError, parse_url

PUBLIC = "93.184.216.34"
QUICK = Manners("rag-foundry/test", seconds_between=0, timeout=60, tries=2, first_wait=0.001)

LOOPBACK = """
    127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0
    0.0.0.0 127.127.127.127 127%2e0.0.1
    \uff11\uff12\uff17.0.0.1 127\u30020\u30020\u30021 \u2460\u2461\u2466.0.0.1 localhost localhost.
    LOCALHOST [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::FFFF:7F00:1] [::127.0.0.1]
    [64:ff9b::7f00:1] [2002:7f00:1::] user@127.0.0.1 example.com@127.0.0.1 :secret@127.0.0.1
    127.0.0.1\\@example.com
""".split()
REASONS = {
    *("private address", "unusual spelling of an address", "malformed host"),
    *("user name in the url", "malformed url"),
}
OTHERS = """
    169.254.169.254 10.0.0.1 192.168.0.1 172.16.0.1 100.64.0.1 224.0.0.1 255.255.255.255
    [fd00:ec2::254] [fe80::1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] 0xa9fea9fe 2852039166
""".split()


@pytest.fixture
def silent() -> Iterator[Canary]:
    """A canary on every address of this machine; tests must not connect to it."""
    with canary() as listener:
        yield listener
        assert listener.visits() == 0


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


MakeFetcher = Callable[..., Fetcher]


@pytest.fixture
def make_fetcher(tmp_path: Path) -> Iterator[MakeFetcher]:
    cache = PageCache(tmp_path / "web")

    def make(*allowed: str, network: Network | None = None, manners: Manners = QUICK) -> Fetcher:
        return Fetcher(manners, cache, network or Network(Policy.parse(allowed)))

    yield make
    cache.close()


def reason_of(fetcher: Fetcher, url: str) -> str:
    with pytest.raises((FetchError, UrlError)) as caught:
        fetcher.fetch(parse_url(url), max_bytes=10_000)
    if isinstance(caught.value, FetchError):
        assert caught.value.kind == "refused"
    return caught.value.reason


def test_the_canary_notices_connections() -> None:
    with canary() as listener:
        socket.create_connection(("127.0.0.1", listener.port)).close()
        assert listener.visits() == 1


def test_every_notation_of_loopback_is_refused(silent: Canary, make_fetcher: MakeFetcher) -> None:
    fetcher = make_fetcher()
    for host in LOOPBACK:
        assert reason_of(fetcher, f"http://{host}:{silent.port}/") in REASONS, host


def test_private_addresses_are_refused(make_fetcher: MakeFetcher) -> None:
    def refuse(address: str, port: int, timeout: float) -> httpcore2.NetworkStream:
        raise AssertionError(f"connected to {address}")

    fetcher = make_fetcher(network=Network(connect=refuse))
    for host in OTHERS:
        reason = reason_of(fetcher, f"http://{host}/")
        assert reason in {"private address", "unusual spelling of an address"}, host


@pytest.mark.parametrize("status", [301, 307])
def test_redirect_to_a_private_address(
    status: int, site: Site, silent: Canary, make_fetcher: MakeFetcher
) -> None:
    fetcher = make_fetcher(*site.allow_private)
    for number, host in enumerate((*LOOPBACK, *OTHERS)):
        site.routes[f"/{number}"] = redirect(f"http://{host}:{silent.port}/", status)
        assert reason_of(fetcher, f"{site.url}{number}") in REASONS, host


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.com/", "data:text/html,x", "gopher://x:70/1"]
)
def test_redirect_to_another_scheme(target: str, site: Site, make_fetcher: MakeFetcher) -> None:
    site.routes["/"] = redirect(target)
    assert reason_of(make_fetcher(*site.allow_private), site.url) == "not an http or https url"


def test_robots_that_redirect_to_a_private_address(
    site: Site, silent: Canary, make_fetcher: MakeFetcher
) -> None:
    site.routes["/robots.txt"] = redirect(f"http://127.0.0.1:{silent.port}/robots.txt")
    site.routes["/"] = page("Home")
    assert reason_of(make_fetcher(*site.allow_private), site.url) == "private address"
    assert site.asked("/") == []


class FakeNames:
    """A resolver with prepared answers, the last of which is repeated; counts its queries."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[str]:  # noqa: ARG002
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


def network_to(site: Site, names: FakeNames, connected: list[str]) -> Network:
    """Return a network that connects to the site instead of the public address."""

    def lead(address: str, port: int, timeout: float) -> httpcore2.NetworkStream:
        connected.append(address)
        assert address == PUBLIC
        return httpcore2.SyncBackend().connect_tcp(site.host, site.port, timeout)

    return Network(resolve=names, connect=lead)


def test_connection_goes_to_the_address_that_was_checked(
    site: Site, make_fetcher: MakeFetcher
) -> None:
    """The third answer of the resolver is a private address (DNS rebinding)."""
    site.routes["/"] = page("Home")
    names, connected = FakeNames([PUBLIC], [PUBLIC], ["127.0.0.1"]), []
    fetcher = make_fetcher(network=network_to(site, names, connected))
    fetched = fetcher.fetch(parse_url(f"http://docs.example:{site.port}/"), max_bytes=10_000)
    assert b"Home" in fetched.body
    # One lookup for robots.txt and one for the page, each used for its connection.
    assert (names.asked, connected) == (2, [PUBLIC, PUBLIC])
    assert site.asked("/")[0].headers["host"] == f"docs.example:{site.port}"


@pytest.mark.parametrize("private", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"])
def test_rebinding_between_requests(
    private: str, site: Site, silent: Canary, make_fetcher: MakeFetcher
) -> None:
    site.routes["/"] = redirect("/next")
    names, connected = FakeNames([PUBLIC], [PUBLIC], [private]), []
    fetcher = make_fetcher(network=network_to(site, names, connected))
    assert reason_of(fetcher, f"http://docs.example:{silent.port}/") == "private address"
    assert connected == [PUBLIC, PUBLIC]


@pytest.mark.parametrize("answer", [[PUBLIC, "127.0.0.1"], ["10.0.0.1", PUBLIC], ["fe80::1%eth0"]])
def test_a_host_with_one_private_address_is_refused(
    answer: list[str], site: Site, make_fetcher: MakeFetcher
) -> None:
    connected: list[str] = []
    fetcher = make_fetcher(network=network_to(site, FakeNames(answer), connected))
    assert reason_of(fetcher, "http://docs.example/") == "private address"
    assert connected == []


def test_proxies_of_the_environment_are_ignored(
    site: Site, silent: Canary, make_fetcher: MakeFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{silent.port}")
    site.routes["/"] = page("Home")
    make_fetcher(*site.allow_private).fetch(parse_url(site.url), max_bytes=10_000)


def test_no_header_for_one_host_is_sent_to_another(site: Site, make_fetcher: MakeFetcher) -> None:
    with serving({"/": page("Other")}) as other:
        site.routes["/"] = page("Home")
        fetcher = make_fetcher(*site.allow_private, *other.allow_private)
        fetcher.fetch(parse_url(site.url), max_bytes=10_000)
        site.routes["/"] = redirect(other.url)
        fetched = fetcher.fetch(parse_url(site.url), max_bytes=10_000)
        assert str(fetched.url) == other.url + "/"
        assert "if-none-match" in site.asked("/")[1].headers
        headers = other.asked("/")[0].headers
        assert set(headers) == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert headers["host"] == f"127.0.0.1:{other.port}"


def test_tls_uses_the_host_name(tmp_path: Path, make_fetcher: MakeFetcher) -> None:
    """The handshake names the host, and its certificate is checked for that name."""
    server, trusting = contexts("docs.example", tmp_path)
    named: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: named.append(name)
    with serving({"/": page("Secure")}, tls=server) as site:
        for host, expected in (
            ("docs.example", None),
            ("other.example", "certificate is not valid"),
        ):
            network = network_to(site, FakeNames([PUBLIC]), [])
            network.__dict__["ssl_context"] = trusting
            fetcher = make_fetcher(network=network)
            url = parse_url(f"https://{host}:{site.port}/")
            if expected is None:
                assert b"Secure" in fetcher.fetch(url, max_bytes=10_000).body
            else:
                with pytest.raises(FetchError) as caught:
                    fetcher.fetch(url, max_bytes=10_000)
                assert caught.value.reason == expected
    assert set(named) == {"docs.example", "other.example"}


def test_a_stop_ends_a_fetch_at_once(site: Site, make_fetcher: MakeFetcher) -> None:
    site.routes["/"] = Reply(drips=True)
    network = Network(Policy.parse(site.allow_private))
    fetcher = make_fetcher(network=network)
    ended: list[BaseException] = []

    def work() -> None:
        try:
            fetcher.fetch(parse_url(site.url), max_bytes=10_000)
        except StoppedError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    wait_until(lambda: bool(site.asked("/")))
    network.stop.set()
    thread.join(120)
    assert not thread.is_alive()
    assert len(ended) == 1
