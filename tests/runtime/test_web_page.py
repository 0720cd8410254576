"""The served pages, their data, and the documents for agents, on a real index."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from conftest import Project
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import TypeAdapter
from small_indexes import Note, make_document, write_documents
from starlette.testclient import TestClient

from foundry.documents import Place
from foundry.features.interfaces import pages_of
from foundry.indexing.versions import open_index
from foundry.rendering.copying import copy_pages
from foundry.runtime.errors import ConfigurationError
from foundry.runtime.index.documents import Documents, join_chunks
from foundry.runtime.index.reader import Index
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.settings import Limits
from foundry.runtime.web import page as web_page
from foundry.runtime.web.middleware import Middleware
from foundry.runtime.web.page import FOLDER, DocumentPassages, Page, is_page
from foundry.runtime.web.problems import FAILURES, PROBLEM_RESPONSES, answer_failure

PAGES = pages_of({"page", "chat", "folders"})
SCRIPTS = sorted(FOLDER.glob("*.js"))
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}

CONFIG = """
[project]
name = "notes"
title = "Notes *on* [things]"
description = "Two lines\\nand <b>no</b> markup."

[[sources]]
type = "records"
path = "records.jsonl"
id = "id"
title = "title"
text = "text"
text_format = "markdown"

[chunking]
strategy = "recursive"
max_chars = 300
overlap = 100
"""
LONG = "\n\n".join(f"Paragraph {n} says {'more words of its own ' * 5}." for n in range(40))
RECORDS = [
    {"id": "guide/a b.md", "title": "A [guide](javascript:x)", "text": LONG},
    {"id": "...", "title": "Dots", "text": "Three dots make an id."},
    {"id": "plain", "title": "Plain", "text": "A plain document."},
]


class Parts(HTMLParser):
    """Everything in a page that could run or load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self.attributes: list[tuple[str, str, str | None]] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, _tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside in self.blocks:
            self.blocks[self._inside].append(data)


def directives(policy: str) -> dict[str, list[str]]:
    return {words[0]: words[1:] for words in (part.split() for part in policy.split(";"))}


@pytest.mark.parametrize("name", PAGES)
def test_policy_names_every_block_by_its_hash(name: str) -> None:
    page = Page.read(name)
    parts = Parts(page.body.decode())
    policy = directives(page.policy)
    for kind, blocks in parts.blocks.items():
        assert len(blocks) >= 2
        hashes = [b64encode(sha256(block.encode()).digest()).decode() for block in blocks]
        assert policy[f"{kind}-src"] == [f"'sha256-{digest}'" for digest in hashes]
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert policy["frame-ancestors"] == policy["trusted-types"] == ["'none'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert policy["connect-src"] == ["'self'"]
    pictures = ["blob:"] if name == "document.html" else []
    assert policy["img-src"] == ["data:", *pictures]
    assert "unsafe" not in page.policy


@pytest.mark.parametrize("name", PAGES)
def test_page_loads_nothing_and_has_no_inline_handlers(name: str) -> None:
    for tag, attribute, value in Parts(Page.read(name).body.decode()).attributes:
        assert not attribute.startswith("on") and attribute not in {"style", "src", "srcset"}
        if attribute == "href":
            assert re.fullmatch(r"data:image/svg.*|\./|[a-z.]+|#[a-z]+", value or ""), (tag, value)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_create_no_markup_from_text(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(|srcdoc"
        r"|createContextualFragment|DOMParser|setHTML|\bimport\(|localStorage|document\.cookie"
        r"|https?://|javascript:(?!`)"
    )
    # The name of a namespace is not an address.
    assert not re.search(forbidden, text.replace('"http://www.w3.org/1998/Math/MathML"', ""))
    assert text.startswith('"use strict";\n')
    assert len(text.splitlines()) <= 300


def test_every_file_belongs_to_a_page() -> None:
    every = pages_of({"page", "chat", "folders", "search_box"})
    assert set(copy_pages(every, "a")) == {f"a/page/{path.name}" for path in FOLDER.iterdir()}
    without_chat = copy_pages(pages_of({"page"}), "a")
    assert not [path for path in without_chat if "chat" in path or "box" in path]
    assert pages_of({"chat"}) == []
    some = copy_pages(PAGES, "a", {"package/page/suggest.css", "package/page/suggest.js"})
    assert "a/page/search.js" in some
    assert not [path for path, text in some.items() if "suggest" in path or b"suggest." in text]
    for style in FOLDER.glob("*.css"):
        assert not re.search(r"url\(|@import|@font-face", style.read_text(encoding="utf-8"))


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of #rrggbb."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in style.split("@media")[:2]]
    for theme in themes:
        assert len(theme) == 13
        for text, ground in [
            *((text, "paper") for text in ("ink", "muted", "accent", "danger", "good", "keyword")),
            *((text, "panel") for text in ("ink", "muted", "accent", "danger", "good", "keyword")),
            *((text, "cited") for text in ("ink", "muted", "accent")),
            ("ink", "mark"),
            ("accent", "mark"),
        ]:
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
        for part in ("control", "semantic", "keyword"):
            assert contrast(theme[part], theme["paper"]) >= 3, part


def test_file_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(web_page, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=r"page/search\.html is unreadable"):
        Page.read("search.html")
    (tmp_path / "search.html").write_text('<script src="a.js"></script>')
    with pytest.raises(ConfigurationError, match=r"page/a\.js is unreadable"):
        Page.read("search.html")


@pytest.mark.parametrize(
    ("method", "path", "accept", "expected"),
    [
        ("GET", "/", "*/*", True),
        ("GET", "/chat", "", True),
        ("GET", "/docs", "text/html", True),
        ("POST", "/chat", "text/html", False),
        ("POST", "/", "text/html", False),
        ("GET", "/d/x", "text/html", True),
        ("GET", "/d/x", "TEXT/HTML;q=0.9, */*", True),
        ("GET", "/d/x.md", "text/html", True),
        ("GET", "/d/x", "*/*", False),
        ("GET", "/d/x", "", False),
        ("GET", "/d/x", "text/markdown, text/html", False),
        ("POST", "/d/x", "text/html", False),
        ("GET", "/d", "text/html", False),
        ("GET", "/search", "text/html", False),
        ("GET", "/documents", "text/html", False),
        ("GET", "//", "text/html", False),
        ("GET", "/docs/", "text/html", False),
        ("GET", "/llms.txt", "text/html", False),
    ],
)
def test_requests_for_pages_are_recognised(
    method: str, path: str, accept: str, expected: bool
) -> None:
    headers = [(b"host", b"x"), (b"accept", accept.encode())]
    assert is_page({"method": method, "path": path, "headers": headers}) is expected


def chunk(start: int, text: str, line: int) -> ChunkRecord:
    place = {
        "start": start,
        "end": start + len(text),
        "line_start": line,
        "line_end": line + text.count("\n"),
    }
    return ChunkRecord("c", "d", "t", text, [], place, "s", "p", None, [], None, [])


@given(
    st.text("ab \n", min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(1, 30)), min_size=1, max_size=8),
)
def test_joined_text_repeats_nothing(text: str, cuts: Sequence[tuple[int, int]]) -> None:
    spans = sorted({(start % len(text), start % len(text) + size) for start, size in cuts})
    chunks = [chunk(start, text[start:end], 1 + text.count("\n", 0, start)) for start, end in spans]
    joined = "".join(join_chunks(chunks))
    covered = {place for start, end in spans for place in range(start, min(end, len(text)))}
    kept = "".join(text[place] for place in sorted(covered))
    assert joined.replace(" ", "").replace("\n", "") == kept.replace(" ", "").replace("\n", "")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.root / "foundry.toml").write_text(CONFIG)
    lines = "\n".join(json.dumps(record) for record in RECORDS)
    (project.root / "records.jsonl").write_text(lines)
    project.succeed("build", "--quiet")
    return open_index(project.index, vectors=True)


@pytest.fixture
def client(index: Index, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    chosen = SimpleNamespace(
        title="Notes *on* [things]",
        description="Two lines\nand <b>no</b> markup.",
        examples=("Where is it?", "And when?"),
    )
    monkeypatch.setattr(web_page, "current_index", lambda: index)
    monkeypatch.setattr(web_page, "settings", lambda: chosen)
    monkeypatch.setenv("PUBLIC_URL", "https://notes.example")
    yield make_client()


def make_client() -> TestClient:
    app = FastAPI(
        docs_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(FAILURES, answer_failure),
        responses=PROBLEM_RESPONSES,
    )
    app.include_router(web_page.page_routes())
    app.include_router(web_page.agent_routes)
    app.add_middleware(
        Middleware,
        allowed_hosts=frozenset(),
        limits=Limits(connections=9, searches=9, streams=9),
        max_body_bytes=1000,
    )
    return TestClient(app, base_url="http://127.0.0.1:8000")


def place(document_id: str, end: str = "") -> str:
    return f"/d/{quote(document_id, safe='')}{end}"


def passages(client: TestClient, **asked: Any) -> DocumentPassages:
    answer = client.get("/chunks", params=asked)
    assert answer.status_code == 200, answer.text
    return TypeAdapter(DocumentPassages).validate_json(answer.content, strict=True)


def test_passages_come_in_pages(client: TestClient, index: Index) -> None:
    record = index.part(Documents.open).find("guide/a b.md")
    assert record is not None
    chunks = [*index.part(Documents.open).chunks_of(record)]
    assert len(chunks) > 20
    first = passages(client, document=record.id, limit=5)
    assert [found.id for found in first.chunks] == [known.id for known in chunks[:5]]
    assert first.document.chunks == len(chunks)
    rest = passages(client, document=record.id, offset=5)
    assert [found.id for found in rest.chunks] == [known.id for known in chunks[5:105]]
    assert passages(client, document=record.id, offset=10_000).chunks == []
    both = {"document": record.id, "around": chunks[12].id, "offset": 5}
    refused = client.get("/chunks", params=both)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "around")
    around = passages(client, document=record.id, around=chunks[12].id, limit=5)
    assert around.offset == 10
    assert around.chunks[2].id == chunks[12].id
    assert passages(client, document=record.id, around=chunks[1].id).offset == 0


def test_passages_contain_the_targets_of_their_links(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [
        Note("One", ("The first.",), links=(2, 1)),
        Note("Two", ("The second.",)),
        Note("Three", ("The third.",), links=(0,)),
    ]
    first, second, third = (make_document(*each) for each in enumerate(notes))
    copy = Place("copied", "notes", "copy.md", None, "Copy")
    second = (replace(second[0], also_at=(copy,)), second[1])
    folder = write_documents(tmp_path / "v", [first, second, third])
    linked = open_index(folder, vectors=True)
    monkeypatch.setattr(web_page, "current_index", lambda: linked)
    one, two, three = linked.part(Documents.open).page()
    found = passages(client, document=one.id).links
    assert [place.document_id for place in found] == [three.id, two.id, "copied"]
    assert (found[1].title, found[1].path, found[2].path) == ("Two", two.path, "copy.md")
    assert passages(client, document=two.id).links == []
    assert [place.document_id for place in passages(client, document=three.id).links] == [one.id]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 422),
        ({"document": "nowhere"}, 404),
        ({"document": "plain", "around": "nowhere"}, 404),
        ({"document": "plain", "limit": "101"}, 422),
        ({"document": "plain", "offset": "-1"}, 422),
        ({"document": "plain", "colour": "red"}, 422),
    ],
)
def test_invalid_requests_for_passages(
    client: TestClient, asked: dict[str, str | list[str]], status: int
) -> None:
    answer = client.get("/chunks", params=asked)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_document_as_markdown(client: TestClient) -> None:
    for path in (place("guide/a b.md"), place("guide/a b.md", ".md"), "/d/guide/a%20b.md"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.headers["content-security-policy"] == "default-src 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["vary"] == "Accept"
        assert " ".join(answer.text.split()) == " ".join(LONG.split())
    assert client.get("/d/plain").text == "A plain document.\n"
    wanted = {"Accept": "text/markdown, text/html, */*"}
    assert client.get("/d/plain", headers=wanted).text == "A plain document.\n"
    assert client.get("/d/nowhere").status_code == 404
    assert client.get("/d/nowhere.md").status_code == 404


def test_browsers_get_a_page_for_missing_documents(client: TestClient) -> None:
    for path, way in (("/nowhere", "./"), ("/a/b/nowhere.html", "../../")):
        answer = client.get(path, headers=BROWSER)
        assert (answer.status_code, answer.headers["content-type"][:9]) == (404, "text/html")
        assert "There is nothing at this address." in answer.text
        assert f'href="{way}"' in answer.text
        assert client.get(path).headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/settings.json",
        "/page/page.js",
        "/page.js",
        "/search.html",
        "/chat.html",
        "/docs/page.css",
        "/%00",
        "/d",
        "/d/",
        "/d/..%2f..%2fsettings.json",
        "/d/..%5c..%5csettings.json",
        "/d/%2fetc%2fpasswd",
        "/d/%00",
        "/d/%ff",
    ],
)
def test_no_path_opens_a_file(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    browsed = client.get(path, headers=BROWSER)
    assert browsed.status_code == 404 or browsed.content == Page.read("document.html").body


def test_llms_txt_lists_documents_whatever_their_titles(client: TestClient) -> None:
    text = client.get("/llms.txt").text
    tokens = MarkdownIt().parse(text)
    inlines = [token for token in tokens if token.type == "inline"]
    assert inlines[0].content == "Notes \\*on\\* \\[things\\]"
    assert [token.type for token in tokens[3:5]] == ["blockquote_open", "paragraph_open"]
    links = [
        str(child.attrs["href"])
        for inline in inlines
        for child in inline.children or []
        if child.type == "link_open"
    ]
    assert links == [
        "https://notes.example/d/guide%2Fa%20b.md.md",
        "https://notes.example/d/....md",
        "https://notes.example/d/plain.md",
        "https://notes.example/openapi.json",
    ]


def test_llms_txt_is_capped(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "MAX_LISTED", 1)
    text = client.get("/llms.txt").text
    assert text.count("https://notes.example/d/") == 1
    assert "2 more: `GET https://notes.example/documents?offset=1`" in text


def test_scripts_and_styles_of_the_owner_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_page, "FOLDER", tmp_path)
    for name in ("our-hours2.js", "our_hours-2.css"):
        (tmp_path / name).write_text("/* hours */")
    (tmp_path / "own.html").write_text(
        '<link rel="stylesheet" href="our_hours-2.css">\n<script src="our-hours2.js"></script>\n'
    )
    page = Page.read("own.html")
    assert page.body == b"<style>/* hours */</style>\n<script>/* hours */</script>\n"
    assert page.policy.count("'sha256-") == 2
