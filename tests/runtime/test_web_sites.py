"""Requests from pages of other sites: those for the search box get its token, if allowed."""

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.settings import SETTINGS_FILE
from foundry.runtime.web import page as web_page
from foundry.runtime.web import sites as web_sites
from foundry.runtime.web.sites import BOX_PATHS, ForSites, Sites, box_routes

SITE, OTHER = "https://docs.example.com", "https://other.example"
TOKEN = "a-token-of-at-least-32-characters"
SITES = Sites(frozenset({SITE}), b"Bearer " + TOKEN.encode())
ALLOWED = "access-control-allow-origin"


def pass_on(sites: Sites = SITES, **given: Any) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the request's headers after the middleware, and those of the response."""
    seen: list[tuple[str, str]] = []
    answered: list[tuple[bytes, bytes]] = []
    headers = [(name.encode(), value.encode()) for name, value in given.pop("headers", [])]
    scope = {"type": "http", "method": "GET", "path": "/search", "headers": headers, **given}

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.extend((name.decode(), value.decode()) for name, value in scope["headers"])
        own = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        raise AssertionError("asks for no body")

    async def send(message: Message) -> None:
        answered.extend(message.get("headers", []))

    asyncio.run(ForSites(app, sites)(scope, receive, send))
    return seen, {name.decode(): value.decode() for name, value in answered}


@pytest.mark.parametrize("path", BOX_PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_requests_of_an_allowed_site_get_the_token_of_the_search_box(
    path: str, method: str
) -> None:
    headers = [("host", "x"), ("origin", SITE)]
    seen, answered = pass_on(headers=headers, path=path, method=method)
    assert seen == [("host", "x"), ("authorization", f"Bearer {TOKEN}")]
    assert answered == {"content-type": "text/plain", "vary": "Origin", ALLOWED: SITE}
    seen, _ = pass_on(Sites(frozenset({SITE})), headers=headers, path=path)
    assert seen == [("host", "x")]
    own = [*headers, ("authorization", "Bearer own")]
    assert pass_on(headers=own, path=path)[0] == [("host", "x"), ("authorization", "Bearer own")]


@pytest.mark.parametrize(
    "given",
    [
        {"method": "POST", "headers": [("origin", SITE)]},
        {"headers": [("origin", OTHER)]},
        {"headers": [("origin", "null")]},
        {"headers": [("origin", f"{SITE}/")]},
        {"headers": [("origin", SITE), ("origin", SITE)]},
        {"headers": []},
        {"method": "OPTIONS", "headers": [("origin", SITE)]},
        {
            "method": "OPTIONS",
            "headers": [("origin", SITE), ("access-control-request-method", "POST")],
        },
    ],
)
def test_other_requests_are_not_changed(given: dict[str, Any]) -> None:
    seen, answered = pass_on(**given)
    assert seen == given["headers"]
    assert answered == {"content-type": "text/plain", "vary": "Origin"}


@pytest.mark.parametrize("path", ["/", "/about", "/search/", "/documents", "/suggest.js"])
def test_other_paths_have_no_cors_headers(path: str) -> None:
    seen, answered = pass_on(path=path, headers=[("origin", SITE)])
    assert (seen, answered) == ([("origin", SITE)], {"content-type": "text/plain"})


def test_script_needs_no_token() -> None:
    seen, answered = pass_on(path="/search.js", headers=[("host", "x")])
    assert seen == [("host", "x"), ("authorization", f"Bearer {TOKEN}")]
    assert ALLOWED not in answered


def test_other_protocols_are_passed_on() -> None:
    seen, answered = pass_on(type="lifespan", path="/search", headers=[("origin", SITE)])
    assert (seen, answered) == ([("origin", SITE)], {"content-type": "text/plain"})


def test_preflight_requests_are_answered() -> None:
    headers = [("origin", SITE), ("access-control-request-method", "GET")]
    seen, answered = pass_on(method="OPTIONS", headers=headers)
    assert seen == [*headers[1:], ("authorization", f"Bearer {TOKEN}")]
    assert answered[ALLOWED] == SITE
    app = FastAPI()
    app.include_router(box_routes())
    for path in BOX_PATHS:
        response = TestClient(app).options(path)
        assert (response.status_code, response.content) == (204, b"")
        assert response.headers["access-control-allow-methods"] == "GET"
        assert response.headers["access-control-max-age"] == "600"
    assert not app.openapi()["paths"]


@pytest.mark.parametrize("suggestions", [False, True])
def test_the_script_is_one_function_including_its_style(suggestions: bool) -> None:
    app = FastAPI()
    app.include_router(box_routes(suggestions=suggestions))
    response = TestClient(app).get("/search.js")
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=3600"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    begin, style, suggests, *_, end = response.text.splitlines()[1:]
    assert response.text.startswith('(() => {\n"use strict";\n')
    assert (begin, end) == ('"use strict";', "})();")
    sheet = web_page.read_page_file("box.css")
    assert json.loads(style.removeprefix("const STYLE = ").removesuffix(";")) == sheet
    assert suggests == f"const SUGGESTS = {str(suggestions).lower()};"
    assert "function markedNodes(" in response.text and "const ROOT = " in response.text


def test_unreadable_script_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(web_page, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=r"page/box\.css is unreadable") as caught:
        box_routes()
    assert caught.value.hint == "restore it from a trusted copy"


def test_settings_and_tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / SETTINGS_FILE.name
    file.write_text(json.dumps({"allowed_origins": [SITE]}))
    reading = web_sites.reading
    monkeypatch.setattr(web_sites, "reading", lambda: reading(file))
    monkeypatch.delenv("SEARCH_BOX_TOKEN", raising=False)
    assert Sites.read() == Sites(frozenset({SITE}), None)
    monkeypatch.setenv("SEARCH_BOX_TOKEN", TOKEN)
    with pytest.raises(
        ConfigurationError, match="SEARCH_BOX_TOKEN is not one of API_TOKENS"
    ) as one:
        Sites.read()
    assert one.value.hint == "add it to API_TOKENS, or unset SEARCH_BOX_TOKEN"
    known = [sha256(each.encode()).digest() for each in (TOKEN, f"{TOKEN}2")]
    assert Sites.read(known) == SITES
    monkeypatch.delenv("SEARCH_BOX_TOKEN")
    with pytest.raises(ConfigurationError, match="has no token") as other:
        Sites.read(known)
    assert str(other.value.hint).startswith(
        "set SEARCH_BOX_TOKEN to one of them; everything it may see"
    )
