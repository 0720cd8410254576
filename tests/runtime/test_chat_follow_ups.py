"""Follow-ups: conversations yield queries, legends are parsed, and each language has its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.chat.conversation import LanguageWords, Turn, kind_of, query_of
from foundry.runtime.chat.legend import read_legend
from foundry.runtime.chat.words_french import WORDS as FRENCH
from foundry.runtime.chat.words_german import WORDS as GERMAN
from foundry.runtime.chat.words_spanish import WORDS as SPANISH
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.journal import MAX_QUERY_LENGTH

FIRST = "What is at the Lamp Shrine?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    notes = [
        Note("Lamp Shrine", ("Orsel Vane tends the lamps of the shrine at D44.",)),
        Note("Refunds", ("Refunds take a week; in Germany they take two.",)),
    ]
    folder = tmp_path_factory.mktemp("follow-ups") / "index"
    return open_index(write_notes(folder, notes), vectors=True)


def after(text: str) -> list[Turn]:
    """The turns of a conversation whose last message is `text`."""
    return [Turn("user", FIRST), Turn("assistant", "Lamps. [1]"), Turn("user", text)]


def test_citations_are_read_from_a_legend() -> None:
    text = "Lamps. [1]\n\nMore. [2]"
    answer = f"{text}\n\n[1] Lamp: Shrine: http://x/d/1#a\n[2] Keepers: /d/2"
    assert read_legend(answer) == Turn("assistant", text, ("Lamp: Shrine", "Keepers"))
    for other in (text, "", "[1] Lamp: /d/1", f"{text}\n\n[1] Lamp: /d/1\nmore"):
        assert read_legend(other) == Turn("assistant", other)


words = st.sampled_from("it that she and what about lamp D44 thanks ok , . ? why Germany".split())
messages = st.lists(words, min_size=1, max_size=30).map(" ".join) | st.text(min_size=1)


@given(
    st.lists(st.tuples(messages, messages), max_size=4),
    messages,
    st.lists(st.text(max_size=300), max_size=3).map(tuple),
)
def test_every_conversation_yields_a_query(
    index: Index, said: list[tuple[str, str]], last: str, cited: tuple[str, ...]
) -> None:
    turns = [
        turn
        for question, reply in said
        for turn in (Turn("user", question), Turn("assistant", reply, cited))
    ]
    turns.append(Turn("user", last))
    kind = kind_of(turns, index)
    assert kind == kind_of([Turn(turn.role, turn.content) for turn in turns], index)
    if not said:
        assert kind == "question"
    if kind == "follow_up":
        query = query_of(turns, index)
        assert len(query) <= MAX_QUERY_LENGTH
        assert not said[0][0].strip() or query.strip()


@pytest.mark.parametrize(
    ("language", "follow_up", "question"),
    [
        (GERMAN, "und wer hat sie geschrieben?", "Wie lange brennt eine Lampe, wenn es regnet?"),
        (FRENCH, "où habite-t-elle ?", "Quelle est la capitale de la France ?"),
        (SPANISH, "¿y cuál es su precio?", "¿Cuál es la capital de Francia?"),
    ],
)
def test_follow_ups_in_the_language_of_the_documents_are_recognised(
    index: Index, language: LanguageWords, follow_up: str, question: str
) -> None:
    assert kind_of(after(follow_up), index, language) == "follow_up"
    assert kind_of(after(question), index, language) == "question"
    assert kind_of(after("who keeps it?"), index, language) == "follow_up"
