"""A model embeds the documents; the gate decides whether the table may embed queries."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MakeProject, Project
from distillation_corpora import ENGLISH, RUSSIAN, make_chunk
from embedding_services import FakeService, Refusal, embed_text, fake_service

from foundry.config.file import EmbeddingSection
from foundry.embedding import model_embedder
from foundry.embedding.distil.distill import unit_rows
from foundry.embedding.embedder import Vectors
from foundry.embedding.model_embedder import MINIMUM_OVERLAP, ModelEmbedder
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.static import StaticEmbedder
from foundry.embedding.vector_cache import VectorCache
from foundry.progress import Reporter
from foundry.runtime.index.records import ChunkRecord

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

KEY = "key-of-the-service"
TABLE = StaticEmbedder().contract
CONFIG = """
[project]
name = "notes"

[[sources]]
type = "folder"
path = "sources"

[embedding]
provider = "openai"
model = "words"
base_url = "{service.base_url}"
{more}
"""
SUBJECTS = ("valve", "pump", "boiler", "filter", "gasket", "sensor", "motor", "bearing")
NOTES = {
    f"{subject}.md": f"# The {subject}\n\nOpen the {subject} with a spanner, number {n}.\n\n"
    f"## Care of the {subject}\n\nGrease the {subject} every {n + 2} weeks. Never run it dry.\n"
    for n, subject in enumerate(SUBJECTS)
}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeService]:
    monkeypatch.setenv("EMBEDDING_API_KEY", KEY)
    with fake_service("openai", key=KEY) as service:
        yield service


def project_of(make_project: MakeProject, service: FakeService, more: str = "") -> Project:
    if 'query = "same"' not in more:
        more += "\ndistillation_texts = 500"
    return make_project(NOTES, config=CONFIG.format(service=service, more=more))


def dense_of(project: Project) -> dict[str, object]:
    dense = json.loads((project.index / "manifest.json").read_bytes())["dense"]
    assert isinstance(dense, dict)
    return dense


def options_of(service: FakeService, query: str = "auto", **more: Any) -> EmbeddingSection:
    return EmbeddingSection(
        provider="openai",
        model="words",
        base_url=service.base_url,
        api_key_env="EMBEDDING_API_KEY",
        query=query,  # type: ignore[arg-type]
        distillation_texts=500,
        **more,
    )


@contextmanager
def opened_embedder(
    options: EmbeddingSection, folder: Path, language: str = "english"
) -> Iterator[ModelEmbedder]:
    with closing(BatchedModel(open_model(options), VectorCache(folder / "cache"))) as model:
        yield ModelEmbedder(model, options, language, Reporter(quiet=True).step)


@pytest.mark.parametrize(
    ("query", "overlap", "count", "encoder", "reason"),
    [
        ("auto", MINIMUM_OVERLAP, 100, "distilled", "reaches 0.7"),
        ("auto", MINIMUM_OVERLAP - 0.01, 100, "same", "is below 0.7"),
        ("auto", 0.0, 3, "distilled", "too small"),
        ("auto", None, 100, "distilled", "too small"),
        ("distilled", 0.0, 3, "distilled", "foundry.toml"),
        ("same", 1.0, 100, "same", "foundry.toml"),
    ],
)
def test_gate_decides_by_overlap(
    query: str,
    overlap: float | None,
    count: int,
    encoder: str,
    reason: str,
    service: FakeService,
    tmp_path: Path,
) -> None:
    chunks = make_chunks(count)
    with opened_embedder(options_of(service, query), tmp_path) as embedder:
        embedder.embed_documents([""] * count, [chunk.text for chunk in chunks])
        made = embedder.make_query_encoder(lambda: chunks, lambda *_: overlap)
        vectors = made.encode(["valve pump", ""])
        contract = embedder.contract
    assert made.figures.encoder == encoder
    assert reason in made.figures.reason
    if query == "same":
        assert made.figures.overlap_at_10 is None
    else:
        assert made.figures.overlap_at_10 == overlap
        assert made.figures.agreement is not None
        assert 0 < made.figures.taught <= 500
    assert contract.dimensions == (64 + TABLE.dimensions if encoder == "distilled" else 64)
    assert vectors.shape == (2, contract.dimensions)
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert not vectors[1].any()


def make_chunks(count: int) -> list[ChunkRecord]:
    return [
        make_chunk(
            number,
            " ".join(ENGLISH[number // step % 20] for step in (1, 3, 20, 50)) + ".",
            document=f"d{number // 5}",
            title=f"{ENGLISH[number // 5 % 20]} {ENGLISH[number // 100]} {number // 7 % 20}",
        )
        for number in range(count)
    ]


def by_service(text: str) -> Vectors:
    """Return the unit vector (1, 64) of a text from the service."""
    return unit_rows(np.array([embed_text(text)], dtype=np.float32))


def by_table(heading: str, text: str) -> Vectors:
    """Return the unit vector (1, d) of a text under its heading from the built-in table."""
    return StaticEmbedder().embed_documents([heading], [text])


def test_vectors_of_model_and_table_have_the_same_weight(
    service: FakeService, tmp_path: Path
) -> None:
    text = "Open the valve with a spanner."
    with opened_embedder(options_of(service), tmp_path) as embedder:
        with_heading, alone = embedder.embed_documents(["Valves", ""], [text, text])
    half = np.sqrt(np.float32(0.5))
    for found, heading, joined in ((with_heading, "Valves", f"Valves\n{text}"), (alone, "", text)):
        assert found[:64] == pytest.approx(half * by_service(joined)[0], abs=1e-6)
        assert found[64:] == pytest.approx(half * by_table(heading, text)[0], abs=1e-6)


def test_a_missing_vector_leaves_the_whole_length_to_the_other(
    service: FakeService, tmp_path: Path
) -> None:
    service.decide = lambda _, texts: (
        Refusal(400, {"error": {"message": "no"}}) if any("secret" in t for t in texts) else None
    )
    russian = " ".join(RUSSIAN)
    texts = ["A valve.", russian, "A secret valve.", f"secret {russian[:60]}"]
    with opened_embedder(options_of(service), tmp_path) as embedder:
        _, untold, refused, nothing = embedder.embed_documents([""] * 4, texts)
        assert [refusal["text"] for refusal in embedder.refusals()] == texts[2:]
    assert untold[:64] == pytest.approx(by_service(texts[1])[0], abs=1e-6)
    assert not untold[64:].any()
    assert not refused[:64].any()
    assert refused[64:] == pytest.approx(by_table("", texts[2])[0], abs=1e-6)
    assert not nothing.any()


def test_split_text_has_the_models_mean_and_one_table_vector(
    service: FakeService, tmp_path: Path
) -> None:
    text = " ".join(f"The {word} is near the {other}." for word in ENGLISH for other in ENGLISH[:3])
    options = options_of(service, max_tokens=64)
    with opened_embedder(options, tmp_path) as embedder:
        (found,) = embedder.embed_documents([""], [text])
    with opened_embedder(options, tmp_path, "german") as embedder:
        mean = embedder.embed_documents([""], [text])
    assert max(len(asked) for asked in service.answered) < len(text)
    assert found == pytest.approx(unit_rows(np.hstack([mean, by_table("", text)]))[0], abs=1e-6)


def test_manifest_records_the_contract_which_a_second_build_keeps(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "distilled"\nquery_prefix = "q: "')
    project.succeed("build", "--quiet")
    dense = dense_of(project)
    table = TABLE.dimensions
    expected = ("openai", "words + static-en", 64 + table)
    assert (dense["provider"], dense["model"], dense["dimensions"]) == expected
    assert dense["revision"] == TABLE.revision
    assert (dense["document_prefix"], dense["query_prefix"]) == ("", "q: ")
    assert dense["encoder_sha256"]
    assert len(dense["probe_vector"]) == 64 + table  # type: ignore[arg-type]
    assert not list(project.index.parent.rglob("*.sqlite"))
    for path in project.root.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path

    version = project.index
    paid = sum(service.answered.values())
    result = project.succeed("build", "--quiet")
    assert "unchanged" in result.stdout
    assert project.index == version
    assert sum(service.answered.values()) == paid


def test_only_a_changed_document_is_requested(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "same"')
    project.succeed("build", "--quiet")
    service.reset_counters()
    note = project.root / "sources" / "valve.md"
    note.write_text("# The valve\n\nIt is blue now.\n", encoding="utf-8")
    result = project.build()
    assert result["changes"]["embedded"] == 1
    asked = [text for text in service.answered if "blue" not in text]
    assert any("blue" in text for text in service.answered)
    # One request is allowed: the probe that checks the model.
    assert len(asked) <= 1


def test_another_model_embeds_everything_again(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "same"')
    project.succeed("build", "--quiet")
    first = np.load(project.index / "vectors.i8.npy", allow_pickle=False)
    service.salt = "another"
    service.reset_counters()
    config = project.root / "foundry.toml"
    config.write_text(config.read_text().replace('"words"', '"other-words"'))
    project.succeed("build", "--quiet")
    assert sum(service.answered.values()) >= len(first)
    second = np.load(project.index / "vectors.i8.npy", allow_pickle=False)
    assert not (first == second).all(axis=1).any()
    assert dense_of(project)["model"] == "other-words"


def test_model_that_changed_under_its_name_stops_the_build(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "same"')
    project.succeed("build", "--quiet")
    version = project.index
    service.salt = "another"
    (project.root / "sources" / "new.md").write_text("# New\n\nA word.\n", encoding="utf-8")
    result = project.run("build", "--quiet")
    assert result.exit_code == 1
    assert "has changed since its cached vectors were made" in result.stderr
    assert project.index == version


def test_failing_service_leaves_the_index_and_the_cached_vectors(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "same"\nretry_seconds = 1')
    project.succeed("build", "--quiet")
    version = project.index
    (project.root / "sources" / "new.md").write_text("# New\n\nA word.\n", encoding="utf-8")
    service.key = "another key"
    result = project.run("build", "--quiet")
    assert result.exit_code == 1
    assert "EMBEDDING_API_KEY" in result.stderr
    assert KEY not in result.output
    assert project.index == version
    service.key = KEY
    project.succeed("build", "--quiet")
    assert project.index != version


def test_small_corpus_loads_no_heavy_library(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service)
    for name in list(NOTES)[3:]:
        (project.root / "sources" / name).unlink()
    printed = project.succeed("build", "--quiet").stdout
    assert "queries are embedded by a table distilled from the model" in printed
    assert "the corpus is too small to compare the trained table with its teacher" in printed
    assert (project.export() / "notes/data/encoder").is_dir()


def vectors_of(project: Project) -> dict[str, bytes]:
    names = ("vectors.i8.npy", "vectors.scale.npy", "vectors.centre.npy", "sketch.npy")
    return {name: (project.index / name).read_bytes() for name in names}


def test_documents_have_no_table_vectors_if_the_model_embeds_queries(
    make_project: MakeProject, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(make_project, service, 'query = "same"')
    project.succeed("build", "--quiet")
    assert (dense_of(project)["model"], dense_of(project)["dimensions"]) == ("words", 64)
    expected = vectors_of(project)
    config = project.root / "foundry.toml"
    config.write_text(config.read_text().replace('"same"', '"distilled"'))
    chunks = set(service.answered)
    service.reset_counters()
    project.succeed("build", "--quiet")
    assert dense_of(project)["dimensions"] == 64 + TABLE.dimensions
    # The model's vectors of these chunks are cached, so it is not asked for them again.
    assert len(chunks & set(service.answered)) <= 1

    # The decision is made once all documents have been embedded with the table.
    monkeypatch.setattr(model_embedder, "MINIMUM_OVERLAP", 1.1)
    monkeypatch.setattr(model_embedder, "MINIMUM_HELD_OUT", 1)
    config.write_text(config.read_text().replace('"distilled"', '"auto"'))
    printed = project.succeed("build", "--quiet").stdout
    assert "queries are embedded by the model itself" in printed
    assert vectors_of(project) == expected
    assert (dense_of(project)["model"], dense_of(project)["dimensions"]) == ("words", 64)
    # The service embedded the probe again, and no other text twice.
    assert len([text for text, count in service.answered.items() if count > 1]) <= 1


def test_documents_in_other_languages_have_no_table_vectors(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "distilled"')
    config = project.root / "foundry.toml"
    named = 'name = "notes"\n'
    config.write_text(config.read_text().replace(named, f'{named}language = "german"\n'))
    project.succeed("build", "--quiet")
    assert (dense_of(project)["model"], dense_of(project)["dimensions"]) == ("words", 64)
