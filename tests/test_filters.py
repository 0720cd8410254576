"""Filters and fields of metadata, through builds and the command line."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CONFIG, MakeProject, Project, write_project
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import SOURCES, Note, make_document, write_notes

from foundry.config.search import IndexOptions
from foundry.documents.prepared import unpack
from foundry.indexing.keyword.names import chunk_names
from foundry.indexing.keyword.terms import TermCounter
from foundry.indexing.versions import open_index
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.reader import Index
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.filters import FilterColumns, read_pairs

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

CONFIGURED = CONFIG + """metadata = ["team", "summary", "aliases"]

[search]
filterable = ["team"]

[search.fields]
metadata = { summary = 3, aliases = 1 }
"""
FILES = {
    "pumps/a.md": "---\nteam: core\nsummary: the bilge monster\n---\n# A pump\n\nIt moves water.\n",
    "pumps/b.md": "---\nteam: Ödland\naliases: [zephyr, breeze]\n---\n# B pump\n\nIt moves.\n",
    "c.txt": "A pump moves water, and belongs to nobody.\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    files = {f"sources/{name}": content for name, content in FILES.items()}
    return write_project(tmp_path_factory.mktemp("filters"), files, CONFIGURED, built=True)


def test_a_source_is_still_listed_after_its_version_was_removed(tmp_path: Path) -> None:
    index = open_index(write_notes(tmp_path / "index", [Note("Seal", ("Rubber.",))]))
    sources = index.part(Documents.open).sources()
    index.layout.report.unlink()
    assert index.part(Documents.open).sources() == sources


def paths(answer: dict[str, Any]) -> set[str]:
    return {result["path"] for result in answer["results"]}


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (["team=core"], {"pumps/a.md"}),
        (["team=core", "team=Ödland"], {"pumps/a.md", "pumps/b.md"}),
        (["team=core", "path=c"], set()),
        (["path=pumps/"], {"pumps/a.md", "pumps/b.md"}),
        (["path=pumps/b.md", "path=c.txt"], {"pumps/b.md", "c.txt"}),
        (["media_type=text/plain"], {"c.txt"}),
        (["team="], set()),
        (["team=cor"], set()),
        (["path="], {"pumps/a.md", "pumps/b.md", "c.txt"}),
        (["source=sources", "media_type=text/markdown"], {"pumps/a.md", "pumps/b.md"}),
    ],
)
def test_filters_select_documents(project: Project, pairs: list[str], expected: set[str]) -> None:
    index = open_index(project.index)
    allowed = index.part(FilterColumns.open).select(read_pairs(pairs))
    assert allowed is not None
    assert {index.chunk(int(number)).path for number in np.flatnonzero(allowed)} == expected


def test_filters_of_the_command_line(project: Project) -> None:
    options = ["--filter", "team=core", "--filter", "team=Ödland", "--filter", "path=pumps/a"]
    assert paths(project.ask("pump", *options)) == {"pumps/a.md"}
    assert paths(project.ask("pump", "--filter", "team=")) == set()


def test_errors_on_unknown_filters_list_the_known_ones(project: Project) -> None:
    result = project.run("query", "pump", "--filter", "summary=x")
    assert result.exit_code == 2
    assert "unknown filter 'summary'; known: source, tags, path, media_type," in result.output
    assert "modified_before, team" in result.output


def test_empty_options_are_not_ignored(project: Project) -> None:
    result = project.run("query", "pump", "--modified-after", "")
    assert (result.exit_code, "modified_after" in result.output) == (2, True)


def test_unknown_sources_are_errors(project: Project) -> None:
    for options in (("--source", "source"), ("--filter", "source=source")):
        result = project.run("query", "pump", "--source", "sources", *options)
        assert result.exit_code == 2
        assert "there is no source 'source'; known: sources\n" in result.output


def test_fields_of_metadata_are_searched(project: Project) -> None:
    index = open_index(project.index)
    for query, path in (("bilge monster", "pumps/a.md"), ("zephyr", "pumps/b.md")):
        found = index.keyword_lane.search(index.tokenizer.terms(query), 10)
        assert [index.chunk(int(chunk)).path for chunk in found.chunks] == [path]


def test_the_manifest_records_filters_and_fields(project: Project) -> None:
    manifest = json.loads((project.index / "manifest.json").read_bytes())
    assert manifest["filterable"] == ["team"]
    assert manifest["field_weights"] == {
        "title": 2,
        "headings": 3,
        "tags": 1,
        "metadata.summary": 3,
        "metadata.aliases": 1,
    }
    line = (project.index / "documents.jsonl").read_text(encoding="utf-8").splitlines()[2]
    assert json.loads(line)["metadata"] == {"team": "Ödland", "aliases": "zephyr, breeze"}


def test_field_weights_affect_scores() -> None:
    note = Note(
        "Valve", ("a valve",), tags=("valve",), metadata={"summary": "valves", "x": "valve"}
    )
    document, chunks = make_document(0, note)
    fields = {"title": 5, "headings": 7, "tags": 11, "metadata.summary": 13, "metadata.y": 17}
    for weights, expected in (
        (fields, 1 + 7 + 11 + 13),  # The heading repeats the title, which is then not counted.
        ({**fields, "headings": 0, "tags": 0}, 1 + 13),
        ({}, 1),
    ):
        counter = TermCounter(Tokenizer("english"), weights)
        terms = counter.count(document, chunks, chunk_names(document, chunks))
        counts = dict(zip(terms.vocabulary, unpack(terms.counts, np.uint32).tolist(), strict=True))
        assert counts["valv"] == expected


def test_an_index_built_without_the_servers_options_is_not_exported(
    make_project: MakeProject,
) -> None:
    made = make_project({"a.md": "# Valve\n\nIt opens.\n"})
    made.succeed("build", "--quiet")
    for options, message in (
        ('metadata = ["team"]\n[search]\nfilterable = ["team"]\n', "cannot be filtered by team"),
        ("[search.expansion]\n", "query expansion needs it"),
    ):
        (made.root / "foundry.toml").write_text(CONFIG + options)
        result = made.run("export", "--stale")
        assert result.exit_code == 1
        assert message in result.output and "build" in result.output


def test_newest_date(project: Project, make_project: MakeProject) -> None:
    assert open_index(project.index).part(FilterColumns.open).newest_date() is None
    files = {f"{day}.md": f"---\ndate: 2024-05-{day}\n---\n# Day {day}\n" for day in ("02", "31")}
    made = make_project({**files, "none.md": "# No day\n"})
    made.succeed("build", "--quiet")
    assert open_index(made.index).part(FilterColumns.open).newest_date() == "2024-05-31"


def test_changed_fields_cause_a_rebuild(make_project: MakeProject) -> None:
    made = make_project({"a.md": "# Valve\n\nIt opens.\n", "b.md": "# Pump\n\nA valve.\n"})
    made.succeed("build", "--quiet")
    before = open_index(made.index).keyword_lane.search(["valv"], 10)
    config = (made.root / "foundry.toml").read_text(encoding="utf-8")
    (made.root / "foundry.toml").write_text(config + "[search.fields]\nheadings = 0\ntitle = 0\n")
    made.succeed("build", "--quiet")
    after = open_index(made.index).keyword_lane.search(["valv"], 10)
    assert before.scores.tolist() != after.scores.tolist()


NAMES = ("a", "ab", "b", "c", "none")
NOTES = [
    Note(
        f"Note {number}",
        (f"a passage of {number}", "another one")[: 1 + number % 2],
        tags=tuple(name for place, name in enumerate(NAMES[:4]) if number >> place & 1),
        metadata={"team": NAMES[number % 4]} if number % 3 else {},
        media_type=("text/plain", "text/markdown")[number % 2],
    )
    for number in range(24)
]
NAMED = st.lists(st.sampled_from(NAMES), max_size=5).map(tuple)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Index:
    options = IndexOptions(filterable=("team",))
    folder = tmp_path_factory.mktemp("notes") / "index"
    return open_index(write_notes(folder, NOTES, vectors=False, options=options))


@given(
    st.lists(st.sampled_from(("s0", "s1")), max_size=3).map(tuple),
    NAMED,
    st.lists(st.sampled_from(("notes/", "notes/1", "notes/12", "notes/2", "x")), max_size=5),
    st.lists(st.sampled_from(("text/plain", "text/markdown", "x")), max_size=3).map(tuple),
    NAMED,
)
def test_any_number_of_filter_values_selects_the_right_passages(
    notes: Index,
    sources: tuple[str, ...],
    tags: tuple[str, ...],
    paths: list[str],
    kinds: tuple[str, ...],
    teams: tuple[str, ...],
) -> None:
    filters = {"source": sources, "tags": tags, "path": paths, "media_type": kinds, "team": teams}
    allowed = notes.part(FilterColumns.open).select(filters)
    expected = []
    for number, note in enumerate(NOTES):
        passes = (
            (not sources or SOURCES[number % 2] in sources)
            and set(tags) <= set(note.tags)
            and (not paths or f"notes/{number}.md".startswith(tuple(paths)))
            and (not kinds or note.media_type in kinds)
            and (not teams or note.metadata.get("team") in teams)
        )
        expected += [passes] * len(note.passages)
    assert (allowed is None and all(expected)) or (
        allowed is not None and allowed.tolist() == expected
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_filter_values(tmp_path: Path) -> None:
    several = [
        Note(f"Note {n}", ("text",), tags=("a", "b"), metadata={"team": "x"}) for n in range(1_000)
    ]
    options = IndexOptions(filterable=("team",))
    index = open_index(write_notes(tmp_path / "index", several, vectors=False, options=options))
    values = tuple(f"v{number}" for number in range(255))
    for filters in (
        {"tags": ("a", *values)},
        {"path": ("notes/", *(f"notes/{value}" for value in values))},
        {"media_type": ("text/markdown", *values)},
        {"team": ("x", *values)},
    ):
        tracemalloc.start()
        try:
            index.part(FilterColumns.open).select(filters)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        # A mask per value would take 255,000 bytes; the values and a few masks take far less.
        assert most < 100_000
