"""The passages that an answer may cite, and the events of an answer made of extracts."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.chat.answer import PASSAGES_CHARACTERS, number_passages
from foundry.runtime.chat.conversation import Conversation, Turn, heading_of
from foundry.runtime.chat.extracts import Chat, extract_answer
from foundry.runtime.chat.quoting.selection import select_quotes
from foundry.runtime.index.records import shorten
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import (
    Hit,
    Match,
    SearchResponse,
    respond,
)

INDEX: Any = SimpleNamespace(
    tokenizer=Tokenizer("english"),
    chunk_count=10,
    keyword_lane=SimpleNamespace(frequency=lambda _: 1),
    chunk_after=lambda _: None,
)
"""An index of ten chunks, in which every word is equally rare."""


def hit(text: str, title: str = "Valves", score: float = 0.5) -> Hit:
    section = [title, "Start", "Here"]
    return sample_hit(id="c", title=title, text=text, section=section, path="a.md", score=score)


def test_passages_are_numbered_and_fit_the_budget() -> None:
    passages = number_passages([hit("word " * 1200, "The\nGuide")] * 5)
    assert [passage.source.number for passage in passages] == [1, 2, 3]
    assert sum(len(passage.text) for passage in passages) <= PASSAGES_CHARACTERS
    assert passages[-1].text.endswith("word \u2026")
    assert heading_of(passages[0].hit) == "The Guide > Start > Here"
    assert passages[0].source.id == passages[0].source.cited().id == "c"


def test_short_passages_fit_whatever_is_left() -> None:
    hits = [hit("x" * (PASSAGES_CHARACTERS - 50)), hit("short"), hit("y" * 300)]
    assert [passage.text[:5] for passage in number_passages(hits)] == ["xxxxx", "short"]


def test_shorten() -> None:
    assert shorten("all of it", 9) == "all of it"
    assert shorten("one two three four", 13) == "one two \u2026"
    assert shorten("x" * 20, 10) == "xxxxxxxx \u2026"


def test_a_passage_is_cut_only_where_enough_of_it_is_left() -> None:
    for left, count in [(200, 2), (199, 1)]:
        passages = number_passages([hit("x" * (16_000 - left)), hit("y" * 300)])
        assert len(passages) == count


def extracts(question: str, *hits: Hit) -> list[tuple[int, str]]:
    found, _ = select_quotes(question, number_passages(hits), INDEX)
    return [
        (passage.source.number, "\n\n".join([quote.lead, *quote.rest])) for passage, quote in found
    ]


@pytest.mark.parametrize(("score", "is_chosen"), [(0.68, True), (0.66, False)])
@pytest.mark.parametrize("best", [1.0, 0.5])
def test_a_passage_counts_by_the_square_of_its_score(
    best: float, score: float, is_chosen: bool
) -> None:
    # The lowest selected sentence has 0.45 of the best score: 0.671 squared.
    near = hit("The valve is replaced yearly by us.", score=best)
    other = hit("The valve is replaced daily by them.", score=score * best)
    found = extracts("When is the valve replaced?", near, other)
    assert [number for number, _ in found] == ([1, 2] if is_chosen else [1])


def test_sentences_with_the_words_of_the_question_are_chosen() -> None:
    text = "The pump room is cold. The valve of the pump is replaced yearly. Nobody knows why."
    assert extracts("How often is the valve of the pump replaced?", hit(text, "Rooms")) == [
        (1, "The valve of the pump is replaced yearly.")
    ]


def test_sentences_with_the_kind_of_thing_that_is_asked_for_count_for_more() -> None:
    names = "mechanic foreman plumber smith painter".split()
    text = " ".join(f"The valve is replaced by the {name}." for name in names)
    found = extracts(
        "How often is the valve replaced?", hit(f"{text} The valve is replaced weekly.")
    )
    assert found[-1] == (1, "The valve is replaced weekly.")


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a pump and a valve?",
        "difference between pump and valve",
        "How does a pump differ from a valve?",
    ],
)
def test_a_comparison_is_answered_by_what_is_said_of_both(question: str) -> None:
    text = "A difference is common, and to differ is too. A pump drives a valve."
    assert extracts(question, hit(text, "Rooms")) == [(1, "A pump drives a valve.")]


def test_a_difference_of_no_two_things_must_be_mentioned() -> None:
    passages = number_passages([hit("An operator opens the valve.", "Rooms")])
    _, share = select_quotes("What is the difference operator?", passages, INDEX)
    assert share == 0.5


def test_the_label_of_a_tab_counts_for_what_the_tab_says() -> None:
    names = "Linux Mac Unix BSD Solaris Windows".split()
    tabs = [f"> **[{name}]**\n>\n> The valve is at {name[0]}:/." for name in names]
    found = extracts("Where is the valve on Windows?", hit("\n\n".join(tabs), "Rooms"))
    assert found[-1] == (1, "The valve is at W:/.")


def test_headings_count_for_the_sentences_below_them() -> None:
    parts = "pump valve spring motor lever piston gasket cable filter"
    found = extracts(
        f"Who replaces {parts}?",
        hit("They are replaced by the foreman.", "Lamps"),
        hit("They are replaced by a mechanic.", parts.capitalize()),
    )
    assert found == [(2, "They are replaced by a mechanic.")]


def test_better_passages_count_for_more() -> None:
    found = extracts(
        "Who replaces the valve?",
        hit("The valve is replaced by a mechanic.", score=0.9),
        hit("The valve is replaced by nobody at all.", score=0.3),
    )
    assert found == [(1, "The valve is replaced by a mechanic.")]


def test_of_equal_sentences_the_first_of_a_passage_counts_for_more() -> None:
    # Each sentence contains the same two terms of the question; four sentences are chosen at most.
    names = "mechanic foreman plumber smith painter".split()
    text = " ".join(f"The valve is replaced by the {name}." for name in names)
    found = extracts("Is the valve new, who replaces it?", hit(text, "Rooms"))
    assert [text.split()[-1] for _, text in found] == [f"{name}." for name in names[:4]]


def test_sentences_that_say_much_less_than_the_best_are_left_out() -> None:
    text = "The pump of the valve has a spring. {} The pump is very old and quite cold."
    few, many = (
        extracts(question, hit(text.format("Nobody knows why."), "Rooms"))
        for question in ("Pump valve spring?", "Pump spring?")
    )
    assert [len(few), len(many)] == [1, 2]


def test_what_is_said_already_is_not_said_again() -> None:
    text = "The valve is replaced yearly. Yearly, the valve is replaced."
    assert len(extracts("When is the valve replaced?", hit(text))) == 1
    assert extracts("Who?", hit("")) == []
    # A question without terms is answered with the first sentence of a passage.
    assert extracts("Who?", hit(text))[0] == (1, "The valve is replaced yearly.")


SPREAD = (
    "The pump was cold all day. A lamp hums in the room. Nobody knows why it does. The floor is"
    " wet as always. A spring and a motor are new."
)


@pytest.mark.parametrize(
    ("question", "is_quoted"),
    [
        ("Pump motor?", True),  # Half of the question is enough.
        ("Pump motor gasket?", False),  # A third of the question is not enough.
        ("Spring motor gasket?", True),
        ("Pump lamp gasket lever?", True),  # The lamp is in a neighbouring sentence.
        ("Pump floor gasket lever?", False),  # The passage contains half, but no two neighbours do.
        ("Pump valves gasket lever?", True),  # The valves are in a heading.
    ],
)
def test_sentences_are_quoted_that_hold_half_of_the_question_together(
    question: str, is_quoted: bool
) -> None:
    assert bool(extracts(question, hit(SPREAD))) == is_quoted


@pytest.mark.parametrize(
    ("question", "is_strong", "is_quoted"),
    [
        (
            "Pump floor gasket lever gate?",
            True,
            True,
        ),  # Two fifths are enough if the match is strong.
        ("Pump floor gasket lever gate?", False, False),
        ("Pump motor gasket lever?", True, False),
    ],
)
def test_less_is_enough_in_the_first_passage_of_a_strong_match(
    question: str, is_strong: bool, is_quoted: bool
) -> None:
    passages = number_passages([hit("The pump is on the floor. It is loud.", "Rooms")])
    found, _ = select_quotes(question, passages, INDEX, is_strong=is_strong)
    assert bool(found) == is_quoted


@pytest.mark.parametrize(
    "question", ["What does a pump gasket mean?", "define pump gasket", "Define."]
)
def test_words_of_grammar_and_of_asking_do_not_count(question: str) -> None:
    assert extracts(question, hit("To define is to say what a pump can mean.", "Lamps"))


@pytest.mark.parametrize(
    ("question", "is_quoted"),
    [
        ("How do I create a table or a list?", False),
        ("Give me a list that I can create.", True),
        ("Is there a list of all that I create?", True),
    ],
)
def test_words_of_asking_count_where_they_are_the_subject(question: str, is_quoted: bool) -> None:
    text = "It is possible to create a pump of wood."
    assert bool(extracts(question, hit(text, "Lamps"))) == is_quoted


def test_closed_forms_that_no_passage_has_are_not_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frequency = {"presum": 1, "cach": 1, "clear": 1, "pump": 9}.get
    monkeypatch.setattr(INDEX.keyword_lane, "frequency", lambda term: frequency(term, 0))
    text = "To clear the cache of a pump, press A."
    assert extracts("How do I cache-clear a pump?", hit(text, "Rooms"))


@pytest.mark.parametrize("word", ["isn't", "isn\u2019t", "ISN'T", "isnt"])
def test_contractions_do_not_count(word: str) -> None:
    text = "A pump is made of wood."
    assert extracts(f"What {word} a pump with a motor?", hit(text, "Rooms")) == [(1, text)]


def test_of_two_rules_that_differ_in_a_not_both_are_shown() -> None:
    rules = ["The lamp must be lit at noon.", "The lamp must not be lit at noon."]
    found = extracts("Must the lamp be lit at noon?", *(hit(rule, "Lamps") for rule in rules))
    assert found == [(1, rules[0]), (2, rules[1])]


def test_what_says_the_opposite_of_what_is_asked_counts_less() -> None:
    lines = [
        "To enable the pump, press A.",
        "To disable the pump, press B and wait for it to stop.",
    ]
    for asked in (0, 1):
        question = f"How do I {lines[asked].split()[1]} the pump with a button?"
        first, *_ = extracts(question, hit(lines[1 - asked], score=0.6), hit(lines[asked]))
        assert first[1] == lines[asked]


def test_code_and_short_lists_below_a_heading_answer() -> None:
    code = "```sh\nbrew add it\n```"
    found = extracts("How is the valve installed?", hit(code, "Valve installed"))
    assert found == [(1, f"\n\n{code}")]
    found = extracts("Which valves are there?", hit("- steel\n- brass", "Valves"))
    assert found == [(1, "\n\n- steel\n- brass")]
    assert not extracts("How is a motor oiled?", hit(code, "Valve installed"))


def test_the_answer_of_a_question_is_taken_and_not_the_question() -> None:
    text = "## Can the valve be replaced?\n\nNo, never.\n\n## Is the valve loud?\n\nYes."
    said = "Can the valve be replaced? No, never."
    assert extracts("Can the valve be replaced by a pump?", hit(text, "Help")) == [(1, said)]


def test_an_answer_of_one_word_is_quoted_with_its_question() -> None:
    text = "Can the valve be replaced? No. It is old."
    assert extracts("Can the valve be replaced?", hit(text, "Help")) == [
        (1, "Can the valve be replaced? No.")
    ]


def test_rare_words_count_for_more_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(INDEX, "chunk_count", 1_000)
    frequency = {"pump": 900, "room": 900, "d40": 1}.get
    monkeypatch.setattr(INDEX.keyword_lane, "frequency", lambda term: frequency(term, 0))
    assert extracts("D40 pump room", hit("The D40 is cold and wet.", "Lamps"))
    assert not extracts("D40 pump room", hit("The pump room is cold and wet.", "Lamps"))


ASKED = (Turn("user", "When is the valve replaced?"),)
FOLLOWED_UP = (*ASKED, Turn("assistant", "Yearly. [1]"), Turn("user", "Who replaces it?"))
SENTENCE = "The valve is replaced yearly."


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.runtime.chat.extracts.current_index", lambda: INDEX)


def events(
    turns: tuple[Turn, ...] = ASKED,
    text: str = SENTENCE,
    match: Match = "strong",
    unknown: tuple[str, ...] = (),
    notices: tuple[str, ...] = (),
) -> list[tuple[str, dict[str, Any]]]:
    """The events of an answer, with a search that finds one passage and gives notices."""
    stages: dict[str, dict[str, Any]] = {notice: {"notice": notice} for notice in notices}

    async def search(query: str, top_k: int, *, filters: Any) -> SearchResponse:
        assert (top_k, filters) == (3, {"tags": "odd"})
        journal = Journal(query, top_k, unknown_identifiers=unknown, stages=stages)
        return respond(journal, iter([hit(text)]), match)

    async def collect() -> list[tuple[str, dict[str, Any]]]:
        answer = Chat(search).answer(Conversation(turns, 3, {"tags": "odd"}))
        return [(event.event, event.to_json()) async for event in answer]

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("match", "unknown", "text", "reason", "notice"),
    [
        (
            "strong",
            (),
            f"{SENTENCE} [1]\n\nExtracted from the documents.",
            "no_model",
            "Extracted from the documents.",
        ),
        (
            "weak",
            (),
            "The documents may not answer this; the closest sentences are:\n\n"
            f"{SENTENCE} [1]\n\nExtracted from the documents.",
            "no_model",
            "Extracted from the documents.",
        ),
        (
            "none",
            (),
            "Nothing was found in the documents about this.",
            "nothing_found",
            "No passage is close enough to the question.",
        ),
        *(
            (match, ("D40", "D41"), text, "nothing_found", text)
            for match in ("none", "strong")
            for text in ["The documents do not mention D40, D41."]
        ),
    ],
)
def test_an_answer_says_what_it_is_made_of(
    match: Match, unknown: tuple[str, ...], text: str, reason: str, notice: str
) -> None:
    (first, sources), (second, delta), (last, done) = events(match=match, unknown=unknown)
    assert (first, second, last) == ("sources", "delta", "done")
    assert (sources["query"], sources["query_from"]) == (ASKED[0].content, "question")
    assert sources["unknown_identifiers"] == list(unknown)
    assert delta == {"text": text}
    assert [citation["number"] for citation in done.pop("cited")] == [1] * ("[1]" in text)
    assert done == {
        "mode": "extractive",
        "reason": reason,
        "notice": notice,
        "truncated": False,
        "usage": None,
    }


def test_names_of_the_user_in_a_message_do_not_hide_what_else_it_says() -> None:
    denial = "The documents do not mention V9."
    asked = Turn("user", "V9: valve is replaced yearly, no pump is needed")
    text = events((asked,), match="weak", unknown=("V9",))[1][1]["text"]
    assert text.startswith(f"{denial}\n\nThe documents may not answer this; the closest sentences")
    assert f"{SENTENCE} [1]" in text
    cases: list[tuple[Turn, Match]] = [(Turn("user", "V9: no pump"), "weak"), (asked, "none")]
    for turn, match in cases:
        found: Any = events((turn,), match=match, unknown=("V9",))
        assert found[1][1]["text"] == denial == found[2][1]["notice"]


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("Which valve is replaced the most often yearly?", 'which is "most often"'),
        ("What valve is not replaced yearly?", '"not"'),
        ("How many valves are replaced yearly?", "how many"),
        ("How much of the valve is replaced?", "how much"),
        ("Who replaces the valve yearly?", "who"),
        ("Is the valve replaced yearly: --new?", '"--new"'),
    ],
)
def test_what_the_question_asks_for_and_no_sentence_says_is_told(
    question: str, lacking: str
) -> None:
    *_, (_, delta), (_, done) = events((Turn("user", question),))
    assert delta["text"].startswith(
        f"The closest sentences are these, and none says {lacking}:\n\n{SENTENCE} [1]"
    )
    assert done["notice"] == f"Extracted from the documents; none of the sentences says {lacking}."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("How much of the valve is replaced?", "Half of the valve is replaced yearly."),
        ("How long is a valve kept?", "A valve is kept until it leaks."),
        ("When is the valve replaced?", "The valve is replaced after the first frost."),
        ("When does the valve close?", "The valve closes at 7 o'clock."),
        ("Who replaces the valve?", "The valve is replaced by Anna Berg."),
        ("Who replaces the valve?", "The plumber replaces the valve."),
        ("Where is the valve that somebody replaces?", "The valve that is replaced is below."),
    ],
)
def test_a_sentence_with_what_is_asked_for_is_quoted_plainly(question: str, sentence: str) -> None:
    *_, (_, delta), (_, done) = events((Turn("user", question),), sentence)
    assert delta["text"] == f"{sentence} [1]\n\nExtracted from the documents."
    assert done["notice"] == "Extracted from the documents."


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        # Of three to five equally rare terms, a sentence has two or three.
        ("Is the valve replaced, and oiled?", True),
        ("Is the valve replaced by a mechanic with gloves?", False),
        ("Is the valve replaced yearly by a mechanic with gloves?", True),
    ],
)
def test_a_sentence_with_less_of_the_question_is_hedged(question: str, is_answered: bool) -> None:
    *_, (_, delta), _ = events((Turn("user", question),))
    hedge = (
        "" if is_answered else "The documents may not answer this; the closest sentences are:\n\n"
    )
    assert delta["text"].startswith(f"{hedge}{SENTENCE} [1]")


def test_without_such_a_sentence_the_nearest_passages_are_named() -> None:
    text = "Nobody knows why the floor of the room is wet."
    asked = (Turn("user", "How often is the spring of the motor replaced?"),)
    hedges: dict[Match, str] = {
        "strong": "The closest passages are:",
        "weak": "The documents may not answer this; the closest passages are:",
    }
    for match, hedge in hedges.items():
        *_, (_, delta), (_, done) = events(asked, text, match)
        assert delta["text"] == (
            f"{hedge}\n\n- Valves > Start > Here [1]\n\n"
            "No sentence of the documents answers by itself."
        )
        assert (done["reason"], [cited["id"] for cited in done["cited"]]) == ("no_model", ["c"])
        assert done["notice"] == "No sentence of the documents answers by itself."


def test_three_passages_are_named_at_most() -> None:
    sources: Any = SimpleNamespace(
        query="Gasket?", match="strong", unknown_identifiers=[], stages={}
    )
    passages = number_passages([hit(f"The room {n} is cold and wet.", f"<b>{n}") for n in range(5)])
    text, done = extract_answer(sources, passages)
    named = "\n".join(f"- `<b>{n}` > Start > Here [{n + 1}]" for n in range(3))
    said = "No sentence of the documents answers by itself"
    assert text.split("\n\n")[1:] == [named, f"{said}."]
    text, _ = extract_answer(sources, passages, "the language model took too long")
    assert text.split("\n\n")[1:] == [named, f"{said}; the language model took too long."]
    assert [cited.number for cited in done.cited] == [1, 2, 3]


def test_extracts_hold_no_links_images_or_html() -> None:
    text = (
        "The valve is replaced yearly: http://a.example.\n\nIt is the valve, <b>daily</b> replaced."
    )
    _, (_, delta), (_, done) = events(text=text)
    assert delta["text"].startswith(
        "The valve is replaced yearly: http://a.example. [1]\n\n"
        "It is the valve, daily replaced. [1]"
    )
    assert [citation["number"] for citation in done["cited"]] == [1]


def test_a_corrected_question_is_answered_in_the_words_of_the_correction() -> None:
    sources: Any = SimpleNamespace(
        query="When is the vlave repalced?",
        match="weak",
        unknown_identifiers=[],
        stages={"correction": {"query": "When is the valve replaced?"}},
    )
    text, done = extract_answer(sources, number_passages([hit(SENTENCE)]))
    assert f"{SENTENCE} [1]" in text
    assert done.notice == "Extracted from the documents."


def test_operators_are_not_missed() -> None:
    sources: Any = SimpleNamespace(
        query='When is the valve replaced -steel -"two parts" source:all?',
        match="strong",
        unknown_identifiers=[],
        stages={"operators": {"query": "When is the valve replaced"}},
    )
    text, done = extract_answer(sources, number_passages([hit(SENTENCE)]))
    assert text == f"{SENTENCE} [1]\n\n{done.notice}"
    assert done.notice == "Extracted from the documents."


def test_only_a_whole_unknown_identifier_is_left_out_of_a_message() -> None:
    sources: Any = SimpleNamespace(
        query="pump E1: valve E12 replaced",
        match="strong",
        unknown_identifiers=["E1"],
        stages={},
    )
    passages = number_passages([hit("Sensor E12 is alone."), hit(SENTENCE)])
    text, _ = extract_answer(sources, passages)
    assert "Sensor E12 is alone. [1]" in text


def test_the_heading_with_a_version_is_shown_where_the_question_asks_when() -> None:
    changes = sample_hit(
        id="c",
        title="News",
        text="Valves can be replaced.",
        section=["News", "2.1 (2024-05-01)", "Removed"],
        path="a.md",
        score=0.5,
    )
    labels = {
        question: quote.label
        for question in ("When were replaced valves removed?", "Are valves replaced?")
        for _, quote in select_quotes(question, number_passages([changes]), INDEX)[0]
    }
    assert [*labels.values()] == ["2.1 (2024-05-01) > Removed", "Removed"]


def test_the_time_that_something_takes_is_quoted() -> None:
    passages = number_passages([hit("Valves are replaced within 5 days.")])
    _, share = select_quotes("How long do replaced valves take?", passages, INDEX)
    assert share == 1


def test_a_follow_up_is_searched_for_with_what_it_follows() -> None:
    sources = events(FOLLOWED_UP)[0][1]
    joined = f"{ASKED[0].content} {FOLLOWED_UP[-1].content}"
    assert (sources["query"], sources["query_from"]) == (joined, "conversation")


def test_an_answer_begins_with_the_notices_of_stages() -> None:
    _, (_, delta), _ = events(notices=("Read as: valve.", "It seems to be German."))
    said = "Read as: valve.\n\nIt seems to be German.\n\nThe valve is replaced yearly. [1]"
    assert delta["text"].startswith(said)
    _, (_, delta), _ = events(match="none", notices=("It seems to be German.",))
    assert delta["text"].startswith("It seems to be German.\n\nNothing was found")


def test_thanks_are_answered_without_a_search() -> None:
    (_, sources), (_, delta), (_, done) = events((*FOLLOWED_UP[:-1], Turn("user", "thanks")))
    assert (sources["query"], sources["query_from"], sources["sources"]) == (None, "none", [])
    assert sources["match"] is None
    assert (sources["degraded"], sources["mode"]) == (False, None)
    assert delta["text"].startswith("You are welcome.")
    assert (done["mode"], done["reason"], done["cited"]) == ("extractive", "acknowledgement", [])


def test_code_that_a_passage_announces_is_quoted_from_the_next_one() -> None:
    text = "The valve is opened by this command:"
    first, after = (
        replace(
            hit(said),
            position={"start": at, "end": at + len(said), "line_start": line, "line_end": line},
        )
        for said, at, line in [(text, 0, 1), ("```\nopen valve\n```\n\nIt is loud.", 38, 3)]
    )
    index: Any = SimpleNamespace(**{**vars(INDEX), "chunk_after": lambda _: after})
    (passage,) = number_passages([first])
    ((_, quote),), _ = select_quotes("How is the valve opened? Is it loud?", [passage], index)
    assert (quote.lead, quote.rest) == (text, ("```\nopen valve\n```",))


def test_a_file_of_code_is_quoted_as_code() -> None:
    code = "# Open it\ndef open_valve(__a__):\n    turn(2 *a* 3)\n\n\ndef close():\n    pass"
    found = extracts("open_valve?", replace(hit(code), path="src/valve.py"))
    assert found == [(1, "\n\n```py\n" + code.partition("\n\n")[0] + "\n```\n\n\u2026")]
