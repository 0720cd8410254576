"""A transformer's parts give what their definitions say, and its texts do not see each other."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure
from foundry.runtime.retrieval.embedding.transformer import (
    BLOCK,
    Description,
    Transformer,
    TransformerLayout,
    bend,
    bring_to_scale,
    part_shapes,
)

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pump", "seal", "##s"]


def describe(**values: Any) -> Description:
    """Return a description of a small transformer."""
    sizes = {"pieces": len(PIECES), "width": 8, "layers": 2, "heads": 2, "inner": 12, "tokens": 16}
    return Description(**{**sizes, "epsilon": 1e-12, "pooling": "mean", "spelling": {}, **values})


def draw(shape: Description) -> dict[str, NDArray[np.float32]]:
    """Return weights of a shape."""
    drawn = np.random.default_rng(7)
    return {
        name: drawn.normal(0, 0.5, size).astype(np.float32)
        for name, size in part_shapes(shape).items()
    }


def transformer(**values: Any) -> Transformer:
    """Return a small transformer."""
    shape = describe(**values)
    return Transformer(shape, PIECES, draw(shape))


def run_slowly(model: Transformer, numbers: list[int]) -> NDArray[np.float64]:
    """Return the unit vector of one text by the definitions, number by number."""
    shape, weights = model.shape, draw(model.shape)
    exact = {name: values.astype(np.float64) for name, values in weights.items()}

    def scale(row: NDArray[np.float64], norm: NDArray[np.float64]) -> NDArray[np.float64]:
        deviation = math.sqrt(float(row.var()) + shape.epsilon)
        scaled: NDArray[np.float64] = (row - row.mean()) / deviation * norm[0] + norm[1]
        return scaled

    rows = np.array(
        [
            scale(exact["pieces"][number] + exact["places"][place], exact["norm"])
            for place, number in enumerate(numbers)
        ]
    )
    width, part = shape.width, shape.width // shape.heads
    for layer in range(shape.layers):
        of = {name: exact[f"{layer} {name}"] for name in ("look", "join", "widen", "narrow")}
        add = {name: exact[f"{layer} {name} offset"] for name in of}
        look = rows @ of["look"].T + add["look"]
        seen = np.zeros_like(rows)
        for head in range(shape.heads):
            own = slice(head * part, (head + 1) * part)
            query, key, value = (look[:, n * width : (n + 1) * width][:, own] for n in range(3))
            for place in range(len(rows)):
                shares = np.exp([query[place] @ other / math.sqrt(part) for other in key])
                seen[place, own] = shares @ value / shares.sum()
        joined = seen @ of["join"].T + add["join"] + rows
        rows = np.array([scale(row, exact[f"{layer} join norm"]) for row in joined])
        wide = rows @ of["widen"].T + add["widen"]
        wide = np.array([[x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row] for row in wide])
        passed = wide @ of["narrow"].T + add["narrow"] + rows
        rows = np.array([scale(row, exact[f"{layer} narrow norm"]) for row in passed])
    vector: NDArray[np.float64] = rows[0] if shape.pooling == "first" else rows.mean(axis=0)
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_vectors_are_those_of_the_definition(pooling: str) -> None:
    model = transformer(pooling=pooling)
    texts = ["pumps seal", "seal", "pumps " * 20]
    numbers = [[2, 4, 6, 5, 3], [2, 5, 3], [2, *[4, 6] * 7, 3]]
    expected = np.array([run_slowly(model, each) for each in numbers])
    assert np.allclose(model.embed(texts, "query"), expected, atol=1e-5)


def test_a_text_does_not_depend_on_those_beside_it() -> None:
    model = transformer()
    alone = model.embed(["pump"], "document")[0]
    beside = model.embed(["seal pumps seal pumps", "pump"], "document")[1]
    assert np.allclose(alone, beside, atol=1e-6)


def test_a_query_takes_no_more_than_so_many_pieces() -> None:
    model = transformer(tokens=200)
    long, cut = "pump " * 300, "pump " * 126
    assert np.array_equal(model.embed([long], "query"), model.embed([cut], "document"))
    assert np.array_equal(model.embed([long], "document"), model.embed(["pump " * 198], "document"))


def test_more_pieces_than_a_block_are_all_passed_on() -> None:
    model = transformer()
    texts = [f"pump{'s seal' * (n % 3)}" for n in range(BLOCK)]
    alone = np.array([model.embed([text], "document")[0] for text in texts])
    assert np.allclose(model.embed(texts, "document"), alone, atol=1e-5)


def test_bend_is_gelu() -> None:
    values = np.linspace(-12, 12, 20_001, dtype=np.float32)
    exact = [float(x) * (1 + math.erf(float(x) / math.sqrt(2))) / 2 for x in values]
    bend(values)
    assert np.abs(values - np.array(exact)).max() < 1.5e-6
    small = np.linspace(-4, 0, 10_001, dtype=np.float32)
    exact = [float(x) * math.erfc(-float(x) / math.sqrt(2)) / 2 for x in small]
    bend(small)
    assert np.abs(small - np.array(exact)).max() < 5e-7


def test_rows_are_brought_to_one_scale() -> None:
    rows = np.array([[1, 2, 3, 6], [5, 5, 5, 5]], dtype=np.float32)
    norm = np.array([[1, 1, 2, 1], [0, 0, 0, 1]], dtype=np.float32)
    bring_to_scale(rows, norm, 1e-12)
    deviation = math.sqrt(3.5)
    first: list[float] = [-2 / deviation, -1 / deviation, 0, 3 / deviation + 1]
    assert np.allclose(rows, np.array([first, [0.0, 0.0, 0.0, 1.0]]), atol=1e-6)


def test_great_scores_are_no_trouble() -> None:
    shape = describe()
    weights = draw(shape)
    weights["0 look"] *= 100
    vectors = Transformer(shape, PIECES, weights).embed(["pumps seal", "pump"], "query")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_what_was_written_is_opened(tmp_path: Path) -> None:
    shape, layout = describe(), TransformerLayout(tmp_path)
    halves = {name: values.astype(np.float16) for name, values in draw(shape).items()}
    layout.pieces.write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")
    layout.description.write_text(json.dumps(asdict(shape)), encoding="utf-8")
    np.save(layout.weights, np.concatenate([values.ravel() for values in halves.values()]))
    expected = Transformer(shape, PIECES, halves).embed(["pumps seal", "##s"], "query")
    assert np.array_equal(
        Transformer.open(tmp_path).embed(["pumps seal", "##s"], "query"), expected
    )
    layout.description.write_text(json.dumps({**asdict(shape), "format": 2}), encoding="utf-8")
    with pytest.raises(IndexUnusableError, match="transformer of format 2"):
        Transformer.open(tmp_path)


def test_vector_that_is_not_finite_is_a_failure() -> None:
    shape = describe()
    weights = draw(shape)
    weights["0 narrow offset"][0] = np.nan
    with pytest.raises(EmbeddingFailure, match="not finite"):
        Transformer(shape, PIECES, weights).embed(["pump"], "query")


def test_folder_without_a_transformer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusableError, match="unreadable"):
        Transformer.open(tmp_path)
