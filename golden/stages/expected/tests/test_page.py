"""The pages, which contain no data, and the texts for agents, which come from the index."""

import base64
import hashlib
import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from observatory import load
from observatory.index.documents import Documents
from observatory.index.records import count_of
from observatory.retrieval.filters import FilterColumns
from observatory.settings import settings

INDEX = load()
CONTENTS = INDEX.part(Documents.open)
DOCUMENTS = [*CONTENTS.page(limit=5)]
DOCUMENT = DOCUMENTS[0]
CHUNKS = [*CONTENTS.chunks_of(DOCUMENT)]
PLACE = f"/d/{quote(DOCUMENT.id, safe='')}"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGES = ["/", "/chat", "/docs", PLACE]
TOKEN = "a-token-of-at-least-32-characters"


@pytest.mark.parametrize("path", PAGES)
def test_page_runs_its_own_scripts_and_nothing_else(client: TestClient, path: str) -> None:
    page = client.get(path, headers=BROWSER)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    blocks = re.findall(r"(?s)<(script|style)>(.*?)</\1>", page.text)
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()) for _, text in blocks}
    assert hashes == {found.encode() for found in re.findall(r"'sha256-(.+?)'", policy)}
    # The page contains no data, so it is the same for every other document.
    other = client.get(path.replace(quote(DOCUMENT.id, safe=""), "other"), headers=BROWSER)
    assert other.text == page.text


def test_document_is_the_text_of_its_chunks(client: TestClient) -> None:
    markdown = client.get(PLACE + ".md")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert CHUNKS[0].text in markdown.text
    assert CHUNKS[-1].text[-20:] in markdown.text
    assert client.get(PLACE, headers={"Accept": "text/markdown"}).text == markdown.text
    assert client.get("/d/there-is-no-such-document").status_code == 404


def test_passages_of_a_document(client: TestClient) -> None:
    for document in DOCUMENTS:
        chunks = [chunk.to_json() for chunk in CONTENTS.chunks_of(document, limit=100)]
        whole = client.get("/chunks", params={"document": document.id}).json()
        linked = CONTENTS.each(CONTENTS.linked_from(document))
        links = [place.to_json() for one in linked for place in one.places()]
        assert whole["links"] == links[: len(whole["links"])]
        assert (whole["document"], whole["offset"]) == (document.to_json(), 0)
        assert whole["chunks"] == chunks
        for place, chunk in enumerate(chunks):
            asked = {"document": document.id, "around": chunk["id"], "limit": "2"}
            part = client.get("/chunks", params=asked).json()
            offset = max(0, place - 1)
            assert (part["offset"], part["chunks"]) == (offset, chunks[offset : offset + 2])
    for asked in ({"document": "nowhere"}, {"document": DOCUMENT.id, "around": "nowhere"}):
        assert client.get("/chunks", params=asked).status_code == 404


@pytest.mark.parametrize(
    ("accept", "is_page"),
    [
        ("text/html", True),
        ("*/*", False),
        ("text/markdown", False),
        ("text/markdown, text/html;q=0.5", False),
    ],
)
def test_only_browsers_get_pages_of_documents(
    client: TestClient, accept: str, is_page: bool
) -> None:
    for path in (PLACE, PLACE + ".md"):
        answer = client.get(path, headers={"Accept": accept})
        assert ("text/html" in answer.headers["content-type"]) == is_page
        assert answer.headers["vary"] == "Accept"


def test_about(client: TestClient) -> None:
    manifest, filters, chosen = INDEX.manifest, INDEX.part(FilterColumns.open), settings()
    about = client.get("/about").json()
    assert (
        about.items()
        >= {
            "title": chosen.title,
            "description": chosen.description,
            "documents": INDEX.document_count,
            "chunks": INDEX.chunk_count,
            "newest": filters.newest_date(),
            "sources": manifest.sources,
            "tags": manifest.tags[:1000],
            "media_types": filters.known_values("media_type", 50),
            "columns": [
                {"name": name, "values": filters.known_values(name, 50)} for name in filters.columns
            ],
            "examples": [*chosen.examples],
            "semantic": manifest.dense is not None,
            "chat": True,
        }.items()
    )


def test_lists_for_agents(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC_URL", "https://docs.example/")
    overview = client.get("/llms.txt").text
    assert overview.startswith(f"# {plain(settings().title)}\n\n")
    documents = count_of(INDEX.document_count, "document")
    assert f"{documents} in {count_of(INDEX.chunk_count, 'passage')}." in overview
    listed = re.findall(r"(?m)^- \[(.*)\]\((\S+)\)(?:: (.*))?$", overview)
    for document, (title, address, path) in zip(DOCUMENTS, listed, strict=False):
        assert title == plain(document.title)
        assert address == f"https://docs.example/d/{quote(document.id, safe='')}.md"
        assert path == ("" if document.path == document.title else plain(document.path))
    assert listed[-1][1] == "https://docs.example/openapi.json"
    assert len(listed) == min(INDEX.document_count, 1000) + 1


def plain(text: str) -> str:
    """Return a text on one line, with escapes for Markdown characters."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


def test_pages_need_no_token_and_data_does(
    monkeypatch: pytest.MonkeyPatch, new_client: Callable[[], TestClient]
) -> None:
    monkeypatch.setenv("API_TOKENS", TOKEN)
    client = new_client()
    for path in PAGES:
        assert client.get(path, headers=BROWSER).status_code == 200
    for path in (PLACE, PLACE + ".md", "/about", "/chunks", "/llms.txt"):
        assert client.get(path).status_code == 401
