"""The URLs of passages and documents."""

from dataclasses import replace

import pytest
from samples import sample_chunk

from workshop.errors import ConfigurationError
from workshop.index.documents import DocumentRecord
from workshop.web.citations import announce, document_url, public_url, record_path

CITATIONS = "workshop.web.citations"
CHUNK = sample_chunk(id="a/b#~1", document_id="a/b#", path="b.md")
DOCUMENT = DocumentRecord(
    *("a/b#", "Title", "docs", "b.md", None, "text/plain", "", 4, None, [], {}, "text", [], 1, 0)
)


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUBLIC_URL", raising=False)
    monkeypatch.setattr(f"{CITATIONS}._served_at", "")


@pytest.mark.parametrize(
    ("has_pages", "expected"),
    [
        (True, ["/d/a%2Fb%23#a%2Fb%23~1", "/d/a%2Fb%23"]),
        (False, ["/chunks/a%2Fb%23~1", "/documents/a%2Fb%23"]),
    ],
)
def test_records_are_cited_as_pages_or_else_as_json(
    has_pages: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{CITATIONS}.HAS_PAGES", has_pages)
    assert [record_path(CHUNK), record_path(DOCUMENT)] == expected


def test_url_is_the_sources_or_else_this_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert document_url(CHUNK) == document_url(DOCUMENT) == "b.md"
    announce("127.0.0.1", 8000)
    assert document_url(CHUNK) == f"http://127.0.0.1:8000{record_path(CHUNK)}"
    monkeypatch.setenv("PUBLIC_URL", "https://docs.example/help/")
    assert document_url(DOCUMENT) == f"https://docs.example/help{record_path(DOCUMENT)}"
    assert document_url(replace(CHUNK, url="https://b.example")) == "https://b.example"


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("fe80::1%eth0", "http://[fe80::1]:80"),
    ],
)
def test_public_url_defaults_to_the_listening_address(address: str, url: str) -> None:
    announce(address, 80)
    assert public_url() == url


def test_invalid_public_url_is_refused_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC_URL", "docs.example")
    with pytest.raises(ConfigurationError, match="PUBLIC_URL"):
        announce("127.0.0.1", 80)
