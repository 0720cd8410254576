from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foundry.embedding.distil.distill import (
    Options,
    count_pieces,
    inverse_frequency_weights,
    join_pieces,
    quantise_rows,
    train,
    unit_rows,
)
from foundry.embedding.encoder_files import write_encoder_files
from foundry.runtime.retrieval.encoder import EncoderDescription, EncoderLayout, PieceEncoder

PIECES = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]
DIMENSIONS = 8


def synthetic_teacher(count: int) -> tuple[list[str], np.ndarray]:
    """Texts of random words, and the directions of the sums of hidden word vectors."""
    generator = np.random.default_rng(7)
    hidden = generator.normal(size=(len(PIECES), DIMENSIONS))
    texts, targets = [], []
    for _ in range(count):
        chosen = generator.choice(len(PIECES), size=5, replace=False)
        texts.append(" ".join(PIECES[number] for number in chosen))
        targets.append(hidden[chosen].sum(axis=0))
    return texts, unit_rows(np.array(targets, dtype=np.float32))


def starting_rows() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(len(PIECES), DIMENSIONS)).astype(np.float32)


def write(folder: Path, rows: np.ndarray) -> EncoderDescription:
    pieces, quantised = join_pieces(PIECES), quantise_rows(rows)
    return write_encoder_files(folder, pieces, *quantised, name="tiny", minimum_coverage=0.5)


OPTIONS = Options(epochs=20, batch=64, learning_rate=0.05, held_out=0.1, patience=3)


def test_training_moves_held_out_texts_towards_their_teacher() -> None:
    texts, targets = synthetic_teacher(2000)
    student = train(count_pieces(texts, PIECES), targets, starting_rows(), OPTIONS)
    assert student.history[0].cosine < 0.2
    assert max(epoch.cosine for epoch in student.history) > 0.95


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    texts, targets = synthetic_teacher(300)
    options = replace(OPTIONS, epochs=2)
    for name in ("first", "second"):
        student = train(count_pieces(texts, PIECES), targets, starting_rows(), options)
        write(tmp_path / name, student.rows)
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_training_stops_early_and_keeps_the_best_epoch() -> None:
    texts, targets = synthetic_teacher(40)
    rows = starting_rows()
    options = Options(epochs=30, batch=4, learning_rate=1.0, held_out=0.5, patience=1)
    student = train(count_pieces(texts, PIECES), targets, rows, options)
    cosines = [epoch.cosine for epoch in student.history]
    assert len(cosines) < 31
    assert cosines[-1] <= max(cosines)


def test_the_starting_rows_are_left_alone() -> None:
    texts, targets = synthetic_teacher(50)
    rows = starting_rows()
    train(count_pieces(texts, PIECES), targets, rows, replace(OPTIONS, epochs=1))
    assert np.array_equal(rows, starting_rows())


def test_counts_grow_with_the_square_root() -> None:
    counts = count_pieces(["waa waa waa waa wab", ""], PIECES).toarray()
    assert counts[0, PIECES.index("waa")] == 2
    assert counts[0, PIECES.index("wab")] == 1
    assert not counts[1].any()


def test_frequent_pieces_weigh_less() -> None:
    weights = inverse_frequency_weights(count_pieces(["waa", "waa", "waa", "wab"], PIECES), 0.25)
    assert weights[PIECES.index("waa")] == pytest.approx(0.25)
    assert weights[PIECES.index("wab")] == pytest.approx(0.5)
    assert weights[PIECES.index("wac")] == pytest.approx(1.0)


def test_the_written_encoder_computes_what_was_trained(tmp_path: Path) -> None:
    texts, _ = synthetic_teacher(20)
    rows = starting_rows()
    description = write(tmp_path, rows)
    encoder = PieceEncoder.open(tmp_path)
    assert encoder.description == description
    expected = unit_rows(count_pieces(texts, PIECES) @ rows)
    for text, vector in zip(texts, expected, strict=True):
        encoded = encoder.encode(text)
        assert encoded is not None
        assert float(encoded @ vector) > 0.999


def test_the_files_have_the_promised_types(tmp_path: Path) -> None:
    write(tmp_path, starting_rows())
    layout = EncoderLayout(tmp_path)
    assert np.load(layout.table).dtype == np.int8
    assert np.load(layout.weights).dtype == np.int32
    assert layout.pieces.read_text().splitlines() == PIECES
