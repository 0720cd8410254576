"""Questions in a language other than the documents', and questions that only look like it."""

from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.languages import note_language

SHARE = 0.02


def noted(
    query: str, language: str = "english", model: str | None = "static-en", frequency: int = 0
) -> dict[str, Any]:
    """Return the notes on a query over 100 chunks, of which `frequency` contain each word."""
    index: Any = SimpleNamespace(
        manifest=SimpleNamespace(language=language, dense=model and {"model": model}),
        tokenizer=Tokenizer(language),
        chunk_count=100,
        keyword_lane=SimpleNamespace(frequency=lambda _: frequency),
    )
    journal = Journal.begin(query, 10)
    note_language(index, query, journal, share=SHARE)
    return journal.stages


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Wie wird die Pumpe gereinigt?", "German"),
        ("Quelle est la taille de la pompe ?", "French"),
        ("\u00bfCu\u00e1l es el precio de la bomba?", "Spanish"),
        ("Qual \u00e9 o tamanho da bomba?", "Portuguese"),
        ("Welche Farbe hat der Schalter in London?", "German"),
        # Two German words suffice if there are no English ones; otherwise there must be one more
        # than English ones.
        ("Wie ist Pumpe P7?", "German"),
        ("Wie wird die pump of the house", "German"),
    ],
)
def test_frequent_words_tell_the_language(query: str, language: str) -> None:
    notice = f"The question seems to be in {language}, so it matches little in the documents"
    assert noted(query) == {
        "languages": {"language": language.lower(), "notice": f"{notice}, which are in English."}
    }


@pytest.mark.parametrize(
    "query",
    [
        "\u600e\u4e48\u6e05\u6d17\u6cf5\uff1f",
        "\u0413\u0434\u0435 \u043d\u0430\u0441\u043e\u0441 P7?",
    ],
)
def test_another_script_is_another_language(query: str) -> None:
    (said,) = noted(query).values()
    assert said["language"] is None
    assert said["notice"].startswith("The question seems to be in another language, so it matches")


@pytest.mark.parametrize(
    "query",
    [
        "How is the pump cleaned?",
        "De Stijl",  # A single Dutch word can be a name.
        "die casting of the parts",
        "What does 'la la land' mean in the manual?",
        "pump \u03b1 flow rate",
        "D40 4711",
        "?",
    ],
)
def test_questions_in_the_language_of_the_documents(query: str) -> None:
    assert noted(query) == {}


def test_documents_of_other_languages_may_be_asked_in_english() -> None:
    (said,) = noted("How is the pump of the house cleaned?", "german").values()
    assert said["language"] == "english"
    assert said["notice"].endswith("in the documents, which are in German.")
    assert noted("Wie wird die Pumpe gereinigt?", "german") == {}


def test_documents_of_no_known_language_are_said_to_be_in_none() -> None:
    (said,) = noted("Wie wird die Pumpe gereinigt?", "none").values()
    assert said["notice"].endswith(" German, so it matches little in the documents.")


def test_words_that_many_chunks_have_are_of_their_language() -> None:
    assert noted("Wie wird die Pumpe gereinigt?", frequency=2)
    assert not noted("Wie wird die Pumpe gereinigt?", frequency=3)


@pytest.mark.parametrize(("model", "is_told"), [(None, True), ("multilingual-e5-small", False)])
def test_models_that_may_know_several_languages(model: str | None, is_told: bool) -> None:
    assert bool(noted("Wie wird die Pumpe gereinigt?", model=model)) == is_told
