from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.vector_cache import VectorCache


def test_only_missing_texts_are_embedded(tmp_path: Path) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    path = tmp_path / "vectors.sqlite"
    first = VectorCache(path).embed(["a", "bb", "a"], embed)
    second = VectorCache(path).embed(["bb", "ccc"], embed)
    assert first.tolist() == [[1, 1], [2, 1], [1, 1]]
    assert second.tolist() == [[2, 1], [3, 1]]
    assert asked == ["a", "bb", "ccc"]
