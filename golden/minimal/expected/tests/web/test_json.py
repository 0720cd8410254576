"""Bodies in strict JSON, and failures as problem documents."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Query
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from workshop.errors import ConfigurationError, InvalidRequestError, ServerError
from workshop.index.records import Place
from workshop.web.problems import FAILURES, answer_failure
from workshop.web.routes import JsonResponse, JsonRoute


class TeapotError(ServerError):
    """A failure with its own reason."""

    reason = "It is a teapot."


class Body(BaseModel):
    """A body with one field."""

    number: int


RAISED: dict[str, Callable[[], Exception]] = {
    "busy": lambda: HTTPException(503, "Later.", {"Retry-After": "7"}),
    "filter": lambda: InvalidRequestError("is unknown", field="filters.colour"),
    "unusable": lambda: ConfigurationError("/a/secret/path", hint="mend it"),
    "named": lambda: ConfigurationError("/a/secret/path", reason="The engine is away."),
    "teapot": lambda: TeapotError("/a/secret/path"),
}


def make_client() -> TestClient:
    app = FastAPI(exception_handlers=dict.fromkeys(FAILURES, answer_failure))
    routes = APIRouter(route_class=JsonRoute)

    @routes.post("/body")
    async def take(body: Body) -> JsonResponse:
        return JsonResponse({"number": body.number, "half": body.number / 2})

    @routes.get("/body")
    async def show(number: Annotated[int, Query(ge=1)]) -> JsonResponse:
        return JsonResponse(Place("d1", "docs", str(number), None, "Pump"))

    @routes.api_route("/fail/{name}", methods=["GET", "PATCH"])
    async def fail(name: str) -> None:
        raise RAISED[name]()

    @routes.delete("/fail/{name}")
    async def forget(name: str) -> None:
        raise RAISED[name]()

    app.include_router(routes)
    return TestClient(app)


CLIENT = make_client()
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b'{"number": 3}', "application/json", 200),
        (b'{"number": 3}', "Application/JSON; charset=utf-8", 200),
        (b'{"number": 3}', "text/json", 415),
        (b'{"number": 3}', "application/x-www-form-urlencoded", 415),
        (b'{"number": 3}', "", 415),
        (b'{"number": NaN}', "application/json", 400),
        (b'{"number": Infinity}', "application/json", 400),
        (b'{"number": "\\ud800"}', "application/json", 400),
        (b'{"number": 3, "filters": {"\\ud800": 1}}', "application/json", 400),
        (b'{"number": ' + b"9" * 5_000 + b"}", "application/json", 400),
        (b'\xef\xbb\xbf{"number": 3}', "application/json", 400),
        (b'{"number": 3} {}', "application/json", 400),
        (b'{"number": ' + b"[" * 10_000, "application/json", 400),
        (b'{"number": 3', "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"number": "x"}', "application/json", 422),
        (b"", "application/json", 422),
    ],
)
def test_a_body_is_strict_json(content: bytes, media_type: str, status: int) -> None:
    answer = CLIENT.post("/body", content=content, headers={"Content-Type": media_type})
    assert answer.status_code == status
    if status == 200:
        assert (answer.content, answer.headers["content-type"]) == (
            b'{"number":3,"half":1.5}',
            "application/json",
        )
    else:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status


def test_a_record_is_written_as_its_json() -> None:
    answer = CLIENT.get("/body", params={"number": 2})
    assert answer.content == (
        b'{"document_id":"d1","source":"docs","path":"2","url":null,"title":"Pump"}'
    )


@pytest.mark.parametrize(
    ("method", "path", "status", "detail", "headers"),
    [
        ("GET", "/fail/busy", 503, "Later.", {"retry-after": "7"}),
        # In a query string, filters are parameters next to the query.
        ("GET", "/fail/filter", 422, "colour: is unknown", {}),
        ("PATCH", "/fail/filter", 422, "filters.colour: is unknown", {}),
        ("GET", "/fail/unusable", 503, "The index is not available.", {"retry-after": "5"}),
        ("GET", "/fail/named", 503, "The engine is away.", {"retry-after": "5"}),
        ("GET", "/fail/teapot", 503, "It is a teapot.", {"retry-after": "5"}),
        ("GET", "/body?number=0", 422, "number: input should be greater than or equal to 1", {}),
        ("PUT", "/fail/busy", 405, "Method Not Allowed", {"allow": "DELETE, GET, HEAD, PATCH"}),
        ("PUT", "/body", 405, "Method Not Allowed", {"allow": "GET, HEAD, POST"}),
        ("GET", "/nowhere", 404, "Not Found", {}),
    ],
)
def test_a_failure_is_a_problem_document(
    method: str, path: str, status: int, detail: str, headers: dict[str, str]
) -> None:
    answer = CLIENT.request(method, path)
    problem: dict[str, Any] = answer.json()
    field, colon, message = detail.partition(": ")
    errors = {"errors": [{"field": field, "message": message}]} if colon else {}
    assert problem == {
        "type": "about:blank",
        "title": problem["title"],
        "status": status,
        "detail": detail,
        **errors,
    }
    assert answer.status_code == status
    assert headers.items() <= answer.headers.items()
    assert ("retry-after" in answer.headers) == (status == 503)


def test_a_body_that_lacks_a_field_names_it() -> None:
    errors = CLIENT.post("/body", content=b"{}", headers=JSON).json()["errors"]
    assert errors == [{"field": "number", "message": "field required"}]
