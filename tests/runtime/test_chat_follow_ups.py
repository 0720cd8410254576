"""Which messages of a conversation follow up, and what is searched for then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.chat.conversation import LanguageWords, Turn, kind_of, query_of
from foundry.runtime.chat.openai import read_legend
from foundry.runtime.chat.words_french import WORDS as FRENCH
from foundry.runtime.chat.words_german import WORDS as GERMAN
from foundry.runtime.chat.words_spanish import WORDS as SPANISH
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.results import MAX_QUERY_LENGTH

FIRST = "What is at the Lamp Shrine?"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    notes = [
        Note("Lamp Shrine", ("Orsel Vane tends the lamps of the shrine at D44.",)),
        Note("Refunds", ("Refunds take a week; in Germany they take two.",)),
    ]
    folder = tmp_path_factory.mktemp("follow-ups") / "index"
    return open_index(write_notes(folder, notes), vectors=True)


def after(text: str, *earlier: str, cited: tuple[str, ...] = ()) -> list[Turn]:
    """The turns of a conversation that has `text` as its last message."""
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
        "tell me more",
        "What about refunds?",
        "and in Germany?",
        "Which people use it?",
        "When was she born?",
        "Does it need an annual maintenance contract?",
        "If it breaks, what do I do?",
        "Who wrote this book?",
        "who wrote that, and when?",
        "How much do they cost?",
        "in German please",
        "which one is cheaper?",
        "Does that rule apply to lamps?",
        "What happens after that?",
    ],
)
def test_what_cannot_be_searched_for_by_itself_follows_up(index: Index, text: str) -> None:
    assert kind_of(after(text), index) == "follow_up"
    assert kind_of([Turn("user", text)], index) == "question"


@pytest.mark.parametrize(
    "text",
    [
        "Who is Orsel Vane?",
        "Who is Orsel Vane and where does she live?",
        "What is the capital of France?",
        "And what is the capital of France?",
        "Does a lamp smoke when it is lit?",
        "Is it possible to export invoices?",
        "How long does it take to ship a parcel?",
        "Is there a warranty on lamps?",
        "How do I reset a lamp that is broken?",
        "PII-2024-0042",
        "and D45?",
        "What is PII-2024-0042, and who closed it?",
        "Lamp Shrine",
        "Refund policy",
        "Is it " + "very " * 30 + "good?",
    ],
)
def test_question_that_stands_by_itself_is_searched_for_as_it_is(index: Index, text: str) -> None:
    assert kind_of(after(text), index) == "question"


@pytest.mark.parametrize("text", ["thanks", "Ok, great!", "Thank you very much.", "got it", "ok"])
def test_thanks_ask_nothing(index: Index, text: str) -> None:
    assert kind_of(after(text), index) == "acknowledgement"
    assert kind_of([Turn("user", text)], index) == "question"
    assert kind_of(after(f"{text} and who wrote it?"), index) == "follow_up"
    offered = [Turn("user", FIRST), Turn("assistant", "Shall I go on?"), Turn("user", text)]
    assert kind_of(offered, index) == "follow_up"


def test_follow_up_is_searched_for_with_what_it_refers_to(index: Index) -> None:
    turns = after("And where does she live?", cited=("Lamp Shrine > Keepers", "Refunds"))
    assert query_of(turns, index) == f"{FIRST} And where does she live? Lamp Shrine > Keepers"


def test_follow_up_without_words_of_its_own_is_searched_for_as_what_it_refers_to(
    index: Index,
) -> None:
    earlier = ("Refund policy", FIRST, "Who keeps it?", "thanks")
    assert query_of(after("give me an example", *earlier), index) == f"{FIRST} Who keeps it?"


def test_legend_is_read_back() -> None:
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
def test_every_conversation_has_a_query(
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
def test_language_of_the_documents_is_read_too(
    index: Index, language: LanguageWords, follow_up: str, question: str
) -> None:
    assert kind_of(after(follow_up), index, language) == "follow_up"
    assert kind_of(after(question), index, language) == "question"
    assert kind_of(after("who keeps it?"), index, language) == "follow_up"
