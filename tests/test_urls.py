"""Equivalent urls have one form, and urls that parsers could read differently are rejected."""

import string
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foundry.urls import Url, UrlError, join_url, parse_host_and_port, parse_url

CANONICAL = {
    "HTTP://Example.COM": "http://example.com/",
    "http://example.com:80/a": "http://example.com/a",
    "https://example.com:443/a": "https://example.com/a",
    "https://example.com:80/a": "https://example.com:80/a",
    "http://example.com:/a": "http://example.com/a",
    "http://example.com./a": "http://example.com/a",
    "http://example.com/a#part": "http://example.com/a",
    "http://example.com?": "http://example.com/",
    "http://example.com/?#x": "http://example.com/",
    "http://example.com/?q=a+b&c": "http://example.com/?q=a+b&c",
    "http://example.com/a/./b/../c": "http://example.com/a/c",
    "http://example.com/a/%2e%2E/b": "http://example.com/b",
    "http://example.com/../../a": "http://example.com/a",
    "http://example.com/a/..": "http://example.com/",
    "http://example.com/a//b/": "http://example.com/a//b/",
    "http://example.com/%7Euser/%c3%a9": "http://example.com/~user/%C3%A9",
    "http://example.com/é?ü": "http://example.com/%C3%A9?%C3%BC",
    "http://example.com/100%": "http://example.com/100%25",
    "http://example.com/a%2Fb": "http://example.com/a%2Fb",
    "http://example.com/\\x": "http://example.com/%5Cx",
    "http://bücher.example/": "http://xn--bcher-kva.example/",
    "http://BÜCHER.example/": "http://xn--bcher-kva.example/",
    "http://\uff11\uff12\uff17.0.0.1/": "http://127.0.0.1/",
    "http://127\u30020\u30020\u30021/": "http://127.0.0.1/",
    "http://[::FFFF:127.0.0.1]:8080/": "http://[::ffff:7f00:1]:8080/",
    "http://[0:0:0:0:0:0:0:1]/": "http://[::1]/",
    " http://example.com/a\n": "http://example.com/a",
}


def test_urls_have_a_canonical_form() -> None:
    assert {written: str(parse_url(written)) for written in CANONICAL} == CANONICAL


REFUSED = {
    "file:///etc/passwd": "not an http or https url",
    "data:text/html,hello": "not an http or https url",
    "ftp://example.com/": "not an http or https url",
    "gopher://example.com:70/": "not an http or https url",
    "javascript:alert(1)": "not an http or https url",
    "jar:http://example.com/a!/": "not an http or https url",
    "//example.com/": "not an http or https url",
    "example.com": "not an http or https url",
    "": "not an http or https url",
    "http:example.com": "malformed url",
    "http:/example.com": "malformed url",
    "http:\\\\example.com": "malformed url",
    "http://": "malformed host",
    "http:///example.com": "malformed host",
    "http://\\example.com/": "malformed host",
    "http://a\\@127.0.0.1/": "user name in the url",
    "http://user:secret@example.com/": "user name in the url",
    "http://example.com@127.0.0.1/": "user name in the url",
    "http://@127.0.0.1/": "user name in the url",
    "http://2130706433/": "unusual spelling of an address",
    "http://0177.0.0.1/": "unusual spelling of an address",
    "http://0x7f.0.0.1/": "unusual spelling of an address",
    "http://0x7f000001/": "unusual spelling of an address",
    "http://127.1/": "unusual spelling of an address",
    "http://127.0.0.01/": "unusual spelling of an address",
    "http://0/": "unusual spelling of an address",
    "http://0x/": "unusual spelling of an address",
    "http://127.0.0.1.1/": "unusual spelling of an address",
    "http://256.1.1.1/": "unusual spelling of an address",
    "http://example.123/": "unusual spelling of an address",
    "http://127%2e0.0.1/": "unusual spelling of an address",
    "http://exa mple.com/": "malformed url",
    "http://example.com/a b": "malformed url",
    "http://example.com/\x00": "malformed url",
    "http://example.com/\r\nHost: x": "malformed url",
    "http://example.com:99999/": "malformed host",
    "http://example.com:0/": "malformed host",
    "http://example.com:8a/": "malformed host",
    "http://a..b/": "malformed host",
    "http://../": "malformed host",
    "http://-a.example/": "malformed host",
    "http://[fe80::1%25eth0]/": "malformed host",
    "http://[fe80::1%eth0]/": "malformed host",
    "http://[::1]x/": "malformed host",
    "http://[::1/": "malformed host",
    "http://::1/": "malformed host",
    "http://" + "a" * 64 + ".example/": "malformed host",
    "http://example.com/" + "a" * 5000: "url is too long",
}


def test_invalid_urls_are_refused() -> None:
    for written, reason in REFUSED.items():
        with pytest.raises(UrlError) as caught:
            parse_url(written)
        assert caught.value.reason == reason, written


def test_password_is_not_repeated() -> None:
    with pytest.raises(UrlError) as caught:
        parse_url("https://me:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)


JOINED = {
    "b": "http://example.com/a/b",
    "../b?x": "http://example.com/b?x",
    "/b": "http://example.com/b",
    "//Other.example/b": "http://other.example/b",
    "?q=1": "http://example.com/a/?q=1",
    "#part": "http://example.com/a/",
    "": "http://example.com/a/",
    " b c\n.html ": "http://example.com/a/b%20c.html",
    "https://x.example": "https://x.example/",
}


@pytest.mark.parametrize("reference", JOINED)
def test_relative_urls_are_joined(reference: str) -> None:
    assert str(join_url(parse_url("http://example.com/a/"), reference)) == JOINED[reference]


@pytest.mark.parametrize(
    "reference", ["mailto:a@b.c", "javascript:x", "data:,x", "http://[", "//["]
)
def test_invalid_relative_urls_are_refused(reference: str) -> None:
    with pytest.raises(UrlError):
        join_url(parse_url("http://example.com/a/"), reference)


texts = st.text(st.sampled_from(string.ascii_letters + string.digits + "/.%?&=#:@[]\\é ü\t~+-_*"))


@given(texts, st.sampled_from(["http://example.com/", "https://127.0.0.1:8/", "http://[::1]", ""]))
@example("%%34", "http://example.com/")
@example("%2e%2e//%2E/..", "http://example.com/")
def test_canonical_form_is_a_fixed_point(text: str, start: str) -> None:
    try:
        url = parse_url(start + text)
    except UrlError:
        return
    assert parse_url(str(url)) == url
    assert str(url).isascii() and "#" not in str(url) and " " not in str(url)


@given(texts, texts)
def test_joined_urls_are_canonical(path: str, reference: str) -> None:
    try:
        base = parse_url("http://example.com/" + path)
        url = join_url(base, reference)
    except UrlError:
        return
    assert parse_url(str(url)) == url


@given(texts)
def test_other_parsers_see_the_same_host(text: str) -> None:
    try:
        url = parse_url("http://" + text)
    except UrlError:
        return
    parts = urlsplit(str(url))
    assert (parts.hostname, parts.port or 80) == (url.host, url.port)
    assert (parts.username, parts.password) == (None, None)


def test_host_and_port() -> None:
    assert parse_host_and_port("Docs.Internal") == ("docs.internal", None)
    assert parse_host_and_port("127.0.0.1:8000") == ("127.0.0.1", 8000)
    assert parse_host_and_port("[::1]:80") == ("::1", 80)
    assert parse_host_and_port("[::1]") == parse_host_and_port("::1") == ("::1", None)
    for written in ("a:b", "a:0", "a:70000", "http://a", "a/b", ":80", ""):
        with pytest.raises(UrlError):
            parse_host_and_port(written)


def test_urls_are_ordered_by_parts() -> None:
    urls = [parse_url(text) for text in ("http://b/a", "http://a/b", "http://a/a", "http://a/a?x")]
    assert urls[2] < urls[1] < urls[0]
    assert isinstance(min(urls[:3]), Url)
