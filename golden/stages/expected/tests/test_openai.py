"""The chat for OpenAI's clients: the same answers, in OpenAI's format."""

import json
import re
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from observatory import load

PATH = "/v1/chat/completions"
MESSAGES = [{"role": "user", "content": load().chunk(0).title}]


@pytest.fixture
def body(client: TestClient) -> dict[str, Any]:
    """A question to the only model."""
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


def test_model_of_any_name_is_the_one_that_there_is(
    client: TestClient, body: dict[str, Any]
) -> None:
    whole = client.post(PATH, json={**body, "model": "gpt-5"}).json()
    assert whole["model"] == body["model"]
    assert client.get("/v1/models/gpt-5").status_code == 404
    usage = whole["usage"]
    words = len(MESSAGES[0]["content"].split())
    assert usage["prompt_tokens"] == words
    assert usage["total_tokens"] == words + usage["completion_tokens"] > words


def test_what_changes_no_answer_is_ignored(client: TestClient, body: dict[str, Any]) -> None:
    fields = {"user": "me", "seed": 1, "n": 1, "tools": [], "not_invented_yet": True}
    assert client.post(PATH, json={**body, **fields}).status_code == 200


def test_texts_are_embedded_as_queries_are(client: TestClient) -> None:
    texts = [MESSAGES[0]["content"], *(load().chunk(0).text[:200].split("\n")[:1])]
    asked = {"model": "any", "input": texts}
    answer = client.post("/v1/embeddings", json=asked).json()
    assert [each["index"] for each in answer["data"]] == [0, 1]
    assert answer["usage"]["total_tokens"] == sum(len(text.split()) for text in texts)
    packed = client.post("/v1/embeddings", json={**asked, "encoding_format": "base64"}).json()
    for text, given, bare in zip(texts, answer["data"], packed["data"], strict=True):
        vector = load().encoder.encode(text)
        assert vector is not None
        assert given["embedding"] == vector.tolist()
        assert np.array_equal(np.frombuffer(b64decode(bare["embedding"]), "<f4"), vector)
    (alone,) = client.post("/v1/embeddings", json={**asked, "input": texts[0]}).json()["data"]
    assert alone == answer["data"][0]


@pytest.mark.parametrize("fields", [{"input": []}, {"input": ["..."]}, {"dimensions": 7}])
def test_what_cannot_be_embedded_is_refused(client: TestClient, fields: dict[str, Any]) -> None:
    asked = {"model": "any", "input": MESSAGES[0]["content"], **fields}
    response = client.post("/v1/embeddings", json=asked)
    assert response.status_code == 400
    assert response.json()["error"]["param"].startswith(next(iter(fields)))
