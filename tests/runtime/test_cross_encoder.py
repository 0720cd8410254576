"""Cross-encoders: real ONNX files, with scores computed by hand."""

from pathlib import Path

import numpy as np
import pytest
from cross_encoders import logit, write_cross_encoder

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.retrieval.stages.cross_encoder import CrossEncoder, to_probabilities

WORDS = "fans move air through the mine lamps are checked before each shift".split()
PASSAGES = ["Fans move air.", "Lamps are checked before each shift.", "Air!", ""]


def sigmoid(number: float) -> float:
    return float(1 / (1 + np.exp(-number)))


@pytest.mark.parametrize("two_classes", [False, True])
def test_scores(tmp_path: Path, two_classes: bool) -> None:
    model = CrossEncoder(str(write_cross_encoder(tmp_path / "m", WORDS, two_classes=two_classes)))
    scores = model.score("How do fans move the air?", PASSAGES)
    assert scores == pytest.approx([sigmoid(logit(n)) for n in (3, 0, 1, 0)], abs=1e-6)


def test_padding_and_order_change_nothing(tmp_path: Path) -> None:
    model = CrossEncoder(str(write_cross_encoder(tmp_path / "m", WORDS)))
    together = model.score("fans move air", PASSAGES)
    alone = [model.score("fans move air", [passage])[0] for passage in PASSAGES]
    assert together.tolist() == alone


def test_long_passages_are_truncated(tmp_path: Path) -> None:
    model = CrossEncoder(str(write_cross_encoder(tmp_path / "m", WORDS)))
    # The model takes 64 tokens, three of them special.
    assert model.score("air", ["mine " * 50 + "air"]) == pytest.approx([sigmoid(logit(1))])
    assert model.score("air", ["mine " * 500 + "air"]) == pytest.approx([sigmoid(logit(0))])
    assert model.score("air " * 500, ["mine " * 500]) == pytest.approx([sigmoid(logit(0))])


def test_probabilities_by_hand() -> None:
    assert to_probabilities(np.array([[0.0], [2.0], [-1.0]]), 3) == pytest.approx(
        [0.5, 0.880797, 0.268941], abs=1e-6
    )
    assert to_probabilities(np.array([[1.0, 3.0]]), 1) == pytest.approx([0.880797], abs=1e-6)
    assert to_probabilities(np.array([1000.0, -1000.0]), 2) == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("logits", [[[1.0, 2.0, 3.0]], [[np.nan]], [[np.inf]], [[1.0], [2.0]]])
def test_outputs_that_are_not_scores_are_refused(logits: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="passages"):
        to_probabilities(np.array(logits), 1)


def test_missing_and_damaged_models_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such folder"):
        CrossEncoder(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="no cross-encoder in this folder"):
        CrossEncoder(str(tmp_path / "empty"))
    folder = write_cross_encoder(tmp_path / "damaged", WORDS)
    (folder / "onnx" / "model.onnx").write_bytes(b"\x08\x09no network")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        CrossEncoder(str(folder))


def test_published_model_is_downloaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def refuse(name: str, **_: object) -> str:
        raise OSError(f"cannot reach the hub for {name}")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ConfigurationError, match="cannot reach the hub") as failure:
        CrossEncoder("somebody/some-cross-encoder")
    assert "RERANK_MODEL" in str(failure.value.hint)
