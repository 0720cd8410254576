"""The passages that an answer may cite: how many there is room for."""

from workshop.chat.answer import PASSAGES_CHARACTERS, number_passages
from workshop.chat.conversation import heading_of
from workshop.chat.text import shorten
from workshop.retrieval.results import Hit, LaneRanks, LaneScores


def hit(text: str, number: int = 0) -> Hit:
    return Hit(
        id=f"c{number}",
        document_id="d1",
        title="The\nGuide",
        text=text,
        section=["The\nGuide", "Start", "Here"],
        position={},
        source="docs",
        path="guide.md",
        url="https://example.com/guide",
        tags=[],
        modified=None,
        also_at=[],
        score=0.5,
        scores=LaneScores(0.6, None),
        ranks=LaneRanks(1, None),
        boosts={},
    )


def test_passages_are_numbered_and_fit_the_budget() -> None:
    passages = number_passages([hit("word " * 1200, number) for number in range(5)])
    assert [passage.source.number for passage in passages] == [1, 2, 3]
    assert sum(len(passage.text) for passage in passages) <= PASSAGES_CHARACTERS
    assert passages[-1].text.endswith("word ...")
    assert heading_of(passages[0].hit) == "The Guide > Start > Here"
    assert passages[0].source.id == passages[0].source.cited().id == "c0"


def test_short_passages_fit_whatever_is_left() -> None:
    hits = [hit("x" * (PASSAGES_CHARACTERS - 50)), hit("short"), hit("y" * 300)]
    assert [passage.text[:5] for passage in number_passages(hits)] == ["xxxxx", "short"]


def test_shorten() -> None:
    assert shorten("all of it", 9) == "all of it"
    assert shorten("one two three four", 13) == "one two ..."
    assert shorten("x" * 20, 10) == "xxxxxx ..."


def test_a_passage_is_cut_only_where_enough_of_it_is_left() -> None:
    for left, count in [(200, 2), (199, 1)]:
        passages = number_passages([hit("x" * (16_000 - left)), hit("y" * 300)])
        assert len(passages) == count
