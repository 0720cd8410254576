"""Blocks that many documents share are removed from chunks."""

import numpy as np
import pytest
from configurations import chunking
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.building.corpus.boilerplate import MIN_DOCUMENTS, find_boilerplate, trim
from foundry.building.documents.signature import Signature, edge_keys, find_blocks
from foundry.chunking import chunk
from foundry.config.file import ChunkingSection
from foundry.documents import Chunk, Document, RawDocument, Skipped
from foundry.readers import read

MENU = "- [Start](/) - [Products and services](/products) - [About the company](/about)"
NOTE = "This site uses cookies to count its visitors. By reading on you agree to that."
OPTIONS = chunking("headings", 1200, 0)


def document(name: str, text: str) -> Document:
    found = read(RawDocument("site", name, name, text.encode()))
    assert not isinstance(found, Skipped)
    return found


def trimmed(texts: list[str], options: ChunkingSection = OPTIONS) -> list[list[Chunk]]:
    """The chunks of each document, without boilerplate."""
    documents = [document(f"{number}.md", text) for number, text in enumerate(texts)]
    blocks = [[*find_blocks(one.reading)] for one in documents]
    keys = [Signature.of(one, own).blocks for one, own in zip(documents, blocks, strict=True)]
    counts = np.array([*map(len, keys)])
    boilerplate = find_boilerplate(np.arange(len(keys)), counts, np.concatenate(keys))
    found = []
    for number, one in enumerate(documents):
        chunks = tuple(chunk(one, options))
        unwanted = boilerplate.get(number, set())
        result = trim(one, chunks, unwanted)
        kept = result.chunks
        if unwanted.isdisjoint(edge_keys(blocks[number], chunks)):
            assert kept == chunks
        assert result.dropped == len(chunks) - len(kept)
        assert result.characters == sum(map(size, chunks)) - sum(map(size, kept))
        whole = {piece.id: piece for piece in chunks}
        for piece in kept:
            assert whole[piece.id].start <= piece.start < piece.end <= whole[piece.id].end
            assert piece.text == one.reading.text[piece.start : piece.end]
            lines = one.reading.text.split("\n")[piece.line_start - 1 : piece.line_end]
            assert piece.text in "\n".join(lines)
        found.append(list(kept))
    return found


def size(piece: Chunk) -> int:
    return piece.end - piece.start


LICENCE = " ".join(f"Clause {n} of the licence that all of them share." for n in range(40))


@pytest.mark.parametrize(
    "written",
    ["# Page {}\n\n" + LICENCE, "Own text {}.\n\n" + LICENCE, LICENCE + "\n\nOwn text {}."],
)
def test_a_block_that_a_chunk_has_only_a_part_of_is_kept(written: str) -> None:
    texts = [written.format(number) for number in range(MIN_DOCUMENTS)]
    found = trimmed(texts, chunking("sentences", 1200, 0))
    for text, chunks in zip(texts, found, strict=True):
        assert len(chunks) == 2
        assert " ".join(piece.text for piece in chunks).split() == text.split()


def own_text(number: int) -> str:
    return " ".join(f"Sentence {n} of document {number}, and no other." for n in range(30))


def test_a_cut_paragraph_below_boilerplate_stays_cut() -> None:
    texts = [f"{NOTE}\n\n{own_text(number)}\n" for number in range(MIN_DOCUMENTS)]
    for number, chunks in enumerate(trimmed(texts, chunking("sentences", 1200, 0))):
        assert len(chunks) == 2
        assert chunks[0].text.startswith("This site" if number == 0 else "Sentence 0 of")
        assert " ".join(piece.text for piece in chunks).endswith(texts[number][-40:].strip())


def test_a_cut_paragraph_above_boilerplate_stays_whole() -> None:
    texts = [f"{own_text(number)}\n\n{NOTE}\n" for number in range(MIN_DOCUMENTS)]
    for number, chunks in enumerate(trimmed(texts, chunking("sentences", 1200, 0))):
        assert len(chunks) == 2
        assert " ".join(piece.text for piece in chunks).startswith(own_text(number))


def page(number: int) -> str:
    return f"{MENU}\n\n# Page {number}\n\nText number {number} of the site.\n\n{NOTE}\n"


def test_only_the_first_document_keeps_menu_and_note() -> None:
    found = trimmed([page(number) for number in range(MIN_DOCUMENTS)])
    assert [piece.text for piece in found[0]] == [MENU, page(0).split("\n\n", 1)[1].strip()]
    for number, chunks in enumerate(found[1:], start=1):
        assert [piece.text for piece in chunks] == [
            f"# Page {number}\n\nText number {number} of the site."
        ]


def test_chunk_ids_do_not_change() -> None:
    texts = [page(number) for number in range(MIN_DOCUMENTS)]
    before = {piece.id for piece in chunk(document("3.md", texts[3]), OPTIONS)}
    assert {piece.id for piece in trimmed(texts)[3]} < before


def test_too_few_documents_have_no_boilerplate() -> None:
    texts = [page(number) for number in range(MIN_DOCUMENTS - 1)]
    assert sum(len(chunks) for chunks in trimmed(texts)) == 2 * len(texts)


def test_a_block_of_a_small_share_of_documents_is_kept() -> None:
    texts = [page(number) for number in range(MIN_DOCUMENTS)]
    texts += [f"# Other {number}\n\nSomething else {number}." for number in range(200)]
    assert len(trimmed(texts)[5]) == 2


@pytest.mark.parametrize(
    ("block", "having", "documents", "is_boilerplate"),
    [
        (NOTE, 10, 10, True),
        (NOTE, 10, 100, True),
        (NOTE, 10, 101, False),
        (NOTE, 9, 50, False),
        ("Range: touch", 18, 20, True),
        ("Range: touch", 17, 20, False),
        ("Range: touch", 18, 21, False),
    ],
)
def test_minimum_share_of_documents_for_boilerplate(
    block: str, having: int, documents: int, is_boilerplate: bool
) -> None:
    texts = [
        f"Own text {number}." + (f"\n\n{block}" if number < having else "")
        for number in range(documents)
    ]
    having_it = [block in chunks[0].text for chunks in trimmed(texts)]
    assert sum(having_it) == (1 if is_boilerplate else having)


def test_a_heading_keeps_its_only_text_and_text_its_heading() -> None:
    texts = [
        f"# Function {number}\n\nDoes thing {number}.\n\n## Return value of {number}\n\n{NOTE}\n"
        f"\n## Remarks\n\nRemark {number}.\n"
        for number in range(MIN_DOCUMENTS)
    ]
    for number, chunks in enumerate(trimmed(texts)):
        assert [piece.text for piece in chunks] == [
            f"# Function {number}\n\nDoes thing {number}.",
            f"## Return value of {number}\n\n{NOTE}",
            f"## Remarks\n\nRemark {number}.",
        ]


def test_a_section_that_is_in_every_document_is_removed_whole() -> None:
    texts = [
        f"# Function {number}\n\nDoes thing {number}.\n\n## Feedback\n\n{NOTE}\n"
        for number in range(MIN_DOCUMENTS)
    ]
    found = trimmed(texts)
    assert [len(chunks) for chunks in found] == [2] + [1] * (MIN_DOCUMENTS - 1)


def test_short_facts_that_some_documents_share_are_kept() -> None:
    texts = [
        (
            f"# Spell {number}\n\nEffect {number}.\n\nRange: touch"
            if number % 3
            else f"# Rule {number}"
        )
        for number in range(60)
    ]
    for number, chunks in enumerate(trimmed(texts)):
        if number % 3:
            assert chunks[0].text.endswith("Range: touch")


def test_tables_and_fences_are_single_blocks() -> None:
    head = "| name of the measurement | unit of the measurement |\n|---|---|\n"
    texts = [f"# T{number}\n\n{head}| depth {number} | m |\n" for number in range(20)]
    for number, chunks in enumerate(trimmed(texts)):
        assert head in chunks[0].text and f"depth {number}" in chunks[0].text


def test_a_document_of_only_boilerplate_is_kept() -> None:
    texts = [page(number) for number in range(MIN_DOCUMENTS)] + [f"{MENU}\n\n{NOTE}\n"]
    assert [piece.text for piece in trimmed(texts)[-1]] == [f"{MENU}\n\n{NOTE}"]


blocks = st.sampled_from([MENU, NOTE, "# Head", "## Feedback", "unlike anything", "x = 1"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(blocks, min_size=1, max_size=5), min_size=12, max_size=16))
def test_only_repeated_text_is_removed(documents: list[list[str]]) -> None:
    texts = ["\n\n".join([*parts, f"Own text {number}"]) for number, parts in enumerate(documents)]
    found = trimmed(texts)
    everything = "\n".join(piece.text for chunks in found for piece in chunks)
    for number, parts in enumerate(documents):
        assert any(f"Own text {number}" in piece.text for piece in found[number])
        for part in parts:
            assert part.strip("# ") in everything or part.startswith("#")
