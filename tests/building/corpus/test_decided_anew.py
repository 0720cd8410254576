"""Decisions about unchanged documents are made again when other documents change."""

import json
import random
import string
from collections.abc import Mapping
from typing import Any

import pytest
from conftest import MakeProject, Project
from processes import leftovers, snapshot

from foundry.building.corpus import boilerplate
from foundry.building.documents.cache import DocumentCache
from foundry.building.documents.encoding import StoredDocument
from foundry.indexing.carried.numbers import PreviousDocument, Span
from foundry.indexing.writer import IndexWriter

pytestmark = pytest.mark.usefixtures("stamps_last")

SEALS = "# Seals\n\nReplace the D40 seal yearly.\n"
PUMPS = "# Pumps\n\nTest the pumps each week.\n"
KEY = "AKIA" + "".join(random.Random(1).choices(string.ascii_uppercase + "234567", k=16))
PICTURE = "\0\1\2"
NOTICE = "All of these pages are the property of the pump company, which keeps its rights to them."


class Corpus:
    """A project that is built after each round of edits, and compared with a fresh build."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files; names without a folder are in `sources/`, and None removes a file."""
        for name, content in files.items():
            path = self.project.root / (name if "/" in name else f"sources/{name}")
            path.parent.mkdir(exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_text(content, encoding="utf-8")

    def build(self, files: Mapping[str, str | None], *options: str) -> dict[str, Any]:
        """Edit and build; returns the report, which is part of an index."""
        self.write(files)
        self.project.succeed("build", "--quiet", "--jobs", "1", *options)
        fresh = self.project.without_state(self.project.root.with_name("fresh"))
        fresh.succeed("build", "--quiet", "--jobs", "1")
        assert snapshot(self.project.index) == snapshot(fresh.index)
        report = json.loads((self.project.index / "report.json").read_bytes())
        assert isinstance(report, dict)
        return report

    def documents(self, key: str = "path") -> list[Any]:
        """A field of each document of the index, in order."""
        lines = (self.project.index / "documents.jsonl").read_text().splitlines()
        return [json.loads(line)[key] for line in lines]


@pytest.fixture
def corpus(make_project: MakeProject) -> Corpus:
    return Corpus(make_project({}))


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The prepared documents that builds take from the cache."""
    numbers: list[int] = []
    load = DocumentCache.load

    def note(cache: DocumentCache, number: int) -> Any:
        numbers.append(number)
        return load(cache, number)

    monkeypatch.setattr(DocumentCache, "load", note)
    return numbers


def test_an_unchanged_document_that_becomes_a_copy_is_indexed_once(corpus: Corpus) -> None:
    corpus.build({"b.md": SEALS, "c.md": PUMPS})
    report = corpus.build({"a.md": SEALS})
    assert corpus.documents() == ["a.md", "c.md"]
    assert [copy["path"] for copy in report["copies"]] == ["b.md"]
    # Without a.md, b.md is no longer a copy, so it is indexed again.
    assert corpus.build({"a.md": None})["copies"] == []
    assert corpus.documents() == ["b.md", "c.md"]


def test_a_document_that_cannot_be_decoded_again_keeps_its_boilerplate(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: StoredDocument) -> None:
        raise ValueError("a worker's invention")

    config = (
        '[project]\nname = "notes"\n[build]\nduplicates = "near"\n[[sources]]\nname = "notes"\n'
    )
    corpus = Corpus(make_project({}, config=f'{config}type = "folder"\npath = "sources"\n'))
    monkeypatch.setattr(boilerplate, "MIN_DOCUMENTS", 2)
    monkeypatch.setattr(StoredDocument, "read", read)
    texts = {f"{name}.md": f"# {name}\n\n{name} pump.\n\n{NOTICE}\n" for name in "abc"}
    report = corpus.build({**texts, "copy of a.md": texts["a.md"]})
    assert corpus.documents() == ["a.md", "b.md", "c.md"]
    assert [copy["path"] for copy in report["copies"]] == ["copy of a.md"]
    (source,) = report["sources"]
    assert source["boilerplate_characters"] == 0


def test_tags_of_a_copy_are_updated_in_an_unchanged_document(corpus: Corpus) -> None:
    corpus.build({"a.md": SEALS, "b.md": PUMPS, "z.md": f"---\ntags: [old]\n---\n{SEALS}"})
    corpus.build({"z.md": f"---\ntags: [new]\n---\n{SEALS}"})
    assert corpus.documents("tags") == [["new"], []]
    corpus.build({"z.md": None})
    assert corpus.documents("tags") == [[], []]


def test_an_unchanged_row_is_left_out_if_an_earlier_table_takes_its_id(
    make_project: MakeProject,
) -> None:
    table = '[[sources]]\ntype = "records"\nname = "{0}"\npath = "rows/{0}.csv"\n'
    config = f'[project]\nname = "notes"\n{table.format("first")}{table.format("last")}'
    corpus = Corpus(make_project({}, config=config))
    rows = "id,text\n1,The seal is blue\n2,The pump is red\n"
    first = "id,text\n7,The valve is green\n"
    corpus.build({"rows/first.csv": first, "rows/last.csv": rows})
    assert corpus.documents() == ["7", "1", "2"]
    report = corpus.build({"rows/first.csv": f"{first}2,The roof is bolted\n"})
    assert corpus.documents() == ["7", "2", "1"]
    (skipped,) = report["skipped"]
    assert (skipped["source"], skipped["path"]) == ("last", "2")
    assert (skipped["reason"], skipped["detail"]) == ("duplicate id", "id 2")
    # Documents that are not read again stay omitted, until the reason is gone.
    assert corpus.build({"rows/last.csv": f"{rows}3,The lamp is lit\n"})["skipped"] == [skipped]
    assert corpus.build({"rows/first.csv": first})["skipped"] == []


def test_skipped_files_are_listed_in_order(corpus: Corpus) -> None:
    pictures = {f"{name}.bin": PICTURE for name in "ace"}
    pages = {name: f"# Page\n\n{name} on its own.\n" for name in ("b.md", "d.md", "f.md")}
    corpus.build(pictures | pages)
    for number, name in enumerate(("f.md", "b.md", "d.md")):
        report = corpus.build({name: f"# Page\n\n{name} once more.\n", f"{number}.bin": PICTURE})
        skipped = [entry["path"] for entry in report["skipped"]]
        assert skipped == [*(f"{n}.bin" for n in range(number + 1)), *pictures]
    # The file sorts between two documents that are adjacent now and were adjacent in the previous
    # index.
    assert len(corpus.build({"c.bin": None})["skipped"]) == 5


def test_findings_are_kept_while_other_documents_change(corpus: Corpus) -> None:
    files = {
        "b.md": f"# Keys\n\nThe store opens with {KEY}.\n",
        "c.md": PUMPS,
        "d.md": "# Seen\n\nSpoken\u200b aloud here.\n",
        "e.md": SEALS,
    }
    before = corpus.build(files)["findings"]
    assert len(before) == 2
    assert corpus.build({"a.md": "# First\n\nOf all.\n"})["findings"] == before
    assert corpus.build({"c.md": None, "a.md": None})["findings"] == before
    assert corpus.build({"b.md": None})["findings"] == before[1:]


def test_documents_are_decided_anew_if_sources_change_order(make_project: MakeProject) -> None:
    name, first, last = '[project]\nname = "notes"\n', *(
        f'[[sources]]\ntype = "folder"\npath = "{folder}"\n' for folder in ("first", "last")
    )
    corpus = Corpus(make_project({}, config=name + first + last))
    corpus.build({"first/a.md": SEALS, "first/b.md": PUMPS, "last/a.md": "# Roof\n\nBolted.\n"})
    report = corpus.build({"./foundry.toml": name + last + first})
    assert [source["documents"] for source in report["sources"]] == [1, 2]


def test_boilerplate_that_comes_and_goes(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boilerplate, "MIN_DOCUMENTS", 3)
    pages = {f"{name}.md": f"# Page {name}\n\n{name} on its own.\n\n{NOTICE}\n" for name in "bc"}
    assert cut(corpus.build(pages)) == 0
    # The third document makes the notice boilerplate, and sorts before both others.
    assert cut(corpus.build({"a.md": f"# Page a\n\nIts own.\n\n{NOTICE}\n"})) == 2 * len(
        f"\n\n{NOTICE}"
    )
    assert cut(corpus.build({"d.md": PUMPS})) == 2 * len(f"\n\n{NOTICE}")
    assert cut(corpus.build({"a.md": PUMPS.replace("each", "every")})) == 0


def cut(report: Mapping[str, Any]) -> int:
    return sum(source["boilerplate_characters"] for source in report["sources"])


def test_a_partial_handover_of_a_stopped_build_is_removed(corpus: Corpus) -> None:
    corpus.build({"a.md": SEALS})
    begun = corpus.project.root / ".foundry" / "handover.tmp"
    begun.mkdir()
    (begun / "inputs.npy").write_bytes(b"")
    corpus.write({"b.md": PUMPS})
    corpus.project.succeed("build", "--quiet")
    assert leftovers(corpus.project.root) == []


def test_a_failed_build_leaves_the_previous_handover(corpus: Corpus, loaded: list[int]) -> None:
    corpus.build({"a.md": SEALS, "b.md": PUMPS})
    corpus.write({"a.md": None, "b.md": None})
    assert "no documents to index" in corpus.project.run("build").output
    assert leftovers(corpus.project.root) == []
    corpus.write({"a.md": SEALS, "b.md": "# Pumps\n\nTest them.\n"})
    loaded.clear()
    corpus.project.succeed("build", "--quiet")
    assert len(loaded) == 1


def test_adjacent_documents_are_copied_at_once_and_only_changed_ones_loaded(
    corpus: Corpus, loaded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    spans: list[Span[PreviousDocument]] = []
    copy = IndexWriter.copy

    def note(writer: IndexWriter, documents: Span[PreviousDocument]) -> None:
        spans.append(documents)
        copy(writer, documents)

    pages = {f"{name}.md": f"# Page {name}\n\nText of {name}.\n" for name in "abdef"}
    corpus.build({**pages, "g.md": pages["a.md"], "h.bin": PICTURE})
    monkeypatch.setattr(IndexWriter, "copy", note)
    loaded.clear()
    # Neither the copy nor the unreadable file is read again.
    corpus.write({"c.md": SEALS, "e.md": None})
    corpus.project.succeed("build", "--quiet")
    assert spans == [(0, 2), (2, 3), (4, 5)]
    assert len(loaded) == 1
