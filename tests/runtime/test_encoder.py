import random
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import (
    CONTINUATION,
    PieceCutter,
    PieceEncoder,
    Word,
    split_words,
)

PIECES = ("a", "un", "##able", "##a", "able", "12", "##3")


@pytest.fixture(scope="module")
def english() -> PieceEncoder:
    return PieceEncoder.open(MODEL_FOLDER)


def rows_of(text: str) -> list[int]:
    return [row for word in PieceCutter(PIECES).cut(text) for row in word.rows]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("unable", [1, 2]),
        ("able", [4]),
        ("aable", [0, 2]),
        ("aa a", [0, 3, 0]),
        ("123", [5, 6]),
        ("unxable", [1, 2]),
        ("xyz", []),
        ("", []),
    ],
)
def test_words_are_cut_into_the_longest_pieces_from_the_left(text: str, rows: list[int]) -> None:
    assert rows_of(text) == rows


def word_by_definition(rows_of_pieces: Mapping[str, int], word: str) -> Word:
    """Cut a word by trying every end of a piece at each position, longest first."""
    rows, passed, start = list[int](), "", 0
    while start < len(word):
        mark = CONTINUATION if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in rows_of_pieces), start)
        rows += [rows_of_pieces[mark + word[start:end]]] if end > start else []
        passed += "" if end > start else word[start]
        start = max(end, start + 1)
    letters, missed = (sum(map(str.isalpha, text)) for text in (word, passed))
    digits = len(word) - letters
    return Word(tuple(rows), letters, letters - missed, digits, digits - len(passed) + missed)


some_pieces = st.lists(
    st.builds("{}{}".format, st.sampled_from(["", CONTINUATION]), st.text("ab1é", max_size=7)),
    unique=True,
)


@given(some_pieces, st.text("ab1éx", min_size=1, max_size=30))
def test_any_word_is_cut_by_the_definition(pieces: list[str], word: str) -> None:
    numbers = {piece: number for number, piece in enumerate(pieces)}
    assert PieceCutter(pieces).cut_word(word) == word_by_definition(numbers, word)


@pytest.fixture(scope="module")
def strange_words(english: PieceEncoder) -> list[str]:
    """Words of two pieces, and of letters and digits in unusual order."""
    chooser = random.Random(7)
    bare = [piece.removeprefix(CONTINUATION) for piece in english.pieces.numbers]
    pairs = ["".join(chooser.choices(bare, k=2)) for _ in range(1_000)]
    return [*pairs, *("".join(chooser.choices("aeqxz7", k=22)) for _ in range(1_000))]


def test_words_are_cut_by_the_english_table_as_by_definition(
    english: PieceEncoder, strange_words: list[str]
) -> None:
    for word in strange_words:
        expected = word_by_definition(english.pieces.numbers, word)
        assert english.pieces.cut_word(word) == expected


def test_few_piece_ends_are_tried(english: PieceEncoder, strange_words: list[str]) -> None:
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        steps += event == "line"
        return count if frame.f_code.co_filename == PieceCutter.cut.__code__.co_filename else None

    cutter = PieceCutter([*english.pieces.numbers])
    before = sys.gettrace()
    sys.settrace(count)
    try:
        for word in strange_words:
            cutter.cut_word(word)
    finally:
        sys.settrace(before)
    assert steps < 6 * sum(map(len, strange_words))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!",
        "黑豹队的防守丢了多少分",
        "كم نقطة خسر",
        "कितने अंक",
        "Сколько очков",
        "NFL 第五十届超级碗在哪里举行",
    ],
)
def test_text_without_known_pieces_has_no_vector(english: PieceEncoder, text: str) -> None:
    assert english.encode(text) is None


@pytest.mark.parametrize("text", ["2024", "Wie viele Punkte?", "¿Cuántos puntos?", "404 error"])
def test_latin_text_and_numbers_are_embedded(english: PieceEncoder, text: str) -> None:
    assert english.encode(text) is not None


def test_related_texts_are_nearer_than_unrelated_ones(english: PieceEncoder) -> None:
    query = english.encode("How do I restore a lost password?")
    related = english.encode("Resetting your login credentials if you forgot them")
    unrelated = english.encode("The river floods the valley every spring")
    assert query is not None and related is not None and unrelated is not None
    assert float(query @ related) > float(query @ unrelated) + 0.1


def test_a_fresh_encoder_gives_the_same_bytes(english: PieceEncoder) -> None:
    text = "Turbulent boundary layers over a heated flat plate, and 12 transistors. " * 20
    cutter = PieceCutter([*english.pieces.numbers], english.description.language)
    first, second = english.encode(text), replace(english, pieces=cutter).encode(text)
    assert first is not None and second is not None
    assert first.tobytes() == second.tobytes()


def test_encoders_with_the_same_pieces_share_them(english: PieceEncoder, tmp_path: Path) -> None:
    copy = shutil.copytree(MODEL_FOLDER, tmp_path / "copy")
    again = PieceEncoder.open(MODEL_FOLDER)
    assert PieceEncoder.open(copy).pieces is again.pieces
    lines = (copy / "pieces.txt").read_text().splitlines()
    (copy / "pieces.txt").write_text("\n".join([*lines[:-1], "zzzz", ""]))
    other = PieceEncoder.open(copy)
    assert other.pieces.cut("zzzz")[0].rows == (len(lines) - 1,)
    assert english.pieces.cut("zzzz")[0].rows != (len(lines) - 1,)


def test_word_order_does_not_change_the_vector(english: PieceEncoder) -> None:
    words = split_words("the quick brown fox jumps over a lazy dog while it rains in spain today")
    first, second = english.encode(" ".join(words)), english.encode(" ".join(reversed(words)))
    assert first is not None and second is not None
    assert first.tobytes() == second.tobytes()


def test_a_long_text_is_embedded(english: PieceEncoder) -> None:
    vector = english.encode(("retrieval servers answer questions " * 400)[:10_000])
    assert vector is not None
    assert vector.shape == (english.description.dimensions,)


@given(st.text())
def test_any_text_has_a_unit_vector_or_none(text: str) -> None:
    vector = PieceEncoder.open(MODEL_FOLDER).encode(text) if text else None
    if vector is not None:
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
