"""Vectors of texts from a table of word pieces, with numbers computed by hand."""

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.errors import IndexUnusableError
from workshop.retrieval.encoder import (
    EncoderDescription,
    PieceCutter,
    PieceEncoder,
    open_encoder,
    split_words,
)


def encoder(common: float = 0.0) -> PieceEncoder:
    """Return an encoder of four pieces and two dimensions; pieces must cover half of a text."""
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


# Two Chinese characters count as much as a word of six letters.
@pytest.mark.parametrize(
    "text", ["", "?!", "seal", "pump handle", "void", "8", "pump \u90e8\u7f72"]
)
def test_text_without_a_vector(text: str) -> None:
    assert encoder().encode(text) is None


def test_common_part_of_all_vectors_is_part_of_the_cosine() -> None:
    first, second = (encoder(common=0.25).encode(text) for text in ("pump", "7"))
    assert first is not None and second is not None
    # Without its mean, each points along (1, -1), in opposite directions.
    assert float(first @ second) == pytest.approx(0.25 - 0.75, abs=1e-6)
    assert float(first @ first) == pytest.approx(1.0, abs=1e-6)


def test_words_of_english_are_cut_in_their_american_spelling() -> None:
    british, american = (
        PieceCutter(["color"], "english").cut(word) for word in ("colour", "color")
    )
    assert british == american != PieceCutter(["color"], "german").cut("colour")


def written(folder: Path, probe: object = (0.6, 0.8), **dense: Any) -> Any:
    """Write the encoder to a folder; return files of an index that uses it, and its probe."""
    table = encoder()
    (folder / "pieces.txt").write_text("".join(f"{piece}\n" for piece in table.pieces.numbers))
    np.save(folder / "table.i8.npy", table.table)
    np.save(folder / "weights.npy", table.weights.astype(np.int32))
    (folder / "encoder.json").write_text(json.dumps(asdict(table.description)))
    about = {"query": {"encoder": "own"}, "probe_text": "pump", "probe_vector": probe, **dense}
    layout = SimpleNamespace(root=folder.parent, encoder=folder)
    return SimpleNamespace(layout=layout, manifest=SimpleNamespace(dense=about))


def test_an_encoder_that_was_written_is_opened(tmp_path: Path) -> None:
    opened = open_encoder(written(tmp_path))
    for text in ("pump", "pumps 7", "seal"):
        vectors = [one.encode(text) for one in (opened, encoder())]
        found, wanted = (None if vector is None else vector.tolist() for vector in vectors)
        assert found == wanted


@pytest.mark.parametrize(
    "probe",
    [
        (0.8, 0.6),
        (0.602, 0.8),
        (0.6, 0.798),
        # The width differs from the encoder's.
        (0.6,),
        (0.6, 0.8, 0.0),
        (),
        ((0.6, 0.8),),
    ],
)
def test_an_encoder_with_another_probe_is_refused(tmp_path: Path, probe: object) -> None:
    with pytest.raises(IndexUnusableError, match="vector of the probe text differs") as caught:
        open_encoder(written(tmp_path, probe))
    assert caught.value.hint and str(tmp_path.parent) in caught.value.message


def test_the_probe_may_differ_by_rounding(tmp_path: Path) -> None:
    open_encoder(written(tmp_path, (0.6005, 0.7995)))


def test_a_probe_without_a_vector_is_all_zeros(tmp_path: Path) -> None:
    open_encoder(written(tmp_path, (0.0, 0.0), probe_text="seal"))
    with pytest.raises(IndexUnusableError, match="vector of the probe text differs"):
        open_encoder(written(tmp_path, probe_text="seal"))


def test_an_index_for_another_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusableError, match="queries of this index need a model") as caught:
        open_encoder(written(tmp_path, query={"encoder": "same"}))
    assert caught.value.hint and "export the server again" in caught.value.hint
    files = written(tmp_path)
    files.manifest.dense = None
    with pytest.raises(IndexUnusableError, match="has no vectors") as caught:
        open_encoder(files)
    assert caught.value.hint and "embedding.provider" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("encoder.json", b"{}"),
        ("encoder.json", b"["),
        ("encoder.json", b'{"name":"a","dimensions":2,"minimum_coverage":1,"common":0,"format":9'
         b',"sha256":""}'),
        ("pieces.txt", b"\xff\n"),
        ("pieces.txt", b"pump\n"),
        ("table.i8.npy", b"!"),
        ("weights.npy", b""),
    ],
)  # fmt: skip
def test_a_damaged_encoder_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    files = written(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IndexUnusableError) as caught:
        open_encoder(files)
    assert str(tmp_path) in caught.value.message
