"""The chat for OpenAI's clients: the same answers, in their shape."""

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from observatory import load

PATH = "/v1/chat/completions"
MESSAGES = [{"role": "user", "content": load().chunk(0).title}]


@pytest.fixture
def body(client: TestClient) -> dict[str, Any]:
    """A question to the one model that there is."""
    (model,) = client.get("/v1/models").json()["data"]
    assert client.get(f"/v1/models/{model['id']}").json() == model
    return {"model": model["id"], "messages": MESSAGES}


def test_answer_is_that_of_the_chat(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post(PATH, json=body).json()
    stream = client.post("/chat", json={"messages": MESSAGES}).text
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", stream)
    text = "".join(json.loads(data)["text"] for name, data in events if name == "delta")
    assert answer["sources"] == json.loads(events[0][1])["sources"]
    assert answer["choices"][0]["message"]["content"].startswith(text)


def test_answer_is_streamed(client: TestClient, body: dict[str, Any]) -> None:
    whole = client.post(PATH, json=body).json()["choices"][0]["message"]["content"]
    *chunks, last = client.post(PATH, json={**body, "stream": True}).text.split("data: ")[1:]
    assert last == "[DONE]\n\n"
    deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content", "") for delta in deltas) == whole


@pytest.mark.parametrize(
    ("fields", "status", "param"),
    [
        ({"model": "x"}, 404, "model"),
        ({"tools": [{"type": "function"}]}, 400, "tools"),
        ({"n": 2}, 400, "n"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"messages": []}, 400, "messages"),
    ],
)
def test_refusal_names_its_field(
    client: TestClient, body: dict[str, Any], fields: dict[str, Any], status: int, param: str
) -> None:
    response = client.post(PATH, json={**body, **fields})
    assert response.status_code == status
    assert response.json()["error"]["param"] == param


def test_what_changes_no_answer_is_ignored(client: TestClient, body: dict[str, Any]) -> None:
    fields = {"user": "me", "seed": 1, "n": 1, "tools": [], "not_invented_yet": True}
    assert client.post(PATH, json={**body, **fields}).status_code == 200
