"""The events of a language model's answer, with a fake model and a fake search."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.chat.conversation import ENGLISH, Conversation, Turn
from foundry.runtime.chat.model_answer import ModelChat, is_readable, search_both
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.model.replies import BudgetSpentError, ModelChunk, ModelError
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import (
    Match,
    SearchResponse,
    respond,
)

INDEX: Any = SimpleNamespace(
    tokenizer=Tokenizer("english"),
    manifest=SimpleNamespace(dense=None),
    chunk_count=10,
    keyword_lane=SimpleNamespace(frequency=lambda _: 1),
)
ASKED = [Turn("user", "When is the valve replaced?")]
FOLLOWED_UP = [*ASKED, Turn("assistant", "Yearly. [1]"), Turn("user", "Who replaces it?")]
SENTENCE = "The valve is replaced yearly."
SOURCE = {"number": 1, "id": "c0", "title": "Valves", "url": "https://docs.example/valves"}
HIT = sample_hit(
    id="c0",
    document_id="d",
    title="Valves",
    text=SENTENCE,
    section=["Valves"],
    path="valves.md",
    url=str(SOURCE["url"]),
    modified="2024-03-04",
)


class PlayedModel:
    """A language model that yields these chunks and raises the errors among them."""

    def __init__(self, *pieces: ModelChunk | ModelError) -> None:
        self.settings = SimpleNamespace(max_tokens=64)
        self.pieces = pieces
        self.condensed: ModelChunk | ModelError = ModelError("took too long")
        self.asked: list[tuple[int, dict[str, Any]]] = []
        self.prompts: list[list[dict[str, str]]] = []

    async def stream(
        self, messages: list[dict[str, str]], max_tokens: int, **options: Any
    ) -> AsyncGenerator[ModelChunk, None]:
        self.prompts.append(messages)
        self.asked.append((max_tokens, options))
        for piece in self.pieces:
            if isinstance(piece, ModelError):
                raise piece
            yield piece

    async def complete(self, *_: object) -> ModelChunk:
        if isinstance(self.condensed, ModelError):
            raise self.condensed
        return self.condensed


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("extracts", "model_answer"):
        monkeypatch.setattr(f"foundry.runtime.chat.{module}.current_index", lambda: INDEX)


def events(
    model: PlayedModel | None,
    turns: Sequence[Turn] = ASKED,
    *texts: str,
    match: Match = "strong",
    unknown: tuple[str, ...] = (),
    **options: Any,
) -> list[tuple[str, dict[str, Any]]]:
    """The events of an answer, with a search that finds passages with these texts."""

    async def search(query: str, top_k: int, *, filters: Any) -> SearchResponse:
        assert (top_k, filters) == (3, {"tags": "odd"})
        hits = (
            replace(HIT, id=f"c{number}", text=text)
            for number, text in enumerate(texts or (SENTENCE,))
        )
        stages: dict[str, dict[str, Any]] = {"query_length": {}}
        journal = Journal(query, top_k, unknown_identifiers=unknown, stages=stages)
        return respond(journal, hits, match)

    played: Any = model
    chat = ModelChat(search, played, "Be brief.")

    async def collect() -> list[tuple[str, dict[str, Any]]]:
        answer = chat.answer(Conversation(turns, 3, {"tags": "odd"}, **options))
        return [(event.event, event.to_json()) async for event in answer]

    return asyncio.run(collect())


def done(found: list[tuple[str, dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """The text of an answer, and its last event."""
    (first, _), *deltas, (last, end) = found
    assert (first, {name for name, _ in deltas} - {"delta"}, last) == ("sources", set(), "done")
    return "".join(data["text"] for _, data in deltas), end


def test_a_models_answer_is_streamed_with_its_usage() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    model = PlayedModel(
        ModelChunk("Yearly"), ModelChunk(". [1"), ModelChunk("][7]"), ModelChunk("", "stop", usage)
    )
    found = events(model)
    assert found[0] == (
        "sources",
        {
            "query": ASKED[0].content,
            "query_from": "question",
            "query_notice": None,
            "mode": "hybrid",
            "reason": "default",
            "degraded": False,
            "match": "strong",
            "unknown_identifiers": [],
            "stages": {"query_length": {}},
            "sources": [
                {
                    **SOURCE,
                    "document_id": "d",
                    "section": ["Valves"],
                    "path": "valves.md",
                    "position": {},
                    "text": SENTENCE,
                    "score": 0.5,
                    "modified": "2024-03-04",
                }
            ],
        },
    )
    assert [data["text"] for name, data in found if name == "delta"] == ["Yearly", ".", " [1", "]"]
    assert found[-1] == (
        "done",
        {
            "mode": "model",
            "reason": "default",
            "notice": None,
            "cited": [SOURCE],
            "truncated": False,
            "usage": usage,
            "unsupported": [],
        },
    )


def test_unsupported_sentences_are_reported() -> None:
    model = PlayedModel(
        ModelChunk("The valve is replaced yearly. [1] It was made in"),
        ModelChunk(" 1931. [1]"),
        ModelChunk("", "stop"),
    )
    text, end = done(events(model, match="weak"))
    (found,) = end["unsupported"]
    assert found == {"sentence": "It was made in 1931. [1]", "lacks": "number", "missing": ["1931"]}
    assert found["sentence"] in text
    doubt = "The passages do not support a sentence of this answer."
    assert end["notice"] == f"The documents may not answer this. {doubt}"


def test_names_in_earlier_turns_need_no_support() -> None:
    named = [Turn("user", "Dr Quist asks when the valve is replaced."), Turn("assistant", "Why?")]
    said = ModelChunk("The valve is replaced yearly, says Quist. [1]"), ModelChunk("", "stop")
    ask = Turn("user", "When is the valve replaced yearly?")
    assert done(events(PlayedModel(*said), [ask]))[1]["unsupported"]
    assert not done(events(PlayedModel(*said), [*named, ask]))[1]["unsupported"]


@pytest.mark.parametrize(("wanted", "asked"), [(None, 64), (63, 63), (65, 64)])
def test_callers_can_lower_the_token_limit_only(wanted: int | None, asked: int) -> None:
    model = PlayedModel(ModelChunk("Yearly."), ModelChunk("", "length"))
    text, end = done(events(model, max_tokens=wanted, options={"temperature": 0.5}))
    assert (text, end["truncated"], end["usage"]) == ("Yearly.", True, None)
    assert model.asked == [(asked, {"temperature": 0.5})]


def test_a_broken_off_answer_ends_with_an_error() -> None:
    found = events(PlayedModel(ModelChunk("Yea"), ModelError("took too long")))
    assert found[1:] == [
        ("delta", {"text": "Yea"}),
        ("error", {"message": "The language model took too long."}),
    ]


FAILED = PlayedModel(ModelError("took too long"))
SPENT = PlayedModel(BudgetSpentError("has used up today's calls"))
NOTHING = "Nothing was found in the documents about this."
NO_MODEL = "Extracted from the documents."
TOO_LONG = "Extracted from the documents; the language model took too long."
NO_CALLS = "Extracted from the documents; the language model has used up today's calls."
NO_PASSAGE = "Nothing was found in the documents about this; the language model took too long."
HEDGED = f"The documents may not answer this; the closest sentences are:\n\n{SENTENCE} [1]"


@pytest.mark.parametrize(
    ("model", "match", "unknown", "text", "reason", "notice"),
    [
        (None, "strong", (), f"{SENTENCE} [1]\n\n{NO_MODEL}", "no_model", NO_MODEL),
        (FAILED, "weak", (), f"{HEDGED}\n\n{TOO_LONG}", "model_failed", TOO_LONG),
        (SPENT, "weak", (), f"{HEDGED}\n\n{NO_CALLS}", "budget_spent", NO_CALLS),
        (FAILED, "none", (), NO_PASSAGE, "model_failed", NO_PASSAGE),
        (None, "none", (), NOTHING, "nothing_found", "No passage is close enough to the question."),
        *(
            (model, "weak", ("D40", "D41"), text, "nothing_found", text)
            for model in (None, FAILED)
            for text in ["The documents do not mention D40, D41."]
        ),
    ],
)
def test_a_failed_model_is_replaced_by_extracts(
    model: PlayedModel | None,
    match: Match,
    unknown: tuple[str, ...],
    text: str,
    reason: str,
    notice: str,
) -> None:
    found = events(model, match=match, unknown=unknown)
    assert done(found) == (
        text,
        {
            "mode": "extractive",
            "reason": reason,
            "notice": notice,
            "cited": [SOURCE] if "[1]" in text else [],
            "truncated": False,
            "usage": None,
        },
    )
    assert found[0][1]["unknown_identifiers"] == list(unknown)


@pytest.mark.parametrize(
    ("match", "notice"),
    [
        ("strong", None),
        ("weak", "The documents may not answer this."),
        ("none", "Nothing in the documents matches well."),
    ],
)
def test_a_model_and_its_readers_are_told_of_a_doubtful_match(
    match: Match, notice: str | None
) -> None:
    model = PlayedModel(ModelChunk("Yearly."), ModelChunk("", "stop"))
    found = events(model, match=match)
    assert done(found)[1]["notice"] == notice
    ((_, asked),) = model.prompts
    assert ("The search is not sure" in asked["content"]) == (match != "strong")


@pytest.mark.parametrize(
    ("condensed", "query", "origin", "notice"),
    [
        (ModelChunk(" Who replaces\nvalves? "), "Who replaces valves?", "model", None),
        (ModelChunk("x" * 500), "x" * 500, "model", None),
        (ModelChunk("x" * 501), None, "conversation", "The language model sent no usable query."),
        (ModelChunk(" \n"), None, "conversation", "The language model sent no usable query."),
        (ModelError("took too long"), None, "conversation", "The language model took too long."),
    ],
)
def test_a_model_words_the_query_of_a_follow_up(
    condensed: ModelChunk | ModelError, query: str | None, origin: str, notice: str | None
) -> None:
    model = PlayedModel(ModelChunk("A mechanic."), ModelChunk("", "stop", {"total_tokens": 2}))
    model.condensed = condensed
    if isinstance(condensed, ModelChunk):
        model.condensed = ModelChunk(condensed.text, "stop", {"total_tokens": 5})
    found = events(model, FOLLOWED_UP)
    sources, end = found[0][1], found[-1][1]
    joined = f"{ASKED[0].content} {FOLLOWED_UP[-1].content}"
    assert [sources[name] for name in ("query", "query_from", "query_notice")] == [
        query or joined,
        origin,
        notice,
    ]
    assert sources.get("also_searched") == (joined if origin == "model" else None)
    # The tokens of the reply are counted even if the reply was unusable.
    assert end["usage"] == {"total_tokens": 7 if isinstance(condensed, ModelChunk) else 2}


def found_by(match: Match, *ids: str, unknown: tuple[str, ...] = ()) -> SearchResponse:
    journal = Journal("q", unknown_identifiers=unknown)
    return respond(journal, (replace(HIT, id=name) for name in ids), match)


@pytest.mark.parametrize(
    ("worded", "own", "ids", "match"),
    [
        # The better match comes first; on a tie, the model's query.
        (found_by("none", "x", "y", "z"), found_by("strong", "a", "b"), "axb", "strong"),
        (found_by("weak", "x", "y", "z"), found_by("weak", "a", "b"), "xay", "weak"),
        (found_by("strong", "x", "a"), found_by("weak", "a", "b"), "xab", "strong"),
        (found_by("strong"), found_by("none", "a"), "a", "strong"),
        (found_by("none", "x", "y", "z", "z1"), found_by("none"), "xyz", "none"),
    ],
)
def test_a_models_query_does_not_decide_alone(
    worded: SearchResponse, own: SearchResponse, ids: str, match: Match
) -> None:
    asked: list[str] = []

    async def search(query: str, top_k: int, *, filters: Any) -> SearchResponse:
        asked.append(query)
        unknown = ("D99",) if query == "x" else ("D45",)
        return replace(worded if query == "x" else own, query=query, unknown_identifiers=unknown)

    found = asyncio.run(search_both(search, "Who replaces it?", "x", 3, filters=None))
    assert asked == ["x", "Who replaces it?"]
    assert [hit.id for hit in found.hits] == list(ids)
    assert (found.query, found.match, found.unknown_identifiers) == ("x", match, ("D45",))


def test_a_model_words_what_is_in_another_language_too() -> None:
    model = PlayedModel(ModelChunk("A mechanic."), ModelChunk("", "stop"))
    model.condensed = ModelChunk("Who replaces it?", "stop")
    russian = Turn(
        "user", "\u043f\u043e\u0447\u0435\u043c\u0443 \u043a\u043b\u0430\u043f\u0430\u043d"
    )
    assert events(model, [*FOLLOWED_UP[:-1], russian])[0][1]["query_from"] == "model"
    assert events(model, [russian])[0][1]["query_from"] == "question"
    assert events(None, FOLLOWED_UP)[0][1]["query_from"] == "conversation"


def test_thanks_are_answered_without_a_search() -> None:
    (_, sources), (_, delta), (_, end) = events(FAILED, [*FOLLOWED_UP[:-1], Turn("user", "thanks")])
    assert (sources["query"], sources["query_from"], sources["sources"]) == (None, "none", [])
    assert delta["text"].startswith("You are welcome.")
    assert (end["mode"], end["reason"], end["cited"]) == ("extractive", "acknowledgement", [])


def test_what_a_model_took_for_the_query_is_counted_without_an_answer_of_it() -> None:
    model = PlayedModel(ModelError("took too long"))
    model.condensed = ModelChunk("Who replaces valves?", "stop", {"total_tokens": 5})
    assert events(model, FOLLOWED_UP)[-1][1]["usage"] == {"total_tokens": 5}


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Why caf\u00e9s?", "english", True),
        ("Why caf\u00e9s?", "german", False),
        ("\u043f\u043e\u0447\u0435\u043c\u0443", "english", False),
        ("Why \u6771?", "english", False),
    ],
)
def test_a_message_in_another_language_cannot_be_read(
    text: str, language: str, expected: bool
) -> None:
    index: Any = SimpleNamespace(tokenizer=Tokenizer(language))
    assert is_readable(text, index, ENGLISH) == expected
