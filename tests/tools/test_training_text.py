import gzip
from pathlib import Path

from training_text import (
    SOURCES,
    Passage,
    description_passages,
    dictionary_passages,
    draw_passages,
    marked_up_passages,
    sentences,
    training_texts,
    wordnet_passages,
)


def test_paragraphs_are_gathered_below_their_heading(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<h1>2.1. Locks</h1><p>A lock keeps two writers from one row.</p><pre>LOCK TABLE</pre>"
        "<p>Readers are never kept waiting by it.</p><h2>Deadlocks</h2><p>Too short.</p>"
    )
    assert list(marked_up_passages(page)) == [
        Passage(
            "Locks", "A lock keeps two writers from one row. Readers are never kept waiting by it."
        )
    ]


def test_a_synset_is_its_words_and_its_gloss(tmp_path: Path) -> None:
    line = "00001740 03 n 02 kitchen_range 0 stove 1 001 ~ 00001930 n 0000 | used for cooking  \n"
    (tmp_path / "data.noun").write_text("  1 licence text\n" + line)
    assert list(wordnet_passages(tmp_path)) == [Passage("kitchen range, stove", "used for cooking")]


def test_a_dictionary_entry_loses_labels_and_sources(tmp_path: Path) -> None:
    entry = (
        "Actors\n\n   <theory> A model for {concurrency} by message passing.\n\n   (1994-11-08)\n"
    )
    (tmp_path / "x.dict.dz").write_bytes(gzip.compress(entry.encode()))
    assert list(dictionary_passages(tmp_path)) == [
        Passage("Actors", "A model for concurrency by message passing.")
    ]


def test_descriptions_are_cut_at_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "descriptions.txt"
    path.write_text(
        "Package: a\nDescription-en: a solver\n Solves sparse systems of linear\n equations.\n .\n"
        " Runs on several machines at once.\n\nPackage: b\nDescription-en: debug symbols\n x\n"
    )
    assert list(description_passages(path)) == [
        Passage("a solver", "Solves sparse systems of linear equations."),
        Passage("a solver", "Runs on several machines at once."),
    ]


def test_very_short_sentences_are_joined_to_the_previous_one() -> None:
    text = "No. That is not how a lock works in this system. It waits."
    assert sentences(text) == ["No. That is not how a lock works in this system.", "It waits."]


def test_the_same_seed_draws_the_same_texts() -> None:
    group = [Passage(f"title {n}", f"A definition of the thing number {n}.") for n in range(50)]
    passages = {source.package: [] for source in SOURCES} | {"wordnet-base": group}
    texts = training_texts(draw_passages(passages, 3), 3)
    assert texts == training_texts(draw_passages(passages, 3), 3)
    assert len(texts) == len(set(texts))
    assert any(text.endswith("?") for text in texts)
