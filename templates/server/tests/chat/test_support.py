"""The sentences of a model's answer, checked against the passages that they cite."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.chat.answer import number_passages
from foundry.runtime.chat.claims import numbers_of, read_claims
from foundry.runtime.chat.quoting.units import sentences
from foundry.runtime.chat.support import MAX_CLAIMS, find_unsupported
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.results import Hit

FREQUENCIES = {"valv": 5, "replac": 4, "month": 3, "pump": 3, "oil": 2}
INDEX: Any = SimpleNamespace(
    tokenizer=Tokenizer("english"),
    manifest=SimpleNamespace(dense=None),
    chunk_count=10,
    keyword_lane=SimpleNamespace(frequency=lambda term: FREQUENCIES.get(term, 1)),
)
VALVES = """# Valves

The safety valve is replaced by Mara Olsen every 18 months. It opens at 1,250 kPa, and it must not
be painted. [Spare valves](spares.md) are kept in cabinet K7.

| Part | Torque |
|---|---|
| Bonnet | 40 Nm |
| Flange | 95 Nm |
"""
PUMPS = """The pump runs on mineral oil. Its filter is rinsed on the left side once a week. Two
apprentices clean the sump on 2024-03-09. Boiling the filter does not help; rinsing it in brine
does.
"""


def hit(number: int, title: str, text: str) -> Hit:
    return sample_hit(id=f"c{number}", title=title, text=text, section=[title], path=f"{number}.md")


PASSAGES = number_passages([hit(1, "Valves", VALVES), hit(2, "Pumps", PUMPS)])


def lacks(answer: str, question: str = "") -> list[tuple[str, str, list[str]]]:
    """Return the unsupported sentences, with the kind of missing support."""
    found = find_unsupported(answer, PASSAGES, question, INDEX)
    return [(one.sentence, one.lacks, one.missing) for one in found]


SUPPORTED = [
    "The safety valve is replaced by Mara Olsen every 18 months. [1]",
    "Mara Olsen replaces the safety valve every eighteen months. [1]",
    "The valve opens at 1250 kPa [1].",
    "The valve opens at 1 250 kPa [1].".replace(" 250", "\u202f250"),
    "It must not be painted, and spare valves are kept in cabinet K7. [1]",
    "The torque of the flange is 95 Nm. [1]",
    "The torque of the flange is ninety five Nm. [1]",
    "| Flange | 95 Nm | [1]",
    "The pump runs on mineral oil [2], and the safety valve opens at 1,250 kPa [1].",
    "2 apprentices clean the sump on 9 March 2024. [2]",
    "Boiling the filter does not help, but rinsing it in brine does. [2]",
    "The filter is rinsed on the left side every week.",
]


@pytest.mark.parametrize("answer", SUPPORTED)
def test_supported_sentences_are_not_marked(answer: str) -> None:
    assert lacks(answer) == []


@pytest.mark.parametrize(
    ("answer", "lack", "missing"),
    [
        ("The safety valve is replaced every 24 months. [1]", "number", ["24"]),
        ("The safety valve is replaced every twenty months. [1]", "number", ["twenty"]),
        # The first number is from another row, and the second from another place.
        ("The torque of the flange is 41 Nm. [1]", "number", ["41"]),
        ("The pump runs on mineral oil for 18 months. [2]", "number", ["18"]),
        ("The safety valve is replaced by Mara Holm every 18 months. [1]", "name", ["Holm"]),
        ("Spare valves are kept in cabinet K9. [1]", "name", ["K9"]),
        ("It must be painted. [1]", "negation", []),
        ("The pump does not run on mineral oil. [2]", "negation", []),
        ("Every inspector wears thick gloves of leather. [2]", "words", []),
        # Something that only another passage says, not the cited one.
        ("The pump runs on mineral oil. [1]", "words", []),
        ("The safety valve is replaced by Mara Olsen. [2]", "name", ["Mara"]),
    ],
)
def test_unsupported_sentences_are_marked(answer: str, lack: str, missing: list[str]) -> None:
    assert lacks(answer) == [(answer, lack, missing)]


def test_marked_sentences_include_their_citations() -> None:
    answer = (
        "Here is what I found:\n\n"
        "1. The pump runs on mineral oil. [2] Robots assemble all others abroad. [2][1]\n"
        "2. **It opens at 900 kPa** [1].\n\n"
        "```\nvalve.open(900)\n```\n"
        "| Part | Colour |\n|---|---|\n| Gasket | purple velvet |\n"
    )
    assert lacks(answer) == [
        ("Robots assemble all others abroad. [2][1]", "words", []),
        ("**It opens at 900 kPa** [1].", "number", ["900"]),
        ("Gasket | purple velvet", "words", []),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "## Valves of Rotterdam",
        "**Summary**",
        "Here are the 3 steps of the Rotterdam procedure:",
        "The passages do not say who built it in 1931.",
        "I could not find anything about Rotterdam.",
        "There is no information about the price.",
        "Let me know if you need more about Rotterdam!",
        "Do you want to know more about Rotterdam?",
    ],
)
def test_sentences_that_are_not_claims_are_not_marked(answer: str) -> None:
    assert lacks(answer) == []


def test_names_in_the_question_need_no_support_but_numbers_do() -> None:
    answer = "Ms Quist asked when the safety valve is replaced by Mara Olsen."
    assert [lack for _, lack, _ in lacks(answer)] == ["name"]
    assert lacks(answer, "Quist asks: when is the safety valve replaced?") == []
    changed = "The safety valve is replaced every 24 months. [1]"
    assert lacks(changed, "Is the valve replaced every 24 months?")


def test_only_numbers_are_compared_in_other_languages() -> None:
    assert lacks("Das Ventil wird von Frau Quist alle 18 Monate ausgetauscht. [1]") == []
    answer = "Das Ventil wird alle 24 Monate ausgetauscht. [1]"
    assert lacks(answer) == [(answer, "number", ["24"])]


def test_only_numbers_are_compared_for_other_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(INDEX, "tokenizer", Tokenizer("german"))
    assert lacks("Robots assemble all others in Rotterdam every 1.250 days. [1]") == []
    assert lacks("It opens at 1.251 kPa. [1]") == [
        ("It opens at 1.251 kPa. [1]", "number", ["1.251"])
    ]


@pytest.mark.parametrize("seed", range(20))
def test_literal_sentences_of_passages_are_never_marked(seed: int) -> None:
    chooser = random.Random(seed)
    letters = [
        "Not",
        "no",
        "seven",
        "1.234,5",
        "K-9",
        "(a)",
        "\u6771\u4eac",
        "[x](y.md)",
        "ca\u0301f",
        "|",
        "*",
    ]
    words = [chooser.choice([*letters, *VALVES.split()]) for _ in range(200)]
    text = " ".join(word + chooser.choice(["", "", "", ".", "\n\n"]) for word in words)
    passages = number_passages([hit(1, "Odd", text), hit(2, "Pumps", PUMPS)])
    quoted = [each for each in sentences(text) if not each.endswith("...")]
    assert len(quoted) > 5
    for sentence in quoted:
        answer = f"{sentence} [1]"
        found = find_unsupported(answer, passages, "", INDEX)
        assert not found, (sentence, found)


@pytest.mark.parametrize("seed", range(20))
def test_marked_sentences_are_parts_of_the_answer(seed: int) -> None:
    chooser = random.Random(seed)
    parts = [
        *SUPPORTED,
        "- x",
        "\n",
        "\n\n",
        "```",
        "| a | b |",
        "|---|---|",
        "[1]",
        "[99]",
        "7",
        "No!",
    ]
    answer = "".join(chooser.choice([*parts, " ", "A green robot sings. "]) for _ in range(60))
    end = 0
    for one in find_unsupported(answer, PASSAGES, "", INDEX):
        end = answer.index(one.sentence, end) + len(one.sentence)
        assert one.sentence == one.sentence.strip()
        assert all(word in one.sentence for word in one.missing)


def test_claims_are_read_with_their_citations() -> None:
    answer = (
        "One is e.g. this. [1] Two [2]!\n\n- Three.\n- Four [3], five.\n# Six\nSeven is:\n\nEight?"
    )
    found = [(claim.sentence, claim.text, {*claim.cited}) for claim in read_claims(answer)]
    assert found == [
        ("One is e.g. this. [1]", "One is e.g. this.", {1}),
        ("Two [2]!", "Two !", {2}),
        ("Three.", "Three.", set()),
        ("Four [3], five.", "Four , five.", {3}),
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("twenty", ["20"]),
        ("ninety five", ["95"]),
        ("ninety-nine", ["99"]),
        ("twenty one", ["21"]),
        ("two hundred", ["200"]),
        ("five ninety", ["5", "90"]),
    ],
)
def test_numbers_in_words_are_read_together(text: str, values: list[str]) -> None:
    assert list(numbers_of(text)) == values


def test_only_the_first_claims_of_an_answer_are_checked() -> None:
    answer = "The robot wears gloves. " * (MAX_CLAIMS + 9)
    assert len(lacks(answer)) == MAX_CLAIMS
