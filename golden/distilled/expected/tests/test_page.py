"""The pages and what agents read: pages hold no data, texts are those of the index."""

import base64
import hashlib
import re
from urllib.parse import quote

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from lighthouse import load
from lighthouse.app import create_app
from lighthouse.web.page import DocumentPassages

INDEX = load()
DOCUMENT = INDEX.documents(limit=1)[0]
CHUNKS = INDEX.chunks_of(DOCUMENT)
PLACE = f"/d/{quote(DOCUMENT.id, safe='')}"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGES = ["/", "/docs", PLACE]
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
    assert DOCUMENT.title not in re.sub(r"(?s)<(script|style)>.*?</\1>", "", page.text)


def test_document_is_the_text_of_its_chunks(client: TestClient) -> None:
    markdown = client.get(PLACE + ".md")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert CHUNKS[0].text in markdown.text
    assert CHUNKS[-1].text[-20:] in markdown.text
    assert client.get(PLACE, headers={"Accept": "text/markdown"}).text == markdown.text
    assert client.get("/d/there-is-no-such-document").status_code == 404


def test_passages_of_a_document(client: TestClient) -> None:
    asked = {"document": DOCUMENT.id, "around": CHUNKS[-1].id}
    found = TypeAdapter(DocumentPassages).validate_json(client.get("/chunks", params=asked).content)
    assert CHUNKS[-1].id in [chunk.id for chunk in found.chunks]
    assert found.document.chunks == len(CHUNKS)


def test_about_and_lists(client: TestClient) -> None:
    about = client.get("/about").json()
    assert (about["documents"], about["chunks"]) == (INDEX.document_count, INDEX.chunk_count)
    assert [column["name"] for column in about["columns"]] == list(INDEX.filters.columns)
    assert f"{PLACE}.md" in client.get("/llms.txt").text
    assert CHUNKS[0].text in client.get("/llms-full.txt").text


def test_pages_need_no_token_and_data_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKENS", TOKEN)
    client = TestClient(create_app(), base_url="http://127.0.0.1:8000")
    for path in PAGES:
        assert client.get(path, headers=BROWSER).status_code == 200
    for path in (PLACE, PLACE + ".md", "/about", "/chunks", "/llms.txt", "/llms-full.txt"):
        assert client.get(path).status_code == 401
