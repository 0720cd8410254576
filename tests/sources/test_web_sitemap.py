"""Sitemaps: valid ones give their pages, and hostile ones end at a limit, which is reported."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from web_gathering import gather
from web_sites import Reply, Site, canary, page, serving, sitemap, sitemap_index, text

from foundry.errors import SourceError
from foundry.fetching.failures import FetchError
from foundry.sources.web import sitemaps
from foundry.sources.web.sitemaps import is_sitemap, parse_sitemap


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        for name in "abcdef":
            running.routes[f"/{name}"] = page(name.upper())
        yield running


def xml(body: str) -> Reply:
    return text(body, "application/xml")


def test_nested_sitemaps(site: Site, tmp_path: Path) -> None:
    site.routes |= {
        "/map.xml": sitemap_index(f"{site.url}/one.xml", f"{site.url}/two.xml.gz"),
        "/one.xml": sitemap(f"{site.url}/a", f"{site.url}/b#x", f"{site.url}/a"),
        "/two.xml.gz": Reply(gzip.compress(sitemap(f"{site.url}/c").body), kind="application/gzip"),
    }
    found = gather(site, tmp_path, "sitemap", url="/map.xml")
    assert found.paths == ["/a", "/b", "/c"]
    assert found.coverage["coverage"] == 1.0


def test_text_sitemap(site: Site, tmp_path: Path) -> None:
    site.routes["/map.txt"] = text(f"\ufeff{site.url}/a\r\n{site.url}/b\n\n")
    assert gather(site, tmp_path, "sitemap", url="/map.txt").paths == ["/a", "/b"]


def test_circular_sitemaps(site: Site, tmp_path: Path) -> None:
    site.routes |= {
        "/map.xml": sitemap_index(*(f"{site.url}/{n}.xml" for n in ("map", "x", "y", "x"))),
        "/x.xml": sitemap_index(f"{site.url}/y.xml", f"{site.url}/map.xml"),
        "/y.xml": sitemap_index(f"{site.url}/x.xml", f"{site.url}/leaf.xml"),
        "/leaf.xml": sitemap(f"{site.url}/a"),
    }
    found = gather(site, tmp_path, "sitemap", url="/map.xml", min_coverage=0.1)
    assert found.paths == ["/a"]
    assert found.coverage["refused"] == {"sitemap: listed twice": 5}
    assert sorted(path for path in site.paths() if path.endswith(".xml")) == sorted(
        ["/map.xml", "/x.xml", "/y.xml", "/leaf.xml"]
    )


def test_depth(site: Site, tmp_path: Path) -> None:
    site.routes |= {f"/{n}.xml": sitemap_index(f"{site.url}/{n + 1}.xml") for n in range(1, 9)}
    found = gather(site, tmp_path, "sitemap", url="/1.xml")
    assert found.coverage["failed"] == {"sitemap: nested too deeply": 1}
    assert site.asked("/5.xml")
    assert not site.asked("/6.xml")


def test_other_hosts_are_refused_and_counted(site: Site, tmp_path: Path) -> None:
    with serving({"/x": page("X"), "/y.xml": sitemap()}) as other, canary() as silent:
        site.routes |= {
            "/map.xml": sitemap_index(f"{site.url}/pages.xml", f"{other.url}/y.xml"),
            "/pages.xml": sitemap(
                f"{site.url}/a",
                f"{other.url}/x",
                f"http://localhost:{silent.port}/",
                f"http://2130706433:{silent.port}/",
                "http://169.254.169.254/latest/meta-data/",
                "file:///etc/passwd",
                "http://me:secret@127.0.0.1/",
                "not a url at all",
            ),
        }
        found = gather(site, tmp_path, "sitemap", url="/map.xml", private=other.allow_private)
        assert silent.visits() == 0
        assert other.requests == []
    assert found.paths == ["/a"]
    assert found.coverage["refused"] == {
        "not an http or https url": 1,
        "on another host": 3,
        "sitemap: on another host": 1,
        "unusual spelling of an address": 1,
        "user name in the url": 1,
    }
    assert found.coverage["failed"] == {"status 404": 1}
    assert "secret" not in repr(found.skipped)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.1."]
)
def test_nested_sitemap_and_pages_at_a_private_address(
    host: str, site: Site, tmp_path: Path
) -> None:
    """Both are refused, even if the configuration names the private host for the source."""
    with canary() as silent:
        place = f"http://{host}:{silent.port}"
        site.routes |= {
            "/map.xml": sitemap_index(f"{site.url}/pages.xml", f"{place}/y.xml"),
            "/pages.xml": sitemap(f"{site.url}/a", f"{place}/x"),
        }
        found = gather(
            site, tmp_path, "sitemap", url="/map.xml", hosts=[f"{host.rstrip('.')}:{silent.port}"]
        )
        assert silent.visits() == 0
    assert found.coverage["refused"] == {"private address": 1, "sitemap: private address": 1}


BILLION = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BROKEN = {
    "external entity": (
        xml('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc>'),
        "holds a DTD",
    ),
    "remote DTD": (xml('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><urlset/>'), "holds a DTD"),
    "billion laughs": (
        xml(f'<!DOCTYPE x [<!ENTITY l0 "lol">{BILLION}]><urlset>&l9;</urlset>'),
        "holds a DTD",
    ),
    "deep nesting": (xml("<urlset>" + "<url>" * 150_000), "not a sitemap"),
    "cut short": (xml("<urlset><url><loc>"), "not a sitemap"),
    "a page": (page("No sitemap"), "not a sitemap"),
    "another XML": (xml("<rss><channel/></rss>"), "not a sitemap"),
    "words": (text("hello world"), "not a sitemap"),
    "unknown encoding": (xml('<?xml version="1.0" encoding="x-none"?><urlset/>'), "not a sitemap"),
    "gzip bomb": (Reply(gzip.compress(b" " * 2_000_000)), "over the size limit"),
    "gzip that is none": (Reply(b"\x1f\x8bnonsense"), "damaged content encoding"),
    "missing": (Reply(b"", 404), "status 404"),
    "disallowed": (sitemap(), "disallowed by robots.txt"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_sitemaps_have_a_reason(
    name: str, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 1_000_000)
    reply, reason = BROKEN[name]
    site.routes["/broken.xml"] = reply
    site.routes["/map.xml"] = sitemap_index(f"{site.url}/broken.xml", f"{site.url}/good.xml")
    site.routes["/good.xml"] = sitemap(f"{site.url}/a")
    if name == "disallowed":
        site.routes["/robots.txt"] = text("User-agent: *\nDisallow: /broken.xml")
    found = gather(site, tmp_path, "sitemap", url="/map.xml")
    assert found.paths == ["/a"]
    counted = found.coverage["failed"] | found.coverage["refused"]
    assert counted == {f"sitemap: {reason}": 1}
    with pytest.raises(SourceError):
        gather(site, tmp_path, "sitemap", url="/broken.xml", min_coverage=0.01)


def test_a_sitemap_that_fails_makes_the_coverage_unknown(site: Site, tmp_path: Path) -> None:
    site.routes |= {
        "/map.xml": sitemap_index(f"{site.url}/gone.xml", f"{site.url}/good.xml"),
        "/good.xml": sitemap(*(f"{site.url}/{name}" for name in "abcdef")),
    }
    with pytest.raises(SourceError, match="6 pages fetched, but a sitemap that may list more"):
        gather(site, tmp_path, "sitemap", url="/map.xml", min_coverage=0.1)
    found = gather(
        site, tmp_path, "sitemap", url="/map.xml", min_coverage=1.0, exclude=["*/gone.xml"]
    )
    assert len(found.documents) == 6


def test_urls_beyond_max_pages_are_counted(site: Site, tmp_path: Path) -> None:
    site.routes["/map.xml"] = sitemap(*(f"{site.url}/{name}" for name in "fedcba"))
    found = gather(site, tmp_path, "sitemap", url="/map.xml", max_pages=2, min_coverage=1.0)
    assert found.paths == ["/e", "/f"]
    assert found.coverage["refused"] == {"over max_pages": 4}


def test_a_million_urls(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered to make the test quick; the counting is the same."""
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 5_000)
    entries = "".join(f"<url><loc>/{n}</loc></url>" for n in range(6_000))
    site.routes["/map.xml"] = sitemap_index(f"{site.url}/big.xml")
    site.routes["/big.xml"] = xml(f"<urlset>{entries}</urlset>")
    found = gather(site, tmp_path, "sitemap", url="/map.xml", max_pages=1)
    assert found.coverage["failed"] == {"sitemap: too much": 1, "status 404": 1}
    assert found.coverage["refused"] == {"over max_pages": 4_998}
    assert len([entry for entry in found.skipped if entry.reason == "over max_pages"]) == 1_000


@pytest.mark.parametrize("body", ["<url/>", "<url><a/></url>", "<url><loc>/a</loc></url>"])
def test_number_of_elements_is_limited(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing takes time for each element, even those that list nothing."""
    monkeypatch.setattr(sitemaps, "MAX_ELEMENTS", 1_000)
    assert len(list(parse_sitemap(f"<urlset>{body * 100}</urlset>".encode()))) in {0, 100}
    with pytest.raises(FetchError, match="more than 1000 elements"):
        list(parse_sitemap(f"<urlset>{body * 1_000}</urlset>".encode()))


def test_total_bytes_are_limited(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemaps, "MAX_TOTAL_BYTES", 1_500)
    padding = f"<!--{'x' * 500}-->"
    names = ("one", "two", "three")
    site.routes |= {f"/{n}.xml": xml(f"<urlset>{padding}</urlset>") for n in names}
    site.routes["/map.xml"] = sitemap_index(*(f"{site.url}/{n}.xml" for n in names))
    found = gather(site, tmp_path, "sitemap", url="/map.xml")
    assert found.coverage["failed"] == {"sitemap: too much": 1}


def test_number_of_entries_is_limited() -> None:
    body = b"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
            xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <!-- a comment -->
      <url><loc> http://x/a?b=1&amp;c=2 </loc><lastmod>2026-01-02</lastmod>
        <image:image><image:loc>http://x/image.png</image:loc></image:image></url>
      <url><lastmod>2026-01-02</lastmod></url>
      <url><loc>http://x/b</loc></url>
    </urlset>"""
    assert list(parse_sitemap(body)) == [
        ("page", "http://x/a?b=1&c=2", "2026-01-02"),
        ("page", "http://x/b", None),
    ]
    with pytest.raises(FetchError, match="not a sitemap"):
        list(parse_sitemap(b""))


def test_a_sitemap_is_recognised_by_its_content(site: Site, tmp_path: Path) -> None:
    pages = [f"{site.url}/docs/a|2026-01-02", f"{site.url}/docs/b"]
    index = sitemap_index(f"{site.url}/maps/pages.gz")
    packed = replace(sitemap(*pages), headers={"X-Robots-Tag": "noindex"})
    packed = replace(packed, body=gzip.compress(packed.body), kind="application/gzip")
    site.routes |= {
        "/maps/all": index,
        "/maps/pages.gz": packed,
        "/home": page("Home", "/maps/all", "/docs/a"),
        "/docs/a": page("A"),
        "/docs/b": page("B"),
    }
    for number, start in enumerate(("/maps/all", "/maps/pages.gz")):
        found = gather(site, tmp_path / str(number), url=start, include=["/docs/*"])
        assert found.paths == ["/docs/a", "/docs/b"]
        assert found.reasons == {}
        assert found.documents[0].modified_elsewhere == "2026-01-02"
    crawled = gather(site, tmp_path / "crawled", url="/home", depth=1, min_coverage=1.0)
    assert crawled.paths == ["/docs/a", "/home"]
    assert crawled.reasons == {"a sitemap": ["/maps/all"]}
    urls = ["/docs/a", "/maps/pages.gz"]
    assert gather(site, tmp_path / "urls", "url", urls=urls).reasons == {
        "a sitemap": ["/maps/pages.gz"]
    }
    with pytest.raises(SourceError) as refused:
        gather(site, tmp_path / "url", "url", urls=urls[1:], min_coverage=1.0)
    assert "1 x a sitemap" in str(refused.value)
    assert 'type = "sitemap"' in (refused.value.hint or "")


@pytest.mark.parametrize("kind", ["site", "sitemap"])
def test_a_sitemap_without_selected_pages_says_so(
    kind: Literal["site", "sitemap"], site: Site, tmp_path: Path
) -> None:
    site.routes |= {"/maps/all": sitemap(f"{site.url}/docs/a"), "/docs/a": page("A")}
    with pytest.raises(SourceError, match="select none of its urls"):
        gather(site, tmp_path, kind, url="/maps/all", include=["/maps/*"], min_coverage=0.9)


@pytest.mark.parametrize(
    "content",
    [
        b"<rss><urlset/></rss>",
        b"<!doctype html><urlset>",
        b'<!DOCTYPE a [<!ENTITY b "c">]><urlset a="&b;"/>',
        b"urlset",
        b"\x1f\x8b\x08urlset",
        b"<?xml version='1.0' encoding='nonsense'?><urlset/>",
        b"",
    ],
)
def test_other_content_is_no_sitemap(content: bytes) -> None:
    assert not is_sitemap(content)
