"""Texts embedded in a batch have the same vectors as alone, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from foundry.embedding.many_texts import BATCH_TEXTS, encode_all, encode_texts
from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import PieceEncoder

TEXTS = [
    "The seal must be dry before the pump starts.",
    "the the the pump, the pump",
    "",
    "   \n",
    "日本語",
    "2024 1005.6(b)(2)",
    "Qwxzjk " * 40 + "pump",
    "Les joints d'étanchéité de la pompe",
    "max_connections = 100; std::vector<int> values;",
]


@pytest.fixture(scope="module")
def encoder() -> PieceEncoder:
    return PieceEncoder.open(MODEL_FOLDER)


@pytest.mark.parametrize("common", [0.0, 0.3])
def test_batched_vectors_equal_those_of_single_texts(encoder: PieceEncoder, common: float) -> None:
    encoder = replace(encoder, description=replace(encoder.description, common=common))
    vectors = encode_all(encoder, TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        alone = encoder.encode(text)
        assert vector.tobytes() == (np.zeros_like(vector) if alone is None else alone).tobytes()
    assert {bool(vector.any()) for vector in vectors} == {True, False}


def test_batched_pieces_are_those_of_each_text_in_ascending_order(encoder: PieceEncoder) -> None:
    encoded = encode_texts(encoder, TEXTS)
    for place, text in enumerate(TEXTS):
        rows = {row for word in encoder.pieces.cut(text) for row in word.rows}
        span = slice(*encoded.offsets[place : place + 2].tolist())
        assert encoded.pieces[span].tolist() == sorted(rows)


def test_more_texts_than_a_batch_have_the_same_vectors(encoder: PieceEncoder) -> None:
    times = BATCH_TEXTS // len(TEXTS) + 2
    many, few = encode_texts(encoder, TEXTS * times), encode_texts(encoder, TEXTS)
    assert many.vectors.tobytes() == few.vectors.tobytes() * times
    assert many.pieces.tobytes() == few.pieces.tobytes() * times
    assert np.diff(many.offsets).tolist() == np.diff(few.offsets).tolist() * times


def test_no_texts_have_no_vectors(encoder: PieceEncoder) -> None:
    assert encode_all(encoder, []).shape == (0, encoder.description.dimensions)
