from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from foundry.embedding.distil.distill import (
    Epoch,
    Options,
    count_pieces,
    inverse_frequency_weights,
    quantise_rows,
    train,
    unit_rows,
)
from foundry.embedding.encoder_files import write_encoder
from foundry.runtime.retrieval.encoder import (
    EncoderDescription,
    EncoderLayout,
    PieceCutter,
    PieceEncoder,
)

PIECES = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]
DIMENSIONS = 8


def synthetic_teacher(count: int) -> tuple[list[str], np.ndarray]:
    """Return texts of random words, and the normalised sum of each text's hidden word vectors."""
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
    table, weights = quantise_rows(rows)
    description = EncoderDescription("tiny", DIMENSIONS, 0.5, 0.0, sha256="")
    encoder = PieceEncoder(description, PieceCutter(PIECES), table, weights.astype(np.float64))
    write_encoder(folder, encoder, PIECES)
    return description


OPTIONS = Options(epochs=20, batch=64, learning_rate=0.05, held_out=0.1, patience=3)


def test_training_moves_held_out_texts_towards_their_teacher() -> None:
    texts, targets = synthetic_teacher(2000)
    epochs: list[Epoch] = []
    counts = count_pieces(texts, PIECES)
    rows = train(counts, targets, starting_rows(), OPTIONS, progress=epochs.append)
    assert max(epoch.cosine for epoch in epochs) > 0.95
    before, after = (np.sum(unit_rows(counts @ each) * targets) for each in (starting_rows(), rows))
    assert before < 0.2 * len(texts) < 0.95 * len(texts) < after


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    texts, targets = synthetic_teacher(300)
    options = replace(OPTIONS, epochs=2)
    for name in ("first", "second"):
        write(
            tmp_path / name, train(count_pieces(texts, PIECES), targets, starting_rows(), options)
        )
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_training_stops_early_and_keeps_the_best_epoch() -> None:
    texts, targets = synthetic_teacher(40)
    rows = starting_rows()
    options = Options(epochs=30, batch=4, learning_rate=1.0, held_out=0.5, patience=1)
    epochs: list[Epoch] = []
    counts = count_pieces(texts, PIECES)
    best = train(counts, targets, rows, options, progress=epochs.append)
    cosines = [epoch.cosine for epoch in epochs]
    assert len(cosines) < 30
    # The cosine is measured on the held-out texts, which the seed determines.
    held_out = np.random.default_rng(options.seed).permutation(40)[:20]
    kept = np.sum(unit_rows(counts[held_out] @ best) * targets[held_out], axis=1).mean()
    assert kept == pytest.approx(max(cosines)) and cosines[-1] <= kept


def test_training_does_not_modify_the_starting_rows() -> None:
    texts, targets = synthetic_teacher(50)
    rows = starting_rows()
    train(count_pieces(texts, PIECES), targets, rows, replace(OPTIONS, epochs=1))
    assert np.array_equal(rows, starting_rows())


def test_repeated_pieces_count_with_the_square_root() -> None:
    counts = count_pieces(["waa waa waa waa wab", ""], PIECES).toarray()
    assert counts[0, PIECES.index("waa")] == 2
    assert counts[0, PIECES.index("wab")] == 1
    assert not counts[1].any()


def test_frequent_pieces_have_less_weight() -> None:
    weights = inverse_frequency_weights(count_pieces(["waa", "waa", "waa", "wab"], PIECES), 0.25)
    assert weights[PIECES.index("waa")] == pytest.approx(0.25)
    assert weights[PIECES.index("wab")] == pytest.approx(0.5)
    assert weights[PIECES.index("wac")] == pytest.approx(1.0)


def test_the_written_encoder_computes_what_was_trained(tmp_path: Path) -> None:
    texts, _ = synthetic_teacher(20)
    rows = starting_rows()
    description = write(tmp_path, rows)
    encoder = PieceEncoder.open(tmp_path)
    assert replace(encoder.description, sha256="") == description
    expected = unit_rows(count_pieces(texts, PIECES) @ rows)
    for text, vector in zip(texts, expected, strict=True):
        encoded = encoder.encode(text)
        assert encoded is not None
        assert float(encoded @ vector) > 0.999


def test_the_files_have_the_documented_types(tmp_path: Path) -> None:
    write(tmp_path, starting_rows())
    layout = EncoderLayout(tmp_path)
    assert np.load(layout.table).dtype == np.int8
    assert np.load(layout.weights).dtype == np.int32
    assert layout.pieces.read_text().splitlines() == PIECES
