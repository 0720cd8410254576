"""Chunks: verbatim, within the limit, complete, with paths, lines and stable ids."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from configurations import chunking
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.chunking import chunk
from foundry.config.file import Strategy
from foundry.documents import Chunk, Document, RawDocument
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

_SANDBOX = Sandbox()


@pytest.fixture(scope="module", autouse=True)
def _close_sandbox(forked_readers: None) -> Iterator[None]:
    yield
    _SANDBOX.close()


def make_document(text: str, path: str = "a.md", **values: Any) -> Document:
    raw = RawDocument("s", path, path, text.encode("utf-8", "replace"), **values)
    result = read_apart(raw, _SANDBOX)
    assert isinstance(result, Document), result
    return result


def split(
    text: str,
    strategy: Strategy = "headings",
    max_chars: int = 1200,
    overlap: int = 0,
    path: str = "a.md",
) -> list[Chunk]:
    return chunk(make_document(text, path), chunking(strategy, max_chars, overlap))


def texts(text: str, *options: Any, **more: Any) -> list[str]:
    return [piece.text for piece in split(text, *options, **more)]


def test_each_section_is_a_chunk_with_its_path_and_lines() -> None:
    chunks = split("intro\n\n# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n")
    assert [(c.text, c.heading_path, c.line_start, c.line_end) for c in chunks] == [
        ("intro", (), 1, 1),
        ("# A\n\none", ("A",), 3, 5),
        ("## B\n\ntwo", ("A", "B"), 7, 9),
        ("# C\n\nthree", ("C",), 11, 13),
    ]
    assert [(c.start, c.end) for c in chunks] == [(0, 5), (7, 15), (17, 26), (28, 38)]


def test_front_matter_is_not_a_chunk() -> None:
    (only,) = split("---\ntitle: T\n---\ntext\n")
    assert (only.text, only.line_start) == ("text", 4)


def test_a_heading_without_text_begins_the_next_section() -> None:
    chunks = split("# A\n\n## B\n\n### C\n\ntext\n\n## D\n\n## E\n\nmore\n\n# F\n")
    assert [(c.text, c.heading_path, c.inner_paths) for c in chunks] == [
        ("# A\n\n## B\n\n### C\n\ntext", ("A", "B", "C"), ()),
        ("## D\n\n## E\n\nmore", ("A", "E"), (("A", "D"),)),
        ("# F", ("F",), ()),
    ]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("# Large cats\n\n# Habitat\n\nForests.\n", "cats.md"),
        ("# Large cats\n\n---\n\n# Habitat\n\nForests.\n", "cats.md"),
        ("Large cats\n==========\n\nHabitat\n=======\n\nForests.\n", "cats.rst"),
        ("<h1>Large cats</h1><h1>Habitat</h1><p>Forests.</p>", "cats.html"),
        ("---\ntitle: Large cats\n---\nLarge  cats\n\n# Habitat\n\nForests.\n", "cats.md"),
        ("= Large cats\n\n== Habitat\n\nForests.\n", "cats.adoc"),
        ("\\section{Large cats}\n\\section{Habitat}\nForests.\n", "cats.tex"),
    ],
)
def test_no_chunk_is_only_the_title(text: str, path: str) -> None:
    strategies: tuple[Strategy, ...] = ("headings", "sentences", "page", "parent")
    for strategy in strategies:
        (only,) = split(text, strategy, path=path)
        assert "Large" in only.text and only.text.endswith("Forests.")
        assert only.heading_path[-1] == "Habitat"


def test_headings_above_a_cut_section_are_kept() -> None:
    fence = "```\n" + "x" * 190 + "\n```"
    chunks = texts(f"# One\n\n# Two\n\n{fence}\n", max_chars=200)
    assert chunks == ["# One\n\n# Two", fence]


def test_heading_levels_may_be_skipped() -> None:
    paths = [c.heading_path for c in split("### A\n\nx\n\n# B\n\ny\n\n#### C\n\nz\n\n## D\n\nw\n")]
    assert paths == [("A",), ("B",), ("B", "C"), ("B", "D")]


def test_a_long_section_is_cut_evenly_between_paragraphs() -> None:
    paragraph = "Some words that fill a line of text. " * 3
    chunks = split("# A\n\n" + "\n\n".join([paragraph] * 12))
    assert [c.heading_path for c in chunks] == [("A",)] * 2
    assert max(len(c.text) for c in chunks) - min(len(c.text) for c in chunks) < 150
    assert all(c.text.endswith("text.") for c in chunks)


@pytest.mark.parametrize("path", ["a.md", "a.html", "a.txt", "a.rst"])
def test_a_long_paragraph_is_cut_evenly_between_sentences(path: str) -> None:
    sentence = "The owner's key isn't *lost*, as `find` shows, and it's in\nthe list. "
    chunks = texts(sentence * 20, path=path)
    assert [piece.count("isn't") for piece in chunks] == [10, 10]
    assert all(piece.startswith("The") and piece.endswith("list.") for piece in chunks)


@pytest.mark.parametrize("strategy", ["headings", "recursive", "sentences", "page", "code"])
def test_blocks_that_fit_are_never_cut(strategy: Strategy) -> None:
    fence = "```py\n" + "\n\n".join(f"line_{n} = {n}" for n in range(20)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | value |" for n in range(15))
    filler = "A sentence of filler text here. " * 8
    text = "# T\n\n" + "\n\n".join([filler, fence, filler, table, filler, fence])
    chunks = texts(text, strategy, 500)
    assert sum(fence in piece for piece in chunks) == 2
    assert sum(table in piece for piece in chunks) == 1


def test_a_block_that_does_not_fit_is_cut_between_lines() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(100)]
    chunks = texts("```\n" + "\n".join(lines) + "\n```\n", max_chars=200)
    assert [line for piece in chunks for line in piece.split("\n")] == ["```", *lines, "```"]


@pytest.mark.parametrize("strategy", ["headings", "sentences", "parent"])
def test_a_heading_above_a_full_block_is_not_a_chunk_of_its_own(strategy: Strategy) -> None:
    fence = "```\n" + "x" * 190 + "\n```"
    chunks = split(f"# Heading words\n\n{fence}\n", strategy, max_chars=200)
    assert [(c.text, c.heading_path) for c in chunks] == [(fence, ("Heading words",))]


def test_code_is_cut_between_definitions() -> None:
    functions = [f"def f{n}():\n    a = 1\n\n    return a + {n}" for n in range(8)]
    chunks = texts("\n\n\n".join(functions), max_chars=120, path="a.py")
    assert all(piece.startswith("def ") for piece in chunks)
    assert all(any(function in piece for piece in chunks) for function in functions)


def test_recursive_strategy_fills_chunks_with_whole_sections() -> None:
    text = "".join(f"# H{n}\n\n{'word ' * 20}\n\n" for n in range(10))
    chunks = split(text, "recursive", 350)
    assert all(c.text.startswith("# H") for c in chunks)
    assert [c.heading_path for c in chunks][:2] == [("H0",), ("H3",)]


@pytest.mark.parametrize("name", ["notes.txt", "values.yaml", "table.unknown"])
def test_plain_text_and_data_keep_the_indent_of_a_first_line(name: str) -> None:
    lines = [f"    key{n}:\n      words: of the entry number {n}\n" for n in range(60)]
    content = "top:\n" * name.endswith("yaml") + "".join(lines)
    chunks = chunk(make_document(content, name), chunking("headings", 300))
    assert len(chunks) > 5
    assert all(each.text.startswith(("    key", "      words", "top:")) for each in chunks)


def test_recursive_strategy_keeps_headings_with_their_text() -> None:
    paragraph = "word " * 20 + "\n\n"
    chunks = texts(f"# A\n\n{paragraph * 3}# B\n\n{paragraph * 4}", "recursive", 400)
    assert [piece.count("word") for piece in chunks] == [60, 40, 40]
    assert [piece[:3] for piece in chunks] == ["# A", "# B", "wor"]


def test_strategy_none_keeps_the_document_whole() -> None:
    (only,) = split("---\na: b\n---\n\n# A\n\n" + "word " * 5_000, "none", 100)
    assert len(only.text) > 20_000
    assert only.heading_path == ()


def test_overlap_repeats_whole_words_within_the_limit() -> None:
    text = " ".join(f"word{n}." for n in range(500))
    chunks = split(text, "recursive", 300, 60)
    for before, after in pairwise(chunks):
        assert 0 < before.end - after.start <= 60
        assert after.text.startswith("word")
    assert max(len(c.text) for c in chunks) <= 300


def overlaps(text: str, strategy: Strategy, overlap: int) -> set[int]:
    chunks = split(text, strategy, 300, overlap)
    assert all(len(piece.text) <= 300 for piece in chunks)
    return {before.end - after.start for before, after in pairwise(chunks)}


@pytest.mark.parametrize("strategy", ["recursive", "headings", "page", "code"])
def test_overlap_is_as_large_as_configured(strategy: Strategy) -> None:
    """Each word has eight characters and a space; the last space is not part of a chunk."""
    text = " ".join(f"word{n:03}." for n in range(300))
    repeated = {0: -1, 8: -1, 9: 8, 17: 8, 18: 17, 60: 53, 99: 98}
    assert {size: overlaps(text, strategy, size) for size in repeated} == {
        size: {found} for size, found in repeated.items()
    }


def test_overlap_of_sentences_is_as_large_as_configured() -> None:
    words = [f"Sentence {n:02} says e.g. 3.14 of it, Dr. Who." for n in range(30)]
    assert {len(sentence) for sentence in words} == {42}
    repeated = {0: -1, 42: -1, 43: 42, 85: 42, 86: 85, 99: 85}
    assert {size: overlaps(" ".join(words), "sentences", size) for size in repeated} == {
        size: {found} for size, found in repeated.items()
    }


def test_a_short_record_is_one_chunk() -> None:
    document = make_document("One. Two.\n\nThree.", "7", id="7", media_type="text/plain")
    (only,) = chunk(document, chunking("headings", 1200, 0))
    assert (only.text, only.document_id) == ("One. Two.\n\nThree.", "7")


def test_pieces_without_words_are_dropped() -> None:
    assert texts("---\n\n***\n\n# A\n\ntext\n\n# !!!\n\n---\n") == ["# A\n\ntext"]


def test_ids_survive_edits_elsewhere() -> None:
    before = {c.text: c.id for c in split("# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n")}
    after = {
        c.text: c.id for c in split("new\n\n# A\n\none\n\n# X\n\nadded\n\n# B\n\ntwo\n\n# C\n\n3")
    }
    assert before["# A\n\none"] == after["# A\n\none"]
    assert before["# B\n\ntwo"] == after["# B\n\ntwo"]
    assert before["# C\n\nthree"] == after["# C\n\n3"]


def test_equal_headings_give_distinct_ids() -> None:
    chunks = split("# A\n\n## X\n\n1\n\n# A\n\n## X\n\n2\n\n## X\n\n3\n")
    assert len({c.id for c in chunks}) == len(chunks) == 3


@pytest.mark.parametrize(
    "text",
    [
        "a" * 2_000_000,
        "中文字符" * 100_000,
        "The quick brown fox. " * 100_000,
        "a\n" * 200_000,
        "x\u0301" * 100_000,
        "# a\n" * 20_000,
    ],
)
@pytest.mark.slow
def test_large_texts_are_cut_in_reasonable_time(text: str) -> None:
    document = make_document(text)
    begin = time.process_time()
    chunks = chunk(document, chunking("headings", 1200, 0))
    assert max(len(c.text) for c in chunks) <= 1200
    assert time.process_time() - begin < 60


_PARTS = st.sampled_from(
    [
        *(
            "# One\n\n",
            "## Two\n\n",
            "### Two\n",
            "word ",
            "Sentence here. ",
            "\n",
            "\n\n",
            "```\n",
        ),
        *("def f():\n    return 1\n", "class A:\n    def m(self):\n        pass\n", "\nx = 1\n"),
        *("| a | b |\n|---|---|\n", "| 1 | 2 |\n", "- item\n", "    code\n", "<div>\n", "x" * 150),
        *(
            "中文字符" * 10,
            "é",
            "😀",
            "***\n",
            "> quote\n",
            "\u00a0",
            "\u2028",
            "[link](target.md) ",
        ),
    ]
)
_TEXTS = st.lists(_PARTS, max_size=80).map("".join).filter(lambda text: re.search(r"\w", text))
_STRATEGIES = st.sampled_from(
    ["headings", "recursive", "sentences", "page", "code", "parent", "none"]
)


INDENTS = ("    ", "\t", " \t", "  \t", "   \t")


@settings(deadline=None, max_examples=150)
@given(
    _TEXTS, _STRATEGIES, st.integers(100, 400), st.integers(0, 99), st.sampled_from(["md", "py"])
)
def test_chunks_are_verbatim_within_limits_and_unique(
    text: str, strategy: Strategy, max_chars: int, overlap: int, suffix: str
) -> None:
    document = make_document(text, f"a.{suffix}")
    chunks = chunk(document, chunking(strategy, max_chars, overlap))
    for piece in chunks:
        assert piece.text == document.reading.text[piece.start : piece.end]
        assert piece.text.strip() in {piece.text, piece.text.lstrip()}
        is_code = suffix == "py" or piece.text.startswith(INDENTS)
        assert is_code or piece.text == piece.text.strip()
        assert re.search(r"[^\W_]", piece.text)
        assert strategy == "none" or len(piece.text) <= max_chars
        assert piece.line_start == document.reading.text.count("\n", 0, piece.start) + 1
        assert piece.line_end == document.reading.text.count("\n", 0, piece.end) + 1
    assert len({piece.id for piece in chunks}) == len(chunks)
    starts = [piece.start for piece in chunks]
    assert starts == sorted(starts)
    # No letter or digit is lost.
    named = {heading for piece in chunks for heading in piece.heading_path}
    covered = bytearray(len(document.reading.text))
    for span in [h for h in document.reading.headings if h.text in named] + chunks:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    lost = [c for c, kept in zip(document.reading.text, covered, strict=True) if not kept]
    assert not re.search(r"[^\W_]", "".join(lost[document.reading.body_start :]))


@settings(deadline=None, max_examples=50)
@given(_TEXTS, _STRATEGIES, st.integers(100, 400), st.sampled_from(["md", "py"]))
def test_chunks_overlap_only_if_configured(
    text: str, strategy: Strategy, max_chars: int, suffix: str
) -> None:
    document = make_document(text, f"a.{suffix}")
    chunks = chunk(document, chunking(strategy, max_chars, 0))
    assert all(before.end <= after.start for before, after in pairwise(chunks))


@settings(deadline=None, max_examples=50)
@given(_TEXTS, _STRATEGIES, st.integers(0, 99))
def test_chunks_keep_a_limit_in_tokens(text: str, strategy: Strategy, overlap: int) -> None:
    options = chunking(strategy, 400, overlap, max_tokens=64)
    document = make_document(text)

    def count(passage: str) -> int:
        return len(passage.encode())

    chunks = chunk(document, options, count)
    for piece in chunks:
        above = count("\n".join((document.title, *piece.heading_path)))
        assert count(piece.text) <= max(64 - above, 32)
        assert piece.text == document.reading.text[piece.start : piece.end]
    assert len({piece.id for piece in chunks}) == len(chunks)


@settings(deadline=None, max_examples=50)
@given(_TEXTS, st.integers(100, 300), st.integers(0, 99), st.integers(0, 600))
def test_parents_are_runs_of_neighbours_within_their_limit(
    text: str, max_chars: int, overlap: int, more: int
) -> None:
    limit = max_chars + more
    options = chunking("parent", max_chars, overlap, parent_max_chars=limit)
    chunks = chunk(make_document(text), options)
    parents = [piece.parent for piece in chunks]
    assert len(set(parents)) == sum(a != b for a, b in pairwise([None, *parents]))
    for parent in set(parents):
        assert parent is not None
        members = [piece for piece in chunks if piece.parent == parent]
        assert (members[0].start, members[-1].end) == (parent.start, parent.end)
        assert parent.end - parent.start <= limit
        assert members[0].position()["parent_start"] == parent.start
    for before, after in pairwise(dict.fromkeys(parents)):
        assert before is not None and after is not None
        assert before.end <= after.start


def test_a_parent_is_the_largest_section_that_fits() -> None:
    text = "# A\n\nintro\n\n## B\n\n" + "b. " * 30 + "\n\n## C\n\nc\n\n# D\n\n" + "d. " * 60
    options = chunking("parent", 100, 0, parent_max_chars=150)
    chunks = chunk(make_document(text), options)
    paths: dict[object, set[str]] = {}
    for piece in chunks:
        paths.setdefault(piece.parent, set()).add("/".join(piece.heading_path))
    assert list(paths.values()) == [{"A", "A/B", "A/C"}, {"D"}, {"D"}]


def test_sentences_are_whole_and_overlap_by_whole_sentences() -> None:
    words = [f"Sentence number {n} says e.g. 3.14 of it, Dr. Who." for n in range(12)]
    chunks = split(" ".join(words), "sentences", 160, 60)
    assert all(c.text.startswith("Sentence") and c.text.endswith("Who.") for c in chunks)
    for before, after in pairwise(chunks):
        assert before.text.endswith(after.text[: before.end - after.start])
        assert before.end - after.start in {len(words[0]), len(words[-1])}
    assert max(len(c.text) for c in chunks) <= 160


def test_sentences_without_spaces_end_at_full_stops() -> None:
    sentence = "\u4eca\u65e5\u306f\u6674\u308c\u3067\u3059\u3002"
    chunks = texts(sentence * 40, "sentences", 100)
    assert len(chunks) > 2
    assert all(c.endswith("\u3002") and len(c) % len(sentence) == 0 for c in chunks)


def test_pages_are_chunks_and_larger_ones_are_cut() -> None:
    text = "# One\n\nfirst page\n\nsecond page\n\n" + "word " * 60
    document = make_document(text)
    pages = (0, text.index("second"), text.index("word"))
    paged = replace(document, reading=replace(document.reading, pages=pages))
    chunks = chunk(paged, chunking("page", 200, 0))
    assert [c.page for c in chunks] == [1, 2, 3, 3]
    assert [c.text for c in chunks[:2]] == ["# One\n\nfirst page", "second page"]
    assert all(c.heading_path == ("One",) for c in chunks)


def test_a_page_has_the_path_of_its_first_text() -> None:
    document = make_document("# One\n\nfirst page\n\n# Two\n\nsecond page\n")
    text = document.reading.text.rstrip() + "\n" * 5
    pages = (0, text.index("\n\n# Two"), len(text) - 3, len(text) - 1)
    paged = replace(document, reading=replace(document.reading, text=text, pages=pages))
    assert [(c.text, c.heading_path) for c in chunk(paged, chunking("page", 200, 0))] == [
        ("# One\n\nfirst page", ("One",)),
        ("# Two\n\nsecond page", ("Two",)),
    ]


def test_headings_before_the_body_do_not_begin_sections() -> None:
    document = make_document("# One\n\n1\n\n# Half\n\n1\n\n# Two\n\nsecond\n")
    start = document.reading.text.index("# Two")
    body = replace(document, reading=replace(document.reading, body_start=start))
    assert [(c.text, c.heading_path) for c in chunk(body, chunking("headings"))] == [
        ("# Two\n\nsecond", ("Two",))
    ]


def test_classes_stay_whole_around_their_methods() -> None:
    text = "class A:\n    x = 1\n\n    def m(self):\n        return 1\n\n    y = 2\n"
    both = [text, text.replace("A", "B")]
    assert texts("".join(both), "code", len(text), path="a.py") == [each.strip() for each in both]


def test_documents_without_pages_are_cut_by_headings() -> None:
    text = "# A\n\none\n\n# B\n\ntwo\n"
    assert split(text, "page") == split(text, "headings") == split(text, "code")


def test_code_keeps_a_class_that_fits_whole() -> None:
    method = "    def m{0}(self):\n        return {0}\n"
    small = "class A:\n" + "".join(method.format(n) for n in range(2))
    large = "class B:\n" + "".join(method.format(n) for n in range(9))
    text = f"import os\n\n\n{small}\n\n{large}\n\nprint(A)\n"
    paths = [c.heading_path for c in split(text, "code", 200, path="a.py")]
    assert paths == [(), ("A",), ("B",), *(("B", f"m{n}") for n in range(9)), ()]
    paths = [c.heading_path for c in split(text, "headings", 200, path="a.py")]
    assert paths[1:4] == [("A",), ("A", "m0"), ("A", "m1")]


@settings(deadline=None, max_examples=50)
@given(_TEXTS)
def test_a_section_added_at_the_end_changes_no_other_id(text: str) -> None:
    options = chunking("headings", 200, 0)
    before = chunk(make_document(text + "\n\n# Last\n\nwords\n"), options)
    after = chunk(make_document(text + "\n\n# Last\n\nwords\n\n# Added\n\nmore\n"), options)
    assert [piece.id for piece in before] == [piece.id for piece in after][: len(before)]
