"""A model other than the index's is detected by its vector of the probe text."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.retrieval.embedding.probe import (
    DenseManifest,
    describe_encoder,
    find_difference,
    require_model,
)

DENSE: dict[str, Any] = {
    "provider": "shop",
    "model": "small",
    "revision": "1",
    "dimensions": 2,
    "document_prefix": "",
    "query_prefix": "",
    "query": {"encoder": "same"},
    "encoder_sha256": "",
    "candidates": 20,
    "recall_at_20": {"heading": 1.0},
    "probe_text": "pump",
    "probe_vector": [0.6, 0.8],
}


def index(**dense: Any) -> Any:
    """Return index files whose vectors are as in DENSE, with these changes; without any, none."""
    return SimpleNamespace(
        layout=SimpleNamespace(root=Path("index")),
        manifest=SimpleNamespace(dense={**DENSE, **dense} if dense else None),
    )


def difference(probe: list[float] | None, expected: list[float] = DENSE["probe_vector"]) -> str:
    """Return how a vector of the probe text differs from the recorded one; "" if it does not."""
    found = None if probe is None else np.array(probe, dtype=np.float32)
    return find_difference(found, DenseManifest(**{**DENSE, "probe_vector": expected})) or ""


@pytest.mark.parametrize("probe", [[0.6, 0.8], [0.7, 0.7141428], [0.5, 0.8660254]])
def test_nearly_the_same_vector_is_the_same_model(probe: list[float]) -> None:
    assert difference(probe) == ""


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        ([0.8, 0.6], "a cosine of 0.96 with the index's vector, below 0.99"),
        ([-0.6, -0.8], "a cosine of -1.00"),
        ([1.0], "has 1 numbers instead of 2"),
        ([0.6, 0.8, 0.0], "has 3 numbers instead of 2"),
        (None, "is missing"),
    ],
)
def test_another_vector_is_another_model(probe: list[float] | None, told: str) -> None:
    assert told in difference(probe)


def test_a_text_that_never_had_a_vector_needs_none() -> None:
    assert difference(None, [0.0, 0.0]) == ""
    assert "cosine" in difference([0.6, 0.8], [0.0, 0.0])


def test_only_the_model_of_the_index_may_embed_its_queries() -> None:
    assert require_model(index(model="large"), "shop").model == "large"
    for files, told in (
        (index(provider="other"), "need other model 'small', but this server uses provider"),
        (index(query={"encoder": "own"}), "need a table of word pieces, but this server uses"),
    ):
        with pytest.raises(IndexUnusableError, match=told) as caught:
            require_model(files, "shop")
        assert caught.value.hint and "export the server again" in caught.value.hint
    with pytest.raises(IndexUnusableError, match="index: has no vectors"):
        require_model(index(), "shop")


def test_what_embeds_queries_is_named() -> None:
    assert describe_encoder(DenseManifest(**DENSE)) == "shop model 'small'"
    table = DenseManifest(**{**DENSE, "query": {"encoder": "distilled"}})
    assert describe_encoder(table) == "a table of word pieces"
