"""From foundry.toml to the index: a model embeds the documents, and the gate decides on queries."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import MakeProject, Project
from distillation_corpora import ENGLISH, RUSSIAN
from embedding_services import FakeService, fake_service

from foundry.config.file import EmbeddingSection
from foundry.embedding.embedder import QueryEncoder
from foundry.embedding.model_embedder import MINIMUM_OVERLAP, ModelEmbedder
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.vector_cache import VectorCache
from foundry.progress import Reporter
from foundry.runtime.index.records import ChunkRecord

KEY = "key-of-the-service"
CONFIG = """
[project]
name = "notes"

[[sources]]
type = "folder"
path = "sources"

[embedding]
provider = "openai"
model = "{model}"
base_url = "{service.base_url}"
distillation_texts = 500
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


def project_of(
    make_project: MakeProject, service: FakeService, more: str = "", model: str = "words"
) -> Project:
    return make_project(NOTES, config=CONFIG.format(service=service, more=more, model=model))


def dense_of(project: Project) -> dict[str, object]:
    dense = json.loads((project.index / "manifest.json").read_bytes())["dense"]
    assert isinstance(dense, dict)
    return dense


@pytest.mark.parametrize(
    ("query", "overlap", "count", "words", "encoder", "reason"),
    [
        ("auto", MINIMUM_OVERLAP, 200, RUSSIAN, "distilled", "reaches 0.7"),
        ("auto", MINIMUM_OVERLAP - 0.01, 200, RUSSIAN, "same", "is below 0.7"),
        ("auto", MINIMUM_OVERLAP, 200, ENGLISH, "distilled", "reaches 0.7"),
        ("auto", MINIMUM_OVERLAP - 0.01, 200, ENGLISH, "distilled", "no more than the built-in"),
        ("auto", 0.0, 3, RUSSIAN, "distilled", "too small"),
        ("auto", None, 200, RUSSIAN, "distilled", "too small"),
        ("distilled", 0.0, 200, RUSSIAN, "distilled", "foundry.toml"),
        ("distilled", 0.0, 3, RUSSIAN, "distilled", "foundry.toml"),
        ("same", 1.0, 200, RUSSIAN, "same", "foundry.toml"),
    ],
)
def test_gate(
    query: str,
    overlap: float | None,
    count: int,
    words: list[str],
    encoder: str,
    reason: str,
    service: FakeService,
    tmp_path: Path,
) -> None:
    # A model of so few numbers mistakes words for each other; the table has no Russian ones.
    service.dimensions = 3 if words is ENGLISH else 64
    options = EmbeddingSection(
        provider="openai",
        model="words",
        base_url=service.base_url,
        api_key_env="EMBEDDING_API_KEY",
        query=query,  # type: ignore[arg-type]
        distillation_texts=500,
    )
    with closing(BatchedModel(open_model(options), VectorCache(tmp_path / "cache"))) as model:
        made = make_encoder(model, options, overlap, count, words)
        vectors = made.encode([" ".join(words[:3]), ""])
    assert made.figures.encoder == encoder
    assert reason in made.figures.reason
    if query == "same":
        assert made.figures.overlap_at_10 is None
    else:
        assert made.figures.overlap_at_10 == overlap
        assert made.figures.agreement is not None
        assert 0 < made.figures.taught <= 500
    assert vectors.shape == (2, service.dimensions)
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert not vectors[1].any()


def make_encoder(
    model: BatchedModel,
    options: EmbeddingSection,
    overlap: float | None,
    count: int,
    words: list[str],
) -> QueryEncoder:
    """For a corpus of so many chunks of these words, if rankings overlapped by so much."""
    embedder = ModelEmbedder(model, options, "english", Reporter(quiet=True).step)
    chunks = [
        ChunkRecord(
            id=f"c{number}",
            document_id=f"d{number // 5}",
            title=f"{words[number // 5 % 20]} {words[number // 100]} {words[number // 7 % 20]}",
            text=" ".join(words[number // step % 20] for step in (1, 3, 20, 50)) + ".",
            section=[],
            position={},
            source="s",
            path="p",
            url=None,
            tags=[],
            modified=None,
            also_at=[],
        )
        for number in range(count)
    ]
    embedder.embed_documents([""] * count, [chunk.text for chunk in chunks], int)
    return embedder.make_query_encoder(lambda: chunks, lambda *_: overlap)


def test_manifest_records_the_contract(make_project: MakeProject, service: FakeService) -> None:
    project = project_of(make_project, service, 'query = "distilled"\nquery_prefix = "q: "')
    project.succeed("build", "--quiet")
    dense = dense_of(project)
    assert (dense["provider"], dense["model"], dense["dimensions"]) == ("openai", "words", 64)
    assert (dense["document_prefix"], dense["query_prefix"]) == ("", "q: ")
    assert dense["encoder_sha256"]
    assert len(dense["probe_vector"]) == 64  # type: ignore[arg-type]
    assert not list(project.index.parent.rglob("*.sqlite"))
    for path in project.root.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_second_build_pays_nothing_and_changes_nothing(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "distilled"')
    project.succeed("build", "--quiet")
    version = project.index
    paid = sum(service.answered.values())
    result = project.succeed("build", "--quiet")
    assert "unchanged" in result.stdout
    assert project.index == version
    assert sum(service.answered.values()) == paid


def test_changed_document_is_all_that_is_paid_for(
    make_project: MakeProject, service: FakeService
) -> None:
    project = project_of(make_project, service, 'query = "same"')
    project.succeed("build", "--quiet")
    service.reset_counters()
    note = project.root / "sources" / "valve.md"
    note.write_text("# The valve\n\nIt is blue now.\n", encoding="utf-8")
    result = json.loads(project.succeed("build", "--quiet", "--json").stdout)
    assert result["changes"]["embedded"] == 1
    asked = [text for text in service.answered if "blue" not in text]
    assert any("blue" in text for text in service.answered)
    # A probe asks whether the model is still the same.
    assert len(asked) <= 1


def test_another_model_embeds_everything_anew(
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
    assert "is another model than it was" in result.stderr
    assert project.index == version


def test_failing_service_keeps_the_index_and_what_was_paid(
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


def test_small_corpus_needs_nothing_heavy(make_project: MakeProject, service: FakeService) -> None:
    project = project_of(make_project, service)
    for name in list(NOTES)[3:]:
        (project.root / "sources" / name).unlink()
    printed = project.succeed("build", "--quiet").stdout
    assert "queries are embedded by a table distilled from the model" in printed
    assert "the corpus is too small to tell it from the model" in printed
    assert (project.export() / "notes/data/encoder").is_dir()


def test_what_the_model_gains_is_said_everywhere(
    make_project: MakeProject, service: FakeService
) -> None:
    service.dimensions = 3
    project = project_of(make_project, service)
    built = project.succeed("build", "--quiet").stdout
    report = json.loads((project.index / "report.json").read_bytes())
    found = report["known_items"]
    assert found["questions"] >= 10
    assert found["model"] <= found["static"]
    assert dense_of(project)["provider"] == "openai"
    again = json.loads(project.succeed("build", "--quiet", "--json").stdout)
    assert again["unchanged"]
    evaluated = json.loads(project.succeed("eval", "--quiet", "--json").stdout)
    assert again["known_items"] == evaluated["known_items"] == found
    said = f"mean reciprocal rank {found['model']:.4f} by the model, {found['static']:.4f} by the"
    for text in (built, project.succeed("eval", "--quiet").stdout):
        assert said in text
        assert 'provider = "static" finds as much' in text
