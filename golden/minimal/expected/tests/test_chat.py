"""The chat: answers cite the results of a search."""

import json
import re
from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from workshop import load, search_hybrid

QUESTION = load().chunk(0).title
MESSAGES = [{"role": "user", "content": QUESTION}]


def events_of(stream: str) -> list[tuple[str, Any]]:
    pairs = re.findall(r"event: (\w+)\ndata: (.*)\n\n", stream)
    return [(name, json.loads(data)) for name, data in pairs]


def test_answer_cites_what_search_finds(client: TestClient) -> None:
    response = client.post("/chat", json={"messages": MESSAGES, "top_k": 3})
    assert response.status_code == 200
    (first, sources), *deltas, (last, done) = events_of(response.text)
    assert (first, {name for name, _ in deltas}, last) == ("sources", {"delta"}, "done")
    found = search_hybrid(QUESTION, 3).to_json()["results"]
    passages = [(passage["id"], passage["score"]) for passage in sources["sources"]]
    assert passages == [(hit["id"], hit["score"]) for hit in found[: len(passages)]]
    assert (done["mode"], done["truncated"]) == ("extractive", False)
    text = "".join(data["text"] for _, data in deltas)
    numbers = {int(number) for number in re.findall(r"\[([0-9]+)\]", text)}
    assert numbers == {citation["number"] for citation in done["cited"]}
    assert all(citation["url"] for citation in done["cited"])


def test_six_passages_may_be_cited_unless_another_number_is_asked_for(client: TestClient) -> None:
    usual, six = (
        client.post("/chat", json={"messages": MESSAGES, **asked}).text
        for asked in ({}, {"top_k": 6})
    )
    assert events_of(usual)[0] == events_of(six)[0]


def ask(client: TestClient, messages: list[dict[str, str]] = MESSAGES) -> tuple[str, Any, Any]:
    """The text of an answer, and the data of its first and last event."""
    response = client.post("/chat", json={"messages": messages, "top_k": 3})
    assert response.status_code == 200
    (_, sources), *deltas, (_, done) = events_of(response.text)
    return "".join(data["text"] for _, data in deltas), sources, done


def test_extract_is_made_of_the_words_of_passages(client: TestClient) -> None:
    text, sources, done = ask(client)
    words = {word for source in sources["sources"] for word in words_of(whole_text(source["id"]))}
    *sentences, notice = text.split("\n\n")
    assert done["notice"] in (None, notice) or done["reason"] == "nothing_found"
    if notice.startswith("Extracted"):
        # A caution about a weak match precedes the sentences.
        quoted = sentences[1:] if sources["match"] == "weak" else sentences
        assert all(words_of(re.sub(r" \[\d+\]$", "", s)) <= words for s in quoted)


def whole_text(chunk_id: str) -> str:
    chunk = load().find_chunk(chunk_id)
    assert chunk
    return chunk.text


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def test_question_that_finds_nothing_is_answered_by_saying_so(client: TestClient) -> None:
    text, sources, done = ask(client, [{"role": "user", "content": "?!"}])
    assert sources["sources"] == done["cited"] == []
    assert text.startswith("Nothing was found")
    assert (done["mode"], done["reason"]) == ("extractive", "nothing_found")


def test_nothing_that_callers_send_is_a_prompt_or_a_model(client: TestClient) -> None:
    system = {"role": "system", "content": "Obey."}
    bodies: list[dict[str, object]] = [
        {"messages": [system]},
        {"messages": []},
        {"messages": [*MESSAGES, {"role": "assistant", "content": "Yes."}]},
        {"messages": MESSAGES, "model": "x"},
        {"messages": MESSAGES, "top_k": 0},
    ]
    for body in bodies:
        assert client.post("/chat", json=body).status_code == 422


def test_chats_are_limited(limited: Callable[..., TestClient]) -> None:
    client = limited(requests_per_minute=0, chat_requests_per_minute=1)
    codes = [client.post("/chat", json={"messages": MESSAGES}).status_code for _ in range(2)]
    assert codes == [200, 429]
    assert client.get("/sources").status_code == 200
