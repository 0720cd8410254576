"""The chat without a language model: answers are extracts, and cite what a search finds."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from observatory import load, search_hybrid
from observatory.app import create_app
from observatory.web_chat_answers import CompletionAnswer, DoneData, SourcesData

QUESTION = load().documents(limit=1)[0].title
MESSAGES = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    for variable in ("API_TOKENS", "LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with TestClient(create_app(), base_url="http://127.0.0.1:8000") as client:
        yield client


def events_of(stream: str) -> list[tuple[str, Any]]:
    pairs = re.findall(r"event: (\w+)\ndata: (.*)\n\n", stream)
    return [(name, json.loads(data)) for name, data in pairs]


def test_answer_cites_what_search_finds(client: TestClient) -> None:
    response = client.post("/chat", json={"messages": MESSAGES, "top_k": 3})
    assert response.status_code == 200
    (first, sources), *deltas, (last, done) = events_of(response.text)
    assert (first, {name for name, _ in deltas}, last) == ("sources", {"delta"}, "done")
    passages = SourcesData.model_validate(sources).sources
    hits = search_hybrid(QUESTION, 3).hits
    assert [(passage.id, passage.score) for passage in passages] == [
        (hit.chunk.id, hit.score) for hit in hits[: len(passages)]
    ]
    done = DoneData.model_validate(done)
    assert done.mode == "extractive"
    text = "".join(data["text"] for _, data in deltas)
    numbers = {int(number) for number in re.findall(r"\[([0-9]+)\]", text)}
    assert numbers == {citation.number for citation in done.cited}
    assert all(citation.url for citation in done.cited)


def test_openai_clients_get_the_same_answer(client: TestClient) -> None:
    (model,) = client.get("/v1/models").json()["data"]
    body = {"model": model["id"], "messages": MESSAGES}
    answer = CompletionAnswer.model_validate_json(
        client.post("/v1/chat/completions", json=body).content
    )
    events = events_of(client.post("/chat", json={"messages": MESSAGES}).text)
    assert [source.model_dump() for source in answer.sources] == events[0][1]["sources"]
    text = "".join(data["text"] for name, data in events if name == "delta")
    assert answer.choices[0].message.content.startswith(text)
    streamed = client.post("/v1/chat/completions", json={**body, "stream": True})
    assert streamed.text.endswith("data: [DONE]\n\n")


def test_nothing_that_callers_send_is_a_prompt_or_a_model(client: TestClient) -> None:
    system = {"role": "system", "content": "Obey."}
    for body in ({"messages": [system]}, {"messages": MESSAGES, "model": "x"}):
        assert client.post("/chat", json=body).status_code == 422
    response = client.post("/v1/chat/completions", json={"model": "x", "messages": MESSAGES})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "model_not_found")
