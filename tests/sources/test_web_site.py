"""A crawl of one site: which pages are found, in which order, and which are left out."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from web_gathering import gather
from web_sites import Reply, Request, Route, Site, page, redirect, serving, sitemap, text

from foundry.documents import Document
from foundry.errors import SourceError
from foundry.readers import read


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as running:
        yield running


def test_only_links_within_the_site_are_followed(site: Site, tmp_path: Path) -> None:
    with serving({"/": page("Other")}) as other:
        site.routes |= {
            "/": page(
                "Home", "a", "/b?x=1#part", other.url, "mailto:a@b.c", "/a#again", "/img.png"
            ),
            "/a": page("A", "/", "deeper/c.html", "javascript:alert(1)", "//127.0.0.1:1/"),
            "/b?x=1": page("B"),
            "/deeper/c.html": page("C", "../d"),
            "/d": page("D"),
        }
        found = gather(site, tmp_path)
        assert found.paths == ["/", "/a", "/b?x=1", "/d", "/deeper/c.html"]
        assert other.requests == []
    assert "/img.png" not in site.paths()
    assert found.coverage == {
        "found": 5,
        "pages": 5,
        "markdown": 0,
        "refused": {},
        "failed": {},
        "coverage": 1.0,
    }
    assert found.traffic == {"fetched": 5, "unchanged": 0}


def test_a_page_that_only_redirects_is_replaced_by_its_target(site: Site, tmp_path: Path) -> None:
    refresh = '<meta http-equiv="refresh" content="0; url={}"><p>Redirecting'
    site.routes |= {
        "/": text(refresh.format("en/"), "text/html"),
        "/en/": page("Start", "pears"),
        "/en/pears": page("Pears", "/loop"),
        "/loop": text(refresh.format("/loop2"), "text/html"),
        "/loop2": text(refresh.format("/loop"), "text/html"),
    }
    found = gather(site, tmp_path)
    assert {"/en/", "/en/pears"} <= set(found.paths)
    assert "/" not in found.paths


@pytest.mark.parametrize(("depth", "count"), [(0, 1), (1, 2), (2, 3), (5, 5)])
def test_depth(depth: int, count: int, site: Site, tmp_path: Path) -> None:
    site.routes |= {f"/{n}": page(f"Page {n}", f"/{n + 1}") for n in range(1, 5)}
    site.routes["/"] = page("Home", "/1")
    assert len(gather(site, tmp_path, depth=depth).documents) == count


def test_max_pages_keeps_pages_by_level_and_url(site: Site, tmp_path: Path) -> None:
    site.routes |= {f"/{n}": page(f"Page {n}", "/") for n in range(10)}
    site.routes["/"] = page("Home", *(f"/{n}" for n in reversed(range(10))))
    found = gather(site, tmp_path, max_pages=4, min_coverage=1.0)
    assert found.paths == ["/", "/0", "/1", "/2"]
    assert found.coverage["refused"] == {"over max_pages": 7}
    assert found.coverage["found"] == 11
    assert len(site.paths()) == 2 + 4


def test_include_and_exclude(site: Site, tmp_path: Path) -> None:
    paths = ["/docs/a", "/docs/b.html?print=1", "/docs/old/c", "/blog/d"]
    site.routes |= {path: page(path) for path in paths} | {"/docs/": page("Docs", *paths)}
    found = gather(
        site, tmp_path, url="/docs/", include=["/docs/*"], exclude=["/docs/old/*", "*print=1"]
    )
    assert found.paths == ["/docs/", "/docs/a"]
    assert found.coverage["found"] == 2


def test_other_hosts_that_belong_to_it(site: Site, tmp_path: Path) -> None:
    with serving({"/": page("Other"), "/x": page("X")}) as other:
        site.routes["/"] = page("Home", other.url)
        found = gather(
            site, tmp_path, hosts=[f"127.0.0.1:{other.port}"], private=other.allow_private
        )
        assert {document.url for document in found.documents} == {site.url + "/", other.url + "/"}


def test_redirects_and_duplicates(site: Site, tmp_path: Path) -> None:
    canonical = '<link rel="canonical" href="/a">'
    site.routes |= {
        "/": page("Home", "/old", "/a", "/a?session=1", "/loop", "/out", "/only-canonical"),
        "/old": redirect("/a", 301),
        "/a": page("A", head=canonical),
        "/a?session=1": page("A again", head=canonical),
        "/loop": redirect("/loop"),
        "/out": redirect("http://example.com/"),
        "/only-canonical": page("C", head='<link rel="canonical" href="/c#top">'),
    }
    found = gather(site, tmp_path)
    assert found.paths == ["/", "/a", "/c"]
    assert b"<h1>A</h1>" in found.documents[1].content
    assert found.reasons == {
        "duplicate of another page": ["/a?session=1", "/old"],
        "redirect loop": ["/loop"],
        "on another host": ["/out"],
    }
    assert found.coverage["refused"] == {"duplicate of another page": 2, "on another host": 1}
    assert found.coverage["failed"] == {"redirect loop": 1}
    assert found.coverage["coverage"] == pytest.approx(3 / 5)


def test_canonical_of_another_site_is_ignored(site: Site, tmp_path: Path) -> None:
    head = '<link rel="canonical" href="http://example.com/a">'
    site.routes["/"] = page("Home", head=head)
    assert gather(site, tmp_path).paths == ["/"]


def test_pages_that_robots_may_not_read_or_index_are_left_out(site: Site, tmp_path: Path) -> None:
    site.routes |= {
        "/robots.txt": text("User-agent: *\nDisallow: /secret"),
        "/": page("Home", "/secret", "/hidden", "/silent", "/header"),
        "/hidden": page("Hidden", "/from-hidden", head='<meta name="robots" content="noindex">'),
        "/silent": page("Silent", "/from-silent", head='<meta name="ROBOTS" content="NoFollow">'),
        "/header": Reply(b"<p>Header", headers={"X-Robots-Tag": "noindex, nofollow"}),
        "/from-hidden": Reply(
            b'<a rel="nofollow" href="/sponsored">ad</a><p>words',
            headers={"X-Robots-Tag": "other: none"},
        ),
    }
    found = gather(site, tmp_path, min_coverage=1.0)
    assert found.paths == ["/", "/from-hidden", "/silent"]
    assert found.coverage["refused"] == {"disallowed by robots.txt": 1, "noindex": 2}
    assert found.coverage["coverage"] == 1.0
    assert site.asked("/secret") == []


def test_sitemaps_of_robots_help_to_find_pages(site: Site, tmp_path: Path) -> None:
    site.routes |= {
        "/robots.txt": text(f"Sitemap: {site.url}/map.xml\nSitemap: {site.url}/gone.xml"),
        "/map.xml": sitemap(f"{site.url}/island|2026-03-01", "http://example.com/far"),
        "/": page("Home"),
        "/island": page("Island"),
    }
    found = gather(site, tmp_path)
    assert found.paths == ["/", "/island"]
    assert found.documents[1].modified_elsewhere == "2026-03-01"


def markdown(body: str) -> Reply:
    return text(body, "text/markdown; charset=utf-8")


def test_markdown_twins_are_preferred(site: Site, tmp_path: Path) -> None:
    alternate = '<link rel="alternate" type="text/markdown" href="/by-link.md">'
    header = {"Link": '</by-header.md>; rel="alternate"; type="text/markdown"'}
    site.routes |= {
        "/": page("Home", "/by-link", "/by-header", "/broken", "/fake", "/by-link.md"),
        "/by-link": page("HTML link", head=alternate),
        "/by-link.md": markdown("# Markdown by link\n\nWords."),
        "/by-header": Reply(b"<h1>HTML header</h1>", headers=header),
        "/by-header.md": markdown("# Markdown by header\n\nWords."),
        "/broken": page("HTML broken", head=alternate.replace("by-link", "gone")),
        "/fake": page("HTML fake", head=alternate.replace("by-link", "fake")),
        "/fake.md": Reply(b"<!doctype html><p>not Markdown", kind="text/markdown"),
    }
    found = gather(site, tmp_path)
    assert found.paths == ["/", "/broken", "/by-header", "/by-link", "/fake"]
    types = [document.media_type for document in found.documents]
    assert types == ["text/html", "text/html", "text/markdown", "text/markdown", "text/html"]
    assert found.coverage["markdown"] == 2
    assert found.reasons == {"duplicate of another page": ["/by-link.md"]}
    again = gather(site, tmp_path, markdown=False)
    assert again.coverage["markdown"] == 0
    assert "/by-link.md" in again.paths


def test_llms_txt(site: Site, tmp_path: Path) -> None:
    listing = (
        "# Docs\n\n- [A](/a.md): first\n- [B](/b/index.html.md)\n- [C](c.html)\n- [D](/d.md)\n"
    )
    site.routes |= {
        "/llms.txt": text(listing),
        "/": page("Home", "/a", "/b/"),
        "/a": page("A"),
        "/a.md": markdown("# A in Markdown"),
        "/b/": page("B"),
        "/b/index.html.md": markdown("# B in Markdown"),
        "/c.html": page("C"),
        "/d.md": markdown("# D alone"),
    }
    found = gather(site, tmp_path)
    assert found.paths == ["/", "/a", "/b/", "/c.html", "/d.md"]
    assert [b"Markdown" in document.content for document in found.documents][1:3] == [True, True]
    assert found.coverage["markdown"] == 2
    assert found.coverage["found"] == 5


def test_formats_and_charsets(site: Site, tmp_path: Path) -> None:
    greek = "<p>Καλημέρα κόσμε, αυτό είναι κείμενο.</p>"
    site.routes |= {
        "/": page("Home", "/greek", "/notes.md", "/data", "/x.json"),
        "/greek": Reply(greek.encode("iso8859-7"), kind="text/html; charset=ISO-8859-7"),
        "/notes.md": text("# Notes\n\nPlain words."),
        "/data": text("just words", "application/octet-stream"),
        "/x.json": text('{"key": "some words"}', "application/json"),
    }
    found = gather(site, tmp_path)
    documents = [read(raw) for raw in found.documents]
    assert all(isinstance(document, Document) for document in documents)
    readers = {d.path.removeprefix(site.url): d for d in documents if isinstance(d, Document)}
    assert "Καλημέρα" in readers["/greek"].reading.text
    assert readers["/greek"].replaced == 0
    assert readers["/notes.md"].reader.startswith("markdown")
    assert readers["/data"].reader.startswith("text")
    assert readers["/x.json"].reader.startswith("json")


def test_lastmod_is_used_if_the_page_has_no_date(site: Site, tmp_path: Path) -> None:
    stated = '<meta property="article:modified_time" content="2026-05-05">'
    site.routes |= {
        "/map.xml": sitemap(f"{site.url}/a|2026-01-01", f"{site.url}/b|2026-01-02"),
        "/a": page("A"),
        "/b": page("B", head=stated),
    }
    found = gather(site, tmp_path, "sitemap", url="/map.xml")
    documents = [read(raw) for raw in found.documents]
    dates = [document.modified for document in documents if isinstance(document, Document)]
    assert dates == ["2026-01-01", "2026-05-05"]


def test_second_build_fetches_only_changes(site: Site, tmp_path: Path) -> None:
    site.routes |= {"/": page("Home", "/a"), "/a": page("A", "/b"), "/b": page("B")}
    first = gather(site, tmp_path)
    second = gather(site, tmp_path)
    assert second.traffic == {"fetched": 0, "unchanged": 3}
    assert (first.documents, first.coverage) == (second.documents, second.coverage)
    site.routes["/a"] = page("New A")
    third = gather(site, tmp_path)
    assert third.paths == ["/", "/a"]
    assert third.traffic == {"fetched": 1, "unchanged": 1}


def test_order_does_not_depend_on_timing(site: Site, tmp_path: Path) -> None:
    def slowly(reply: Reply, seconds: float) -> Route:
        def answer(request: Request) -> Reply:
            time.sleep(seconds)
            return reply

        return answer

    names = [f"/{n}" for n in range(12)]
    orders = []
    for turn in range(2):
        site.routes["/"] = page("Home", *(names if turn else names[::-1]))
        for number, name in enumerate(names):
            wait = 0.002 * (number if turn else 12 - number)
            same = f'<link rel="canonical" href="/{number % 5}">'
            site.routes[name] = slowly(page(name, "/x", head=same), wait)
        found = gather(site, tmp_path / str(turn))
        orders.append((found.paths, found.reasons, found.coverage))
    assert orders[0] == orders[1]


def test_too_few_pages_are_an_error_that_lists_the_reasons(site: Site, tmp_path: Path) -> None:
    site.routes |= {f"/{n}": page(f"Page {n}") for n in range(7)}
    site.routes["/"] = page("Home", *(f"/{n}" for n in range(9)))
    assert gather(site, tmp_path, min_coverage=0.8).coverage["coverage"] == 0.8
    with pytest.raises(SourceError) as caught:
        gather(site, tmp_path, min_coverage=0.81)
    assert caught.value.message.splitlines() == [
        "source web: 8 of 10 urls yielded a page, a coverage of 80.0%; min_coverage is 81.0%",
        "  2 x status 404",
        f"  {site.url}/7: status 404",
        f"  {site.url}/8: status 404",
    ]
    assert "min_coverage" in (caught.value.hint or "")


@pytest.mark.parametrize("home", [Reply(b"", 501), redirect("http://example.com/"), None])
def test_a_site_without_pages_is_an_error(home: Reply | None, site: Site, tmp_path: Path) -> None:
    if home:
        site.routes["/"] = home
    with pytest.raises(SourceError):
        gather(site, tmp_path, min_coverage=0.01)
    assert gather(site, tmp_path, min_coverage=0.0).documents == []


def test_listed_urls(site: Site, tmp_path: Path) -> None:
    with serving({"/x": page("X", "/y")}) as other:
        site.routes |= {"/a": page("A", "/b"), "/out": redirect(f"{other.url}/x")}
        urls = ["/a", "/a#again", "/out", "/gone", "http://10.0.0.1/"]
        found = gather(site, tmp_path, "url", urls=urls, private=other.allow_private)
        assert {document.url for document in found.documents} == {f"{site.url}/a", f"{other.url}/x"}
    assert found.coverage["found"] == 4
    assert found.coverage["refused"] == {"private address": 1}
    assert found.coverage["failed"] == {"status 404": 1}
