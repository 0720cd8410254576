"""Parsing a language model's stream: reasoning, ends and errors in every form."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foundry.runtime.model.events import read_events
from foundry.runtime.model.replies import AnswerFilter, ModelError, read_event

ANSWER = "The new pump has a seal of rubber [1]. It lasts."
THOUGHTS = "Let me think. Passage [2] has a pump? Hmm, "
FORMS = [
    ("", ""),
    ("", "</think>\n\n"),
    ("\n<think>\n", "\n</think>\n\n"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>\n"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
    ("<think></think><think>", "</think>"),
]


def passed(text: str, cuts: list[int]) -> str:
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    answer = AnswerFilter()
    said = "".join(answer.feed(text[start:end]) for start, end in pairwise(ends))
    return said + answer.finish()


@pytest.mark.parametrize(("opened", "closed"), FORMS)
@example([])
@example([*range(200)])
@given(cuts=st.lists(st.integers(0, 200), max_size=12))
def test_reasoning_is_left_out_however_text_is_split(
    opened: str, closed: str, cuts: list[int]
) -> None:
    thoughts = THOUGHTS * 9 if closed else ""
    assert passed(f"{opened}{thoughts}{closed}{ANSWER}", cuts) == ANSWER


@pytest.mark.parametrize(
    "said",
    ["<", "<thin", "So <think> is an element.", "</think>", "Ends with `</think>` [1].", "a"],
)
def test_text_that_only_looks_like_reasoning_is_shown(said: str) -> None:
    assert passed(said, []) == passed(said, [*range(99)]) == said


def test_an_answer_is_held_back_until_its_first_citation() -> None:
    answer = AnswerFilter()
    assert answer.feed("The pump has ") == ""
    assert answer.feed("a seal [1]") == "The pump has a seal [1]"
    assert answer.feed(" of rubber") == " of rubber"
    assert AnswerFilter().feed("word " * 200) == "word " * 200


def test_a_model_that_omits_the_opening_tag_is_remembered() -> None:
    first = AnswerFilter()
    first.feed("Hmm. </think>Fine.")
    assert first.is_closing
    later = AnswerFilter(is_closing=first.is_closing)
    assert later.feed("Passage [1] says so. ") == ""
    assert later.feed("</think>Yes [1]") == "Yes [1]"


@pytest.mark.parametrize("said", ["<think>Hm.", "Let me see. ", "Okay, the user wants"])
def test_truncated_reasoning_is_not_an_answer(said: str) -> None:
    answer = AnswerFilter()
    assert answer.feed(said) == ""
    assert answer.is_reasoning
    assert answer.finish(is_cut=True) == ""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *((one, "stop") for one in ("stop", "STOP", "eos_token", "end_turn", "FinishReason.STOP")),
        *((one, "length") for one in ("length", "model_length", "MAX_TOKENS", "max_output_tokens")),
        *(
            (one, "error")
            for one in ("error", "abort", "cancelled", "insufficient_system_resource")
        ),
        *((one, "filter") for one in ("content_filter", "SAFETY", "recitation", "something new")),
        (None, None),
    ],
)
def test_stream_ends(written: str | None, read: str | None) -> None:
    event = {"choices": [{"delta": {"content": "x"}, "finish_reason": written}]}
    assert read_event(json.dumps(event)).finish_reason == read


@pytest.mark.parametrize(
    ("delta", "text", "is_reasoning"),
    [
        ({"content": "x"}, "x", False),
        ({"content": None, "role": "assistant"}, "", False),
        ({"reasoning_content": "hm", "content": None}, "", True),
        ({"reasoning": "hm"}, "", True),
        ({"reasoning_details": [{"text": "hm"}]}, "", True),
        ({"thinking_blocks": [{}], "content": ""}, "", True),
        ({"content": "x", "reasoning_content": ""}, "x", False),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]},
            "",
            True,
        ),
        ({"content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}, "xy", False),
        ({"content": [{"type": "reference", "reference_ids": [1]}, "z"]}, "z", True),
    ],
)
def test_forms_of_content(delta: dict[str, Any], text: str, is_reasoning: bool) -> None:
    chunk = read_event(json.dumps({"choices": [{"delta": delta}]}))
    assert (chunk.text, chunk.is_reasoning) == (text, is_reasoning)


class Streamed:
    """A reply that is streamed in the given pieces."""

    def __init__(self, pieces: list[str], kind: str = "text/event-stream") -> None:
        self.headers = {"content-type": kind}
        self._pieces = pieces

    async def aiter_text(self) -> AsyncIterator[str]:
        for piece in self._pieces:
            yield piece


def chunks_of(reply: Streamed) -> list[str]:
    async def read() -> list[str]:
        events = read_events(cast(Any, reply), 1_000)
        return [read_event(event.data, event.name).text async for event in events]

    return asyncio.run(read())


HELLO = 'data: {"choices": [{"delta": {"content": "hello"}}]}\n\n'


@pytest.mark.parametrize(
    "told",
    [
        'data: {"error": {"message": "out of memory", "code": 500}}\n\n',
        'data: {"error": "out of memory"}\n\n',
        'data: {"object": "error", "message": "out of memory", "code": 500}\n\n',
        'data: {"type": "error", "error": {"type": "overloaded_error"}}\n\n',
        'data: {"detail": "Internal Server Error"}\n\n',
        'data: {"message": "overloaded"}\n\n',
        'data: {"code": 503}\n\n',
        'data: {"choices": [{"error": {"code": 502}, "delta": {"content": ""}}]}\n\n',
        'event: error\ndata: {"message": "overloaded"}\n\n',
        "event: error\ndata: overloaded\n\n",
        'error: {"code": 500, "message": "no slot"}\n\n',
        '{"error": "out of memory"}\n',
        '{"error": {"message": "out of memory"}}',
        "data: 500: Internal Server Error\n\n",
    ],
)
def test_errors_within_a_stream(told: str) -> None:
    for pieces in ([HELLO + told], [*(HELLO + told)], [(HELLO + told).replace("\n", "\r\n")]):
        with pytest.raises(ModelError):
            chunks_of(Streamed(pieces))


def test_other_events_are_ignored() -> None:
    others = (
        ': wait\n\ndata: {"choices": [], "usage": null}\n\nevent: ping\ndata: {"type": "ping"}\n\n'
    )
    said = ["hello", "", "", "hello"]
    assert chunks_of(Streamed([HELLO + others + HELLO])) == said
    assert chunks_of(Streamed([*(HELLO + others + HELLO).replace("\n", "\r\n")])) == said


def test_reply_without_streaming_is_read_as_one_event() -> None:
    whole = json.dumps({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]})
    assert chunks_of(Streamed([*whole], "application/json; charset=utf-8")) == ["hello"]
    with pytest.raises(ModelError, match="broke off"):
        chunks_of(Streamed(["<html>"], "text/html"))
    with pytest.raises(ModelError, match="too long"):
        chunks_of(Streamed(["data: " + "x" * 999, "y" * 9]))
