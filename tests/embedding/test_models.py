"""Opening models: everything that works without the packages that run them."""

import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.models import hash_model_folder, open_model
from foundry.errors import BuildError
from foundry.features.providers import PROVIDERS
from foundry.runtime.retrieval.embedding.local import find_folder
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure


@pytest.mark.parametrize("provider", ["sentence-transformers", "fastembed"])
def test_missing_package_names_the_extra(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, provider.replace("-", "_"), None)
    with pytest.raises(BuildError, match=provider) as caught:
        open_model(EmbeddingSection(provider=provider, model="some/model"))  # type: ignore[arg-type]
    assert caught.value.hint == f"pip install 'rag-foundry[{provider}]'"


def test_versions_that_run_python_from_a_model_folder_are_excluded() -> None:
    (needed,) = map(Requirement, PROVIDERS["sentence-transformers"].dependencies)
    assert "5.99" not in needed.specifier
    assert "6.0.0" in needed.specifier


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("cohere", "COHERE_API_KEY")]
)
def test_missing_key_names_the_variable(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    addresses = {"openai": "https://api.openai.com/v1", "cohere": "https://api.cohere.com/v2"}
    options = EmbeddingSection(
        provider=provider,  # type: ignore[arg-type]
        model="m",
        base_url=addresses[provider],
        api_key_env=variable,
    )
    with pytest.raises(BuildError, match=variable):
        open_model(options)
    monkeypatch.setenv(variable, "sk-1\n")
    open_model(options).close()


def test_other_services_may_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = EmbeddingSection(
        provider="openai", model="m", base_url="http://127.0.0.1:1/v1", api_key_env="OPENAI_API_KEY"
    )
    model = open_model(options)
    assert model.service == "http://127.0.0.1:1/v1"
    assert (model.limits.tokens, model.limits.calls) == (2048, 4)
    model.close()


def test_malformed_key_is_a_build_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "two words")
    with pytest.raises(BuildError, match="character"):
        open_model(
            EmbeddingSection(
                provider="openai", model="m", base_url="http://x/v1", api_key_env="SOME_KEY"
            )
        )


def test_folders_and_names_are_distinguished(tmp_path: Path) -> None:
    assert find_folder(str(tmp_path)) == tmp_path
    assert find_folder("intfloat/e5-small-v2") is None
    for path in (str(tmp_path / "none"), "./none", "../none", "~/none-such"):
        with pytest.raises(EmbeddingFailure, match="no such folder"):
            find_folder(path)


def test_folder_is_identified_by_the_files_that_determine_its_vectors(tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    files = ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"]
    for file in files:
        (tmp_path / file).write_text(file)
    before = hash_model_folder(tmp_path)
    (tmp_path / "README.md").write_text("about")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "download.json").write_text("{}")
    assert hash_model_folder(tmp_path) == before
    for file in files:
        (tmp_path / file).write_text("other")
        assert hash_model_folder(tmp_path) != before
        (tmp_path / file).write_text(file)
    (tmp_path / "tokenizer.json").rename(tmp_path / "other.json")
    assert hash_model_folder(tmp_path) != before


def test_nothing_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, foundry.embedding.providers.models;"
        "print([name for name in ('httpx2', 'fastembed', 'torch') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
