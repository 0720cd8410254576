"""Which messages of a conversation are follow-ups, and the queries made from them."""

from types import SimpleNamespace
from typing import Any

import pytest

from workshop.chat.conversation import Turn, kind_of, query_of
from workshop.index.tokens import Tokenizer

FIRST = "What is at the Lamp Shrine?"
ENGLISH = Tokenizer("english")
KNOWN = frozenset(ENGLISH.terms("lamp shrine refund germany week"))
INDEX: Any = SimpleNamespace(
    tokenizer=ENGLISH, keyword_lane=SimpleNamespace(frequency=lambda term: int(term in KNOWN))
)
"""An index that has these words and no others."""


def after(text: str, *earlier: str, cited: tuple[str, ...] = ()) -> list[Turn]:
    """A conversation whose last message is `text`."""
    turns = []
    for question in earlier or (FIRST,):
        turns += [Turn("user", question), Turn("assistant", "Lamps. [1]", cited)]
    return [*turns, Turn("user", text)]


@pytest.mark.parametrize(
    "text",
    [
        "give me an example",
        "Explain that more simply, please.",
        "and who wrote it?",
        "Who keeps it?",
        "why?",
        "What about refunds?",
        "and in Germany?",
        "but only refunds in Germany?",
        "and refunds in Germany within a week?",
        "And if I wait two weeks?",
        "in Germany?",
        "for a refund",
        "after a refund?",
        "at which shrine?",
        "for which refunds?",
        "only the refunds in Germany",
        "same for refunds?",
        "?",
        "?!",
        "Really?",
        "are you sure?",
        "Is it possible?",
        "How long does it take?",
        "What if the lamp goes out at night?",
        "but for a shrine outside the town?",
        "what about lamps of other people?",
        "Which people use it?",
        "When was she born?",
        "Does it need an annual maintenance contract?",
        "If it breaks, what do I do?",
        "who wrote that, and when?",
        "in German please",
        "which one is cheaper?",
        "Does that rule apply to lamps?",
        "What happens after that?",
        "Is it " + "very " * 21 + "good?",
    ],
)
def test_messages_that_refer_back_are_follow_ups(text: str) -> None:
    assert kind_of(after(text), INDEX) == "follow_up"
    assert kind_of([Turn("user", text)], INDEX) == "question"


@pytest.mark.parametrize(
    "text",
    [
        "Who is Orsel Vane?",
        "Who is Orsel Vane and where does she live?",
        "And what is the capital of France?",
        "In which town is the capital of France?",
        "and in Portugal?",
        "And how long does a lamp of the shrine burn?",
        "So tell me what a lamp costs in Germany.",
        "But can a refund be had within a week?",
        "Does a lamp smoke when it is lit?",
        "Is it possible to export invoices?",
        "How long does it take to ship a parcel?",
        "How do I reset a lamp that is broken?",
        "PII-2024-0042",
        "and D45?",
        "What is PII-2024-0042, and who closed it?",
        "Lamp Shrine",
        "Is it " + "very " * 22 + "good?",
        "why" + " " * 2000,
    ],
)
def test_complete_questions_are_not_follow_ups(text: str) -> None:
    assert kind_of(after(text), INDEX) == "question"


@pytest.mark.parametrize("text", ["thanks", "Ok, great!", "Thank you very much.", "got it", "ok"])
def test_thanks_are_acknowledgements(text: str) -> None:
    assert kind_of(after(text), INDEX) == "acknowledgement"
    assert kind_of([Turn("user", text)], INDEX) == "question"
    assert kind_of(after(f"{text} and who wrote it?"), INDEX) == "follow_up"
    assert kind_of(after(f"{text}?"), INDEX) == "follow_up"
    offered = [Turn("user", FIRST), Turn("assistant", "Shall I go on? "), Turn("user", text)]
    assert kind_of(offered, INDEX) == "follow_up"
    assert kind_of([*offered[:-1], Turn("user", f"no, {text}")], INDEX) == "acknowledgement"


def test_thanks_with_a_question_are_questions() -> None:
    assert kind_of(after("thanks, now compare the lamp with a refund"), INDEX) == "question"


def test_continuations_with_over_two_content_words_are_questions() -> None:
    assert kind_of(after("And how does a lamp burn?"), INDEX) == "follow_up"
    assert kind_of(after("And how does a lamp of the shrine burn?"), INDEX) == "question"


def test_the_query_of_a_follow_up_includes_what_it_refers_to() -> None:
    turns = after("And where does she live?", cited=("Lamp Shrine > Keepers", "Refunds"))
    assert query_of(turns, INDEX) == f"{FIRST} And where does she live? Lamp Shrine > Keepers"
    # A message without content words adds nothing, and earlier questions are not used.
    turns = after("give me an example", "Refund policy", FIRST, "Who keeps it?", "thanks")
    assert query_of(turns, INDEX) == f"{FIRST} Who keeps it?"


def test_a_query_is_bounded() -> None:
    follow_ups = [f"who {verb} it?" for verb in "paid built lit saw ate".split()]
    turns = after(follow_ups[-1], FIRST, *follow_ups[:-1])
    assert query_of(turns, INDEX) == " ".join([FIRST, *follow_ups[1:]])
    turns = after("who lit it?", cited=("x" * 121,))
    assert query_of(turns, INDEX) == f"{FIRST} who lit it? {'x' * 120}"
    turns = after("who lit it?", "Lamp" * 600)
    assert query_of(turns, INDEX) == ("Lamp" * 600)[-1987:] + " who lit it?"
