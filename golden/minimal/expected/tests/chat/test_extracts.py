"""Which sentences answer a question where no language model does."""

from types import SimpleNamespace
from typing import Any

from workshop.chat.prompt import NumberedPassage, SourceOfAnswer, extract
from workshop.retrieval.results import Hit, LaneRanks, LaneScores
from workshop.retrieval.tokens import Tokenizer

INDEX: Any = SimpleNamespace(
    tokenizer=Tokenizer("english"),
    chunk_count=10,
    keyword_lane=SimpleNamespace(frequency=lambda _: 1),
)
"""An index of ten chunks, in which every word is equally rare."""


def passage(number: int, title: str, text: str, score: float = 0.5) -> NumberedPassage:
    hit = Hit(
        id=f"c{number}",
        document_id="d",
        title=title,
        text=text,
        section=[],
        position={},
        source="docs",
        path="a.md",
        url=None,
        tags=[],
        modified=None,
        also_at=[],
        score=score,
        scores=LaneScores(None, None),
        ranks=LaneRanks(None, None),
        boosts={},
    )
    source = SourceOfAnswer(number, hit.id, title, "/d/d", "d", [], "a.md", {}, text, score)
    return NumberedPassage(source, hit, text)


def extracts(question: str, *passages: NumberedPassage) -> list[tuple[int, str]]:
    return [(found.source.number, text) for found, text in extract(question, passages, INDEX)]


def test_sentences_with_the_words_of_the_question_are_chosen() -> None:
    text = "The pump room is cold. The valve of the pump is replaced yearly. Nobody knows why."
    assert extracts("How often is the valve of the pump replaced?", passage(1, "Rooms", text)) == [
        (1, "The valve of the pump is replaced yearly.")
    ]


def test_headings_count_for_the_sentences_below_them() -> None:
    parts = "pump valve spring motor lever piston gasket cable filter"
    found = extracts(
        f"Who replaces {parts}?",
        passage(1, "Lamps", "They are replaced by the foreman."),
        passage(2, parts.capitalize(), "They are replaced by a mechanic."),
    )
    assert found == [(2, "They are replaced by a mechanic.")]


def test_better_passages_count_for_more() -> None:
    found = extracts(
        "Who replaces the valve?",
        passage(1, "Valves", "The valve is replaced by a mechanic.", score=0.9),
        passage(2, "Valves", "The valve is replaced by nobody at all.", score=0.3),
    )
    assert found == [(1, "The valve is replaced by a mechanic.")]


def test_of_equal_sentences_the_first_of_a_passage_counts_for_more() -> None:
    # Each has a third of the question, the second also the start of another passage.
    names = "mechanic foreman plumber smith painter".split()
    text = " ".join(f"The valve is replaced by the {name}." for name in names)
    found = extracts("Is the valve new, who replaces it?", passage(1, "Rooms", text))
    assert [text.split()[-1] for _, text in found] == [f"{name}." for name in names[:4]]


def test_sentences_that_say_much_less_than_the_best_are_left_out() -> None:
    text = "The pump of the valve has a spring. {} The pump is very old and quite cold."
    few, many = (
        extracts(question, passage(1, "Rooms", text.format("Nobody knows why.")))
        for question in ("Pump valve spring?", "Pump spring?")
    )
    assert [len(few), len(many)] == [1, 2]


def test_what_is_said_already_is_not_said_again() -> None:
    text = "The valve is replaced yearly. Yearly, the valve is replaced."
    assert len(extracts("When is the valve replaced?", passage(1, "Valves", text))) == 1
    assert extracts("Who?", passage(1, "Valves", "")) == []
    # Of a question without terms, what a passage says first.
    assert extracts("Who?", passage(1, "Valves", text))[0] == (1, "The valve is replaced yearly.")
