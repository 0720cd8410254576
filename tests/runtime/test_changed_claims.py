"""Sentences that change the meaning of a passage are marked; paraphrases are not."""

from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.chat.answer import number_passages
from foundry.runtime.chat.support import find_unsupported
from foundry.runtime.index.tokens import Tokenizer

INDEX: Any = SimpleNamespace(
    tokenizer=Tokenizer("english"),
    manifest=SimpleNamespace(dense=None),
    chunk_count=40,
    keyword_lane=SimpleNamespace(frequency=lambda _: 1),
)


def passage(text: str, title: str, path: str) -> Any:
    return number_passages([sample_hit(title=title, text=text, path=path, url="")])


def lacks(sentence: str, text: str, title: str = "Guide", path: str = "guide.md") -> list[str]:
    found = find_unsupported(sentence, passage(text, title, path), "", INDEX)
    return [one.lacks for one in found]


RETURNS = (
    "Unopened goods can be returned within 30 days, no questions asked. Opened goods cannot be"
    " returned. The refund is paid to the card that was used."
)
VALVES = (
    "The intake valve must be inspected before the outlet valve. A sealed valve is not painted."
    " Higher pressure leads to shorter intervals and more inspections.\n\n"
    "| Valve | Torque | Weight |\n|---|---|---|\n"
    "| Intake | 40 Nm | 3 kg |\n| Outlet | 95 Nm | 8 kg |"
)
BEES = (
    "The average summer worker lives for around 6 weeks. The average winter worker lives for around"
    " 6 months. If the colony is small, leaving two cells is a good idea."
)


@pytest.mark.parametrize(
    ("text", "said", "changed", "lack"),
    [
        (
            RETURNS,
            "You can return unopened goods within 30 days, without any questions asked.",
            "Unopened goods can be returned within 30 weeks.",
            "number",
        ),
        (
            RETURNS,
            "Goods that are opened cannot be returned.",
            "Opened goods can be returned.",
            "negation",
        ),
        (
            RETURNS,
            "The refund is not only paid, but paid to the card that was used.",
            "The refund is not paid to the card that was used.",
            "negation",
        ),
        (
            VALVES,
            "A sealed valve stays unpainted.",
            "A sealed valve is painted.",
            "negation",
        ),
        (
            VALVES,
            "Higher pressure means shorter intervals and more inspections.",
            "Higher pressure leads to longer intervals and fewer inspections.",
            "negation",
        ),
        (
            VALVES,
            "The torque of the intake valve is 40 Nm.",
            "The torque of the intake valve is 95 Nm.",
            "number",
        ),
        (
            VALVES,
            "The outlet valve has a weight of 8000 grams.",
            "The outlet valve has a weight of 8 pounds.",
            "number",
        ),
        (
            VALVES,
            "The intake valve must be inspected before the outlet valve.",
            "The intake valve must be inspected after the outlet valve.",
            "negation",
        ),
        (
            BEES,
            "A winter worker lives for around six months on average.",
            "The average winter worker lives for around 6 weeks.",
            "number",
        ),
    ],
)
def test_changed_claims_are_marked(text: str, said: str, changed: str, lack: str) -> None:
    assert lacks(said, text) == []
    assert lacks(changed, text) == [lack]


ROLES = (
    "Anna Lund trained the team that Marc Dale led."
    " Bake it for 30 minutes with a lid, then for 20 minutes without."
)


@pytest.mark.parametrize(
    ("said", "changed", "lack"),
    [
        (
            "Anna Lund trained the team of Marc Dale.",
            "Marc Dale trained the team that Anna Lund led.",
            "words",
        ),
        (
            "Bake it with a lid for half an hour.",
            "Bake it for 20 minutes with a lid, then for 30 minutes without.",
            "number",
        ),
    ],
)
def test_swapped_words_are_marked(said: str, changed: str, lack: str) -> None:
    assert lacks(said, ROLES) == []
    assert lacks(changed, ROLES) == [lack]


def test_quoted_sentences_are_not_marked_because_of_their_neighbours() -> None:
    steps = "- Try to start it. It must not start. Put the control back to off.\n"
    assert lacks("It must not start.", steps) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The filter is used instead of a sieve.", "A filter is used rather than a sieve."),
        ("Water keeps the coal from packing.", "With water the coal does not pack."),
        ("The filter stops listening to sensors.", "The filter no longer listens to sensors."),
        ("A nest costs 30 % more than a package.", "A package costs 30% less than a nest."),
        ("Uncapped cells are removed.", "Cells that are not capped are removed."),
        ("Do no other work until it is below 1 percent.", "Below 1 percent other work may go on."),
        ("The strips stay in for two weeks.", "The strips stay in for 14 days."),
        ("The default is 90 minutes.", "The default is 1.5 hours."),
    ],
)
def test_paraphrases_are_not_marked(text: str, said: str) -> None:
    assert lacks(said, text) == []


def test_names_may_occur_in_title_or_path() -> None:
    said = "On Wayland, the window of Anki has no border."
    text = "Here the window has no border."
    assert lacks(said, text, "Wayland", "src/anki/linux.md") == []
    assert lacks(said, text, "Wayland", "src/linux.md") == ["name"]
    assert lacks(said, text, "Displays", "src/anki/linux.md") == ["name"]
