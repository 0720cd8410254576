"""The settings files of an export: valid, damaged and overridden."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.retrieval.embedding import local
from foundry.runtime.retrieval.stages import cross_encoder
from foundry.runtime.settings import reading, settings

MODELS = [
    (local.read_model, "embedding", "EMBEDDING_MODEL"),
    (cross_encoder.read_model, "rerank", "RERANK_MODEL"),
]


@pytest.mark.parametrize(("read_model", "section", "variable"), MODELS)
def test_model_may_be_in_another_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read_model: Callable[[Path], str],
    section: str,
    variable: str,
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({section: {"model": "a/published-model"}}))
    monkeypatch.delenv(variable, raising=False)
    assert read_model(file) == "a/published-model"
    monkeypatch.setenv(variable, " /models/words ")
    assert read_model(file) == "/models/words"
    file.write_text("{}")
    monkeypatch.delenv(variable)
    with pytest.raises(ConfigurationError, match="unusable"):
        read_model(file)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"7", b'{"a": ', b'{"a": null}'])
def test_problems_of_a_file_are_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="unusable") as caught, reading(file) as values:
        values["a"]["b"].keys()
    assert str(file) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("pattern", ["(unclosed", "a{99999999999}", 7])
def test_an_invalid_identifier_pattern_is_refused(tmp_path: Path, pattern: object) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"identifier_patterns": [pattern]}))
    with pytest.raises(ConfigurationError, match="unusable"):
        settings(file)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="unusable"), reading(tmp_path / "none.json"):
        pass
