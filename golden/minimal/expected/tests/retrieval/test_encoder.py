"""Texts become vectors by the table of their pieces, by numbers worked out by hand."""

import numpy as np
import pytest

from workshop.retrieval.encoder import (
    EncoderDescription,
    PieceCutter,
    PieceEncoder,
    split_words,
)


def encoder(common: float = 0.0) -> PieceEncoder:
    """Return an encoder of four pieces and two dimensions; half of a text must be covered."""
    return PieceEncoder(
        EncoderDescription("small", 2, minimum_coverage=0.5, common=common, sha256=""),
        PieceCutter(["pump", "##s", "7", "void"]),
        np.array([[3, 4], [0, 5], [4, 3], [0, 0]], dtype=np.int8),
        np.array([1.0, 1.0, 2.0, 1.0]),
    )


def test_words_are_folded_and_lose_their_accents() -> None:
    assert split_words("Straße ÉTÉ, naïve_word №5") == ["strasse", "ete", "naive", "word", "no5"]


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("Pump", (3, 4)),
        ("pumps", (3, 9)),
        # A piece that occurs four times counts twice.
        ("pump, pump; pumps pump", (6, 13)),
        ("7", (4, 3)),
        ("pump 7", (11, 10)),
        ("pump seal", (3, 4)),
    ],
)
def test_vector_is_the_weighted_sum_of_pieces(text: str, total: tuple[int, int]) -> None:
    assert encoder().encode(text) == pytest.approx(np.array(total) / np.hypot(*total), abs=1e-6)


def test_roots_of_counts_are_whole_numbers_of_256ths() -> None:
    # 256 times the root of 3 is 443.4.
    total = 443 * np.array([3, 4]) + 256 * 2 * np.array([4, 3])
    expected = total / np.hypot(*total)
    assert encoder().encode("pump pump pump 7") == pytest.approx(expected, abs=2e-7)


@pytest.mark.parametrize("text", ["", "?!", "seal", "pump handle", "void", "8"])
def test_text_without_a_vector(text: str) -> None:
    assert encoder().encode(text) is None


def test_common_part_of_all_vectors_is_part_of_the_cosine() -> None:
    first, second = (encoder(common=0.25).encode(text) for text in ("pump", "7"))
    assert first is not None and second is not None
    # Less its mean, each points along (1, -1), in opposite directions.
    assert float(first @ second) == pytest.approx(0.25 - 0.75, abs=1e-6)
    assert float(first @ first) == pytest.approx(1.0, abs=1e-6)


def test_words_of_english_are_cut_in_their_american_spelling() -> None:
    british, american = (
        PieceCutter(["color"], "english").cut(word) for word in ("colour", "color")
    )
    assert british == american != PieceCutter(["color"], "german").cut("colour")
