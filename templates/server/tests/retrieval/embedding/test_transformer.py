"""Parts of a transformer compared with their definitions; texts of a batch are independent."""

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
    FEED_FORWARD_ROWS,
    Description,
    Transformer,
    TransformerLayout,
    gelu,
    layer_norm,
    weight_shapes,
)

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pump", "seal", "##s"]


def describe(**values: Any) -> Description:
    """Return a description of a small transformer."""
    sizes = {"vocabulary": len(VOCABULARY), "hidden_size": 8, "intermediate_size": 12}
    sizes |= {"layers": 2, "heads": 2, "max_tokens": 16}
    return Description(**{**sizes, "epsilon": 1e-12, "pooling": "mean", "spelling": {}, **values})


def draw(shape: Description) -> dict[str, NDArray[np.float32]]:
    """Return random weights of a shape."""
    drawn = np.random.default_rng(7)
    return {
        name: drawn.normal(0, 0.5, size).astype(np.float32)
        for name, size in weight_shapes(shape).items()
    }


def transformer(**values: Any) -> Transformer:
    """Return a small transformer."""
    shape = describe(**values)
    return Transformer(shape, VOCABULARY, draw(shape))


def run_slowly(model: Transformer, numbers: list[int]) -> NDArray[np.float64]:
    """Return the unit vector of one text, computed number by number from the definitions."""
    shape, weights = model.shape, draw(model.shape)
    exact = {name: values.astype(np.float64) for name, values in weights.items()}

    def scale(row: NDArray[np.float64], norm: NDArray[np.float64]) -> NDArray[np.float64]:
        deviation = math.sqrt(float(row.var()) + shape.epsilon)
        scaled: NDArray[np.float64] = (row - row.mean()) / deviation * norm[0] + norm[1]
        return scaled

    rows = np.array(
        [
            scale(
                exact["word_embeddings"][number] + exact["position_embeddings"][position],
                exact["embeddings_norm"],
            )
            for position, number in enumerate(numbers)
        ]
    )
    width, part = shape.hidden_size, shape.hidden_size // shape.heads
    for layer in range(shape.layers):
        names = ("query_key_value", "attention_output", "intermediate", "output")
        of = {name: exact[f"{layer}.{name}"] for name in names}
        add = {name: exact[f"{layer}.{name}_bias"] for name in of}
        projected = rows @ of["query_key_value"].T + add["query_key_value"]
        context = np.zeros_like(rows)
        for head in range(shape.heads):
            own = slice(head * part, (head + 1) * part)
            query, key, value = (
                projected[:, n * width : (n + 1) * width][:, own] for n in range(3)
            )
            for position in range(len(rows)):
                shares = np.exp([query[position] @ other / math.sqrt(part) for other in key])
                context[position, own] = shares @ value / shares.sum()
        attended = context @ of["attention_output"].T + add["attention_output"] + rows
        rows = np.array([scale(row, exact[f"{layer}.attention_norm"]) for row in attended])
        inner = rows @ of["intermediate"].T + add["intermediate"]
        inner = np.array([[x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row] for row in inner])
        passed = inner @ of["output"].T + add["output"] + rows
        rows = np.array([scale(row, exact[f"{layer}.output_norm"]) for row in passed])
    vector: NDArray[np.float64] = rows[0] if shape.pooling == "cls" else rows.mean(axis=0)
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


@pytest.mark.parametrize("pooling", ["mean", "cls"])
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


def test_queries_are_truncated_sooner_than_documents() -> None:
    model = transformer(max_tokens=200)
    long, cut = "pump " * 300, "pump " * 126
    assert np.array_equal(model.embed([long], "query"), model.embed([cut], "document"))
    assert np.array_equal(model.embed([long], "document"), model.embed(["pump " * 198], "document"))


def test_rows_are_fed_forward_in_blocks() -> None:
    model = transformer()
    texts = [f"pump{'s seal' * (n % 3)}" for n in range(FEED_FORWARD_ROWS)]
    alone = np.array([model.embed([text], "document")[0] for text in texts])
    assert np.allclose(model.embed(texts, "document"), alone, atol=1e-5)


def test_gelu_is_that_of_the_error_function() -> None:
    values = np.linspace(-12, 12, 20_001, dtype=np.float32)
    exact = [float(x) * (1 + math.erf(float(x) / math.sqrt(2))) / 2 for x in values]
    gelu(values)
    assert np.abs(values - np.array(exact)).max() < 1.5e-6
    small = np.linspace(-4, 0, 10_001, dtype=np.float32)
    exact = [float(x) * math.erfc(-float(x) / math.sqrt(2)) / 2 for x in small]
    gelu(small)
    assert np.abs(small - np.array(exact)).max() < 5e-7


def test_layer_norm_is_that_of_its_definition() -> None:
    rows = np.array([[1, 2, 3, 6], [5, 5, 5, 5]], dtype=np.float32)
    norm = np.array([[1, 1, 2, 1], [0, 0, 0, 1]], dtype=np.float32)
    layer_norm(rows, norm, 1e-12)
    deviation = math.sqrt(3.5)
    first: list[float] = [-2 / deviation, -1 / deviation, 0, 3 / deviation + 1]
    assert np.allclose(rows, np.array([first, [0.0, 0.0, 0.0, 1.0]]), atol=1e-6)


def test_large_scores_do_not_overflow() -> None:
    shape = describe()
    weights = draw(shape)
    weights["0.query_key_value"] *= 100
    vectors = Transformer(shape, VOCABULARY, weights).embed(["pumps seal", "pump"], "query")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_what_was_written_is_opened(tmp_path: Path) -> None:
    shape, layout = describe(), TransformerLayout(tmp_path)
    halves = {name: values.astype(np.float16) for name, values in draw(shape).items()}
    layout.vocabulary.write_text("".join(f"{token}\n" for token in VOCABULARY), encoding="utf-8")
    layout.description.write_text(json.dumps(asdict(shape)), encoding="utf-8")
    np.save(layout.weights, np.concatenate([values.ravel() for values in halves.values()]))
    expected = Transformer(shape, VOCABULARY, halves).embed(["pumps seal", "##s"], "query")
    assert np.array_equal(
        Transformer.open(tmp_path).embed(["pumps seal", "##s"], "query"), expected
    )
    layout.description.write_text(json.dumps({**asdict(shape), "format": 3}), encoding="utf-8")
    with pytest.raises(IndexUnusableError, match="transformer format 3, but this server"):
        Transformer.open(tmp_path)


def test_vector_that_is_not_finite_is_a_failure() -> None:
    shape = describe()
    weights = draw(shape)
    weights["0.output_bias"][0] = np.nan
    with pytest.raises(EmbeddingFailure, match="not finite"):
        Transformer(shape, VOCABULARY, weights).embed(["pump"], "query")


def test_folder_without_a_transformer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusableError, match="unreadable"):
        Transformer.open(tmp_path)
