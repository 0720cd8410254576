"""`foundry inspect` shows the index as the server uses it."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from conftest import MakeProject, Project

from foundry.indexing.versions import open_index
from foundry.inspection.text import show_documents
from foundry.runtime.index.tokens import Tokenizer

FILES = {
    "pumps/water.md": "# Water\n\nThe PUMP-7 lifts water.\n\n## Care\n\nGrease it weekly.\n",
    "pumps/air.md": "# Air\n\nAir goes down the shaft.\n",
    "other.txt": "Nothing of interest.",
}


@pytest.fixture
def project(make_project: MakeProject) -> Project:
    files = {f"sources/{name}": content for name, content in FILES.items()}
    made = make_project(files)
    made.succeed("build")
    return made


def shown(project: Project, *arguments: str) -> Any:
    return json.loads(project.succeed("inspect", "--json", *arguments).stdout)


def test_facts_match_the_files(project: Project) -> None:
    facts = shown(project)
    assert (facts["documents"], facts["chunks"]) == (3, 4)
    assert facts["version"] == open_index(project.index).version
    assert facts["dense"]["chunks_without_vector"] == 0
    files = {
        path.relative_to(project.index).as_posix(): path.stat().st_size
        for path in project.index.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert facts["files"] == files
    assert facts["bytes"] == sum(files.values())
    assert "3 documents, 4 chunks" in project.succeed("inspect").stdout


def test_documents_are_listed_by_source_and_path(project: Project) -> None:
    assert [entry["path"] for entry in shown(project, "--documents")] == [
        "other.txt",
        "pumps/air.md",
        "pumps/water.md",
    ]
    assert [entry["path"] for entry in shown(project, "--path", "*/w*")] == ["pumps/water.md"]
    assert len(shown(project, "--source", "sources")) == 3
    assert shown(project, "--path", "nowhere") == []
    assert project.succeed("inspect", "--path", "pumps/*").stdout.splitlines()[-1] == "2 documents"


def test_a_document_is_shown_with_its_chunks(project: Project) -> None:
    by_path = shown(project, "--document", "pumps/water.md")
    assert shown(project, "--document", by_path["id"]) == by_path
    first, second = by_path["chunks"]
    assert (first["section"], second["section"]) == (["Water"], ["Water", "Care"])
    text = FILES["pumps/water.md"]
    span = slice(second["position"]["start"], second["position"]["end"])
    assert text[span] == "## Care\n\nGrease it weekly."
    assert (second["position"]["line_start"], second["position"]["line_end"]) == (5, 7)
    assert first["has_vector"] and second["has_vector"]
    lines = project.succeed("inspect", "--document", "pumps/water.md").stdout.splitlines()
    assert any(line.startswith(first["id"]) and line.endswith("Water") for line in lines)


def test_a_chunk_is_shown_with_the_terms_that_find_it(project: Project) -> None:
    chunk_id = shown(project, "--document", "pumps/water.md")["chunks"][0]["id"]
    chunk = shown(project, "--chunk", chunk_id)
    tokenizer = Tokenizer("english")
    words = Counter(tokenizer.terms(chunk["text"]))
    assert set(words) < set(chunk["indexed"])
    assert "=water" in chunk["indexed"]
    assert {token["text"] for token in chunk["tokens"]} >= {"PUMP-7", "lifts"}
    index = open_index(project.index)
    number = np.array([chunk["number"]], dtype=np.int64)
    for term, impact in chunk["indexed"].items():
        (score,) = index.keyword_lane.scores([term], number)
        assert score == pytest.approx(impact, abs=1e-4)
    assert "PUMP-7" in project.succeed("inspect", "--chunk", chunk_id).stdout


def test_one_chunk_and_one_other_place_are_in_the_singular() -> None:
    document = {"id": "d1", "source": "notes", "path": "a.md", "title": "A"}
    lines = show_documents(
        iter(
            [
                {**document, "chunks": 1, "also_at": [{}]},
                {**document, "chunks": 2, "also_at": [{}, {}]},
            ]
        )
    )
    assert [*lines] == [
        "d1       1 chunk  notes: a.md  A  (and 1 other place)",
        "d1      2 chunks  notes: a.md  A  (and 2 other places)",
        "2 documents",
    ]


def test_without_vectors(make_project: MakeProject) -> None:
    config = (
        '[project]\nname = "notes"\n[[sources]]\ntype = "folder"\npath = "sources"\n'
        '[embedding]\nprovider = "none"\n'
    )
    project = make_project({"a.md": "# A\n\nText of it.\n"}, config=config)
    project.succeed("build")
    assert shown(project)["dense"] is None
    (chunk,) = shown(project, "--document", "a.md")["chunks"]
    assert chunk["has_vector"] is False


def test_unknown_documents_and_chunks_are_errors(project: Project) -> None:
    for arguments, code, message in (
        (["--chunk", "nothing"], 1, "there is no chunk 'nothing'"),
        (["--document", "nothing"], 1, "there is no document"),
        (["--source", "nothing"], 1, "there is no source 'nothing'"),
        (["--source", ""], 1, "there is no source ''"),
        (["--path", ""], 0, "0 documents"),
        (["--document", "a", "--chunk", "b"], 2, "cannot be combined"),
    ):
        result = project.run("inspect", *arguments)
        assert result.exit_code == code
        assert message in result.output


def test_inspection_needs_an_index(make_project: MakeProject) -> None:
    result = make_project({"a.md": "text"}).run("inspect")
    assert result.exit_code == 1
    assert "has no index yet" in result.output


def test_control_sequences_in_documents_are_escaped(make_project: MakeProject) -> None:
    project = make_project({"a.md": "# A\n\nred \x1b[31m text\n"})
    project.succeed("build")
    chunk_id = shown(project, "--document", "a.md")["chunks"][0]["id"]
    assert "\x1b" not in project.succeed("inspect", "--chunk", chunk_id).stdout
