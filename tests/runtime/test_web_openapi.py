"""Schemathesis over the OpenAPI document of an exported server: no input causes a 5xx."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from conftest import CONFIG, write_project
from hypothesis import HealthCheck, given, settings
from servers import get, in_checkout, post, serving

POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
REFUSED = {400, 422}
LAST_TURN = ("the last message must", "query must")
BEYOND_SCHEMAS = {
    "/search": ("facets: this server was exported without it",),
    "/chat": LAST_TURN,
    "/v1/chat/completions": LAST_TURN,
    "/v1/embeddings": ("has too few known words", "dimensions: must be 256"),
}
"""Rejections of requests that match the schema, which cannot say everything."""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("formatted_once")]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with its own filter, and without a limit for chats."""
    config = (
        f'{CONFIG}metadata = ["team"]\n[search]\nfilterable = ["team"]\n'
        "[server]\nopenai = true\nchat_requests_per_minute = 0\n"
    )
    page = "---\nteam: pit\n---\n# Pump\n\nIt needs a seal.\n"
    project = write_project(tmp_path_factory.mktemp("openapi"), {"a.md": page}, config, built=True)
    with serving(in_checkout(project.export()), LOG_LEVEL="error") as address:
        yield address


def test_any_request_is_answered_or_refused(address: str) -> None:
    asked: dict[str, set[int]] = {}
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy() | operation.as_strategy(generation_mode=NEGATIVE))
        def check(case: schemathesis.Case) -> None:
            response = case.call()
            asked.setdefault(f"{case.method} {case.path}", set()).add(response.status_code)
            assert response.status_code < 500, response.text
            # Under /v1, errors have the format that OpenAI clients expect.
            if response.status_code >= 400 and not case.path.startswith("/v1/"):
                assert response.headers["content-type"] == ["application/problem+json"]

        check()
    assert {"POST /search", "GET /search", "GET /documents/{document_id}"} <= set(asked)
    assert asked["POST /search"] >= {200, 422}


def test_requests_that_match_the_schema_are_not_refused(address: str) -> None:
    asked: dict[str, set[int]] = {}
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=POSITIVE))
        def check(case: schemathesis.Case) -> None:
            response = case.call()
            asked.setdefault(f"{case.method} {case.path}", set()).add(response.status_code)
            assert response.status_code < 500, response.text
            is_said = any(words in response.text for words in BEYOND_SCHEMAS.get(case.path, ()))
            assert response.status_code not in REFUSED or is_said, response.text

        check()
    for path in ("POST /search", "GET /search"):
        assert {200} <= asked[path] <= {200, 422}
    assert 200 in asked["POST /chat"]
    # Random words are rarely in the index.
    known = {"model": "any", "input": "The pump needs a seal."}
    assert len(post(f"{address}/v1/embeddings", known)["data"]) == 1


def test_every_reference_resolves(address: str) -> None:
    document = get(f"{address}/openapi.json")
    references = set(references_of(document))
    assert "#/components/schemas/Hit" in references
    for reference in references:
        found = document
        for key in reference.removeprefix("#/").split("/"):
            found = found[key]


def references_of(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references_of(value)
    elif isinstance(part, list):
        for value in part:
            yield from references_of(value)
