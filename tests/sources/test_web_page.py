"""Links, redirects and rules for robots are read from a page in linear time."""

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.fetching.fetcher import Fetched
from foundry.sources.web.page import PageFacts, examine, markdown_links
from foundry.sources.web.scope import matches
from foundry.urls import parse_url

URL = parse_url("http://example.com/docs/page")


def facts_of(body: str | bytes, headers: Mapping[str, str] | None = None) -> PageFacts:
    content = body if isinstance(body, bytes) else body.encode()
    kept = {"content-type": "text/html"} if headers is None else headers
    return examine(Fetched(URL, kept, content, unchanged=False), "rag-foundry")


def links_of(body: str) -> list[str]:
    return [str(link) for link in facts_of(body).links]


def test_links() -> None:
    body = """<A HREF=a>1</a> <a class="x > y" href='b c'>2</a> <area href="?q=1&amp;r=2">
        <a href="a#again">3</a> <a name=x>4</a> <a rel="external nofollow" href=/no>5</a>
        <a href="mailto:x@y.z">6</a> <a href="http://[">7</a> <abbr href="/no">8</abbr>"""
    assert links_of(body) == [
        "http://example.com/docs/a",
        "http://example.com/docs/b%20c",
        "http://example.com/docs/page?q=1&r=2",
    ]


def test_links_in_comments_and_scripts_are_ignored() -> None:
    body = "<!-- <a href=/1> --><script>'<a href=/2>'</script><style><a href=/3></style><a href=/4>"
    assert links_of(body) == ["http://example.com/4"]


def test_base() -> None:
    assert links_of("<base href='/other/'><a href=x>") == ["http://example.com/other/x"]
    assert links_of("<base href='javascript:x'><a href=x>") == ["http://example.com/docs/x"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=en/", "http://example.com/docs/en/"),
        ("1;URL='en/'", "http://example.com/docs/en/"),
        ("0, /en", "http://example.com/en"),
        ("60; url=en/", None),
        ("0; url=page", None),
        ("5", None),
        ("0; url=javascript:x", None),
    ],
)
def test_immediate_refreshes_are_redirects(content: str, target: str | None) -> None:
    found = facts_of(f'<meta http-equiv="Refresh" content="{content}">').refresh
    assert (None if found is None else str(found)) == target


def test_head() -> None:
    facts = facts_of(
        "<link rel='nofollow canonical' href=/a><link rel=alternate type=text/markdown href=a.md>"
        "<link rel=alternate type=application/rss+xml href=feed>"
    )
    assert str(facts.canonical) == "http://example.com/a"
    assert str(facts.markdown) == "http://example.com/docs/a.md"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ('</a.md>; rel=alternate; type="text/markdown"', "http://example.com/a.md"),
        (
            '</x>; rel=next, <a.md>;type=text/markdown;rel="alternate"',
            "http://example.com/docs/a.md",
        ),
        ("</a.md>; rel=alternate; type=text/html", None),
        ("</a.md>; rel=next; type=text/markdown", None),
        ("<<<<<,,,;;;", None),
        ("<file:///a.md>; rel=alternate; type=text/markdown", None),
    ],
)
def test_link_header(header: str, found: str | None) -> None:
    facts = facts_of("<p>", {"content-type": "text/html", "link": header})
    assert (str(facts.markdown) if facts.markdown else None) == found


@pytest.mark.parametrize(
    ("meta", "header", "noindex", "follows"),
    [
        ("", "", False, True),
        ("noindex", "", True, True),
        ("NOINDEX, NoFollow", "", True, False),
        ("none", "", True, False),
        ("all, max-snippet:5", "", False, True),
        ("", "noindex", True, True),
        ("", "googlebot: noindex", False, True),
        ("", "RAG-Foundry: noindex", True, True),
        ("", "unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", False, False),
        ("", "otherbot: noindex, nofollow", False, True),
    ],
)
def test_rules_for_robots(meta: str, header: str, noindex: bool, follows: bool) -> None:
    facts = facts_of(
        f'<meta name="robots" content="{meta}"><a href=/x>',
        {"content-type": "text/html; charset=utf-8", "x-robots-tag": header},
    )
    assert (facts.noindex, bool(facts.links)) == (noindex, follows)


def test_rules_for_our_user_agent() -> None:
    assert facts_of("<meta name=rag-foundry content=noindex>").noindex
    assert not facts_of("<meta name=googlebot content=noindex>").noindex


def test_other_media_types_have_no_links() -> None:
    assert facts_of("<a href=/x>", {"content-type": "text/plain"}) == PageFacts()
    assert facts_of("<!DOCTYPE html><a href=/x>", {}).links
    assert not facts_of("%PDF-1.4 <a href=/x>", {}).links


def test_charsets() -> None:
    for name in ("utf-8", "iso8859-7", "utf-16"):
        body = "<p>Καλημέρα<a href='/γεια'>".encode(name)
        facts = facts_of(body, {"content-type": f"text/html; charset={name}"})
        assert [link.path for link in facts.links] == ["/%CE%B3%CE%B5%CE%B9%CE%B1"]
    assert facts_of(b"\xff<a href=/x>", {"content-type": "text/html; charset=nonsense"}).links


def test_markdown_links() -> None:
    text = "[a](/a.md) [b](<b.md> 'title') ![c](c.md) [d]( /a.md ) [e](mailto:x) [f]()"
    found = [str(link) for link in markdown_links(text, URL)]
    assert found == [
        "http://example.com/a.md",
        "http://example.com/docs/b.md",
        "http://example.com/docs/c.md",
    ]


@given(st.text(st.sampled_from("<>a href=\"'/!-scriptlink \n")))
def test_any_bytes_are_handled(body: str) -> None:
    facts_of(body)


HOSTILE = {
    "nested elements": "<div>",
    "nested links": "<a href=/x>",
    "open comments": "<!--",
    "open scripts": "<script>",
    "open quotes": '<a href="',
    "mixed quotes": "<a '\"",
    "options": "<select><option>",
    "bases": "<base href=x>",
    "attributes": "<a " + "b " * 50 + ">",
    "brackets": "<",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_linear_time(name: str) -> None:
    """Sixteen times the length takes far less than 16 x 16 times as long."""

    def measure(size: int) -> float:
        body = HOSTILE[name] * (size // len(HOSTILE[name]))
        times = []
        for _ in range(3):
            started = time.process_time()
            facts_of(body)
            times.append(time.process_time() - started)
        return min(times)

    assert measure(160_000) < 80 * max(measure(10_000), 0.001)


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("*", "http://x/a", True),
        ("/docs/*", "http://x/docs/a?b", True),
        ("/docs/*", "http://x/old/docs/a", False),
        ("/docs", "http://x/docs", True),
        ("/docs", "http://x/docs/", False),
        ("*.pdf", "http://x/a.pdf", True),
        ("*.pdf", "http://x/a.pdf?b", False),
        ("*print=1*", "http://x/a?print=1&b", True),
        ("http://x/*", "http://x/a", True),
        ("http://x/*", "https://x/a", False),
        ("/a*b*c", "http://x/a1b2c", True),
        ("/a*b*c", "http://x/acb", False),
        ("/ab*ba", "http://x/aba", False),
        ("/a[1]*", "http://x/a1", False),
    ],
)
def test_patterns(pattern: str, url: str, fits: bool) -> None:
    assert matches(pattern, parse_url(url)) is fits
