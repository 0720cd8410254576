"""Records in PostgreSQL: a server without texts responds like one that has them."""

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from unittest.mock import patch
from urllib.parse import quote, unquote

import numpy as np
import pytest
from conftest import Project
from sharing import unformatted
from small_indexes import Note, imported, make_document, write_documents, write_notes
from starlette.testclient import TestClient
from stores import Place, own_name
from test_store_steps import COUNT, OPTIONS, Killed, check_answers, make_notes, write
from test_stores import ask, client_of, close, same, server, wait_until_answered

from foundry.config.project import load_config
from foundry.errors import PublishError
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.layout import IndexFiles
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.store.pgvector.engine import PgvectorEngine
from foundry.runtime.store.records import READ_AT_ONCE, StoredIndex, StoredLines, open_stored
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import (
    HELD_FILES,
    RECORD_FILES,
    Edition,
    Store,
    VersionMissingError,
)
from foundry.stores import checking
from foundry.stores.content import Content
from foundry.stores.pgvector import publishing as pgvector
from foundry.stores.records import Records
from foundry.stores.rows import Rows

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_readers")

GOLDEN = Path(__file__).parents[1] / "golden"
QUERIES = ("open evening", '"fell top" dome', "FT-12", "who cleans the mirrors -dome", "telescop")
STAGES = """
[chunking]
strategy = "parent"
max_chars = 200
parent_max_chars = 900
[search.understanding]
extract = ["tags"]
[search.rerank]
model = "models/reranker"
hits = 5
"""
"""Stages that the golden server lacks; the models do not exist."""


@pytest.fixture
def place(postgres: str) -> Place:
    return Place("pgvector", own_name(), postgres)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("first") / "index")


def remove_texts(folder: Path) -> None:
    """Remove the index files that an engine holds together with its records."""
    for name in sorted(HELD_FILES | RECORD_FILES, reverse=True):
        if (folder / name).is_dir():
            (folder / name).rmdir()
        else:
            (folder / name).unlink()


def without_texts(index: Path, folder: Path) -> Edition:
    """Return an index as seen by a server without records."""
    shutil.copytree(index, folder)
    remove_texts(folder)
    return Edition.open(IndexFiles.open(folder, HELD_FILES | RECORD_FILES))


def check_records(place: Place, index: Path) -> None:
    """Check that the engine has every line of a version, byte for byte."""
    content = Content.open(index)
    layout = content.files.layout
    lines = layout.chunks.read_bytes().splitlines(keepends=True)
    documents = layout.documents.read_bytes().splitlines(keepends=True)
    firsts = np.load(layout.document_chunks)[:-1].astype(np.int64)
    with place.engine() as engine:
        assert isinstance(engine, PgvectorEngine)
        every = np.arange(len(lines))[::-1]
        found = engine.read_records(content.edition, every, of_documents=False)
        assert found == lines[::-1]
        assert engine.read_records(content.edition, firsts, of_documents=True) == documents


def records_of(place: Place) -> int:
    ((count,),) = place.query("SELECT count(*) FROM {}.records")
    return int(count)


def test_versions_share_equal_records_and_read_their_own(
    place: Place, first: Path, tmp_path: Path
) -> None:
    changed = write(tmp_path / "changed", {7: "second"})
    place.publish(first, records=True)
    assert records_of(place) == 2 * COUNT
    loaded: list[int] = []
    load = pgvector.load_rows

    def note(tables: Any, rows: Rows, chosen: Any, begin: int) -> None:
        loaded.append(len(chosen))
        load(tables, rows, chosen, begin)

    with patch.object(pgvector, "load_rows", note):
        place.publish(changed, records=True)
    assert loaded == [1]
    for index in (first, changed):
        check_records(place, index)
        check_answers(place, index)
    assert not place.publish(first, records=True).loaded
    check_records(place, first)
    place.publish(changed, records=True, grace=0)
    assert records_of(place) == 2 * COUNT
    check_records(place, changed)


def test_a_changed_record_changes_the_code_of_its_rows(place: Place, tmp_path: Path) -> None:
    """A chunk's record changes the chunk's code; a document's, the code of its first chunk."""
    notes = make_notes(count=3)
    documents = [make_document(number, note) for number, note in enumerate(notes)]
    index = write_documents(tmp_path / "index", documents, options=OPTIONS)
    rows = Rows.open(Content.open(index), with_records=True)
    assert rows.records is not None
    plain = Rows.open(Content.open(index))
    assert (rows.codes != plain.codes).all()
    line = bytearray(rows.records.chunks)
    line[int(rows.records.ends[3]) - 3] ^= 1
    document = bytearray(rows.records.documents)
    document[5] ^= 1
    for name, content, chunk in (("chunks", line, 2), ("documents", document, 0)):
        values = {**vars(rows.records), name: memoryview(content)}
        values.pop("codes", None)
        others = Records(**values).codes
        assert np.flatnonzero(others != rows.records.codes).tolist() == [chunk]


def test_loaded_records_are_not_loaded_again(
    place: Place, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = write(tmp_path / "third", dict.fromkeys(range(COUNT), "third"))
    place.publish(first, records=True)
    monkeypatch.setattr(pgvector, "BATCH_CHUNKS", 10)
    copied: list[int] = []
    copy = pgvector.load_rows

    def count(tables: Any, rows: Rows, chosen: Any, begin: int) -> None:
        copy(tables, rows, chosen, begin)
        if len(copied) == 3:
            raise Killed
        copied.append(len(chosen))

    with patch.object(pgvector, "load_rows", count), pytest.raises(Killed):
        place.publish(third, records=True)
    assert place.current() == Content.open(first).version
    check_records(place, first)
    copied.clear()
    monkeypatch.setattr(pgvector, "BATCH_CHUNKS", 1000)
    with patch.object(pgvector, "load_rows", count):
        place.publish(third, records=True)
    assert copied == [COUNT - 30]
    check_records(place, first)
    check_records(place, third)


def test_a_version_without_records_is_loaded_again_with_them(
    place: Place, first: Path, tmp_path: Path
) -> None:
    edition = without_texts(first, tmp_path / "served")
    assert edition.needs_records and not Content.open(first).edition.needs_records
    place.publish(first)
    with place.engine() as engine:
        engine.check(Content.open(first).edition)
        with pytest.raises(VersionMissingError, match="does not have index"):
            engine.check(edition)
        assert place.publish(first, records=True).loaded
        engine.check(edition)
        check_records(place, first)
        # Records stay when the same version is published without them.
        assert not place.publish(first).loaded
        engine.check(edition)
        check_records(place, first)
        place.publish(first, again=True)
        with pytest.raises(VersionMissingError):
            engine.check(edition)
    place.publish(first, records=True, grace=0)
    assert records_of(place) == 2 * COUNT


def test_wrong_or_missing_records_prevent_the_switch(place: Place, first: Path) -> None:
    place.publish(first, records=True)
    place.query("DELETE FROM {}.records WHERE row = 5")
    with pytest.raises(PublishError, match=f"{2 * COUNT - 1} rows of index .*, expected"):
        place.publish(first, records=True)
    place.publish(first, records=True, again=True)
    for column in ("chunk", "document"):
        place.query(f"UPDATE {{}}.records SET {column} = 'x' WHERE {column} IS NOT NULL")
        with pytest.raises(
            PublishError, match="its records differ; the published version is unchanged"
        ):
            place.publish(first, records=True)
        place.publish(first, records=True, again=True)
    check_records(place, first)


def test_records_are_compared_even_if_few_are_new() -> None:
    records = Records(
        memoryview(b"abcd"),
        np.arange(5, dtype=np.uint64),
        memoryview(b"xy"),
        np.arange(3, dtype=np.uint64),
        np.array([0, 3]),
    )
    assert [records.chunk(number) for number in range(4)] == [b"a", b"b", b"c", b"d"]
    assert [records.document(number) for number in range(4)] == [b"x", None, None, b"y"]
    asked: list[tuple[list[int], bool]] = []

    class Engine:
        def read_records(self, _edition: Any, chunks: Any, *, of_documents: bool) -> list[bytes]:
            asked.append((chunks.tolist(), of_documents))
            read: Callable[[int], Any] = records.document if of_documents else records.chunk
            return [read(chunk) for chunk in chunks.tolist()]

    engine: Any = Engine()
    nothing: Any = None
    checking.compare_records(records, engine, nothing, np.array([2]))
    assert asked == [([0, 1, 2, 3], False), ([0, 3], True)]
    asked.clear()
    checking.compare_records(records, engine, nothing, np.zeros(0, dtype=np.int64))
    assert asked[0] == ([0, 1, 2, 3], False)


def test_records_are_read_in_batches(first: Path) -> None:
    content = Content.open(first)
    lines = content.files.layout.chunks.read_bytes().splitlines(keepends=True)
    asked: list[list[int]] = []

    class Asked:
        def ask(self, call: Callable[[Any, Any], list[bytes]]) -> list[bytes]:
            return call(self, None)

        def read_records(self, _edition: Any, chunks: Any, *, of_documents: bool) -> list[bytes]:
            assert not of_documents
            asked.append(chunks.tolist())
            return [lines[chunk] for chunk in chunks.tolist()]

    store: Any = Asked()
    stored = StoredLines(store, content.files.layout.chunk_ids, None)
    every = [*range(2 * COUNT)] * 3
    found = stored.each(ChunkRecord, ((number, {}) for number in every))
    assert not asked
    assert next(found) == content.index.chunk(0)
    assert asked == [every[:READ_AT_ONCE]]
    assert [*found] == [*content.index.chunks(every[1:])]
    assert asked[1:] == [every[READ_AT_ONCE:]]
    assert stored.numbers(content.index.chunk(5).id) == [5]
    lines[1] = b"[]"
    with pytest.raises(IndexUnusableError, match="the engine: record 1: "):
        stored.read(1, ChunkRecord)


def addresses(module: ModuleType) -> list[str]:
    """Return all addresses that can be read from a server, by any route."""
    index = module.load()
    part = importlib.import_module(f"{module.__name__}.index.documents").Documents.open
    documents = [*index.part(part).page()]
    found = ["/documents?limit=2", "/documents?offset=1&limit=100", "/documents/none", "/sources"]
    for document in documents:
        name = quote(document.id, safe="")
        chunks = [*index.part(part).chunks_of(document)]
        found += [f"/documents/{name}", f"/documents/{name}?offset=1&limit=1"]
        found += [f"/chunks/{quote(chunk.id, safe='')}" for chunk in chunks]
        around = quote(chunks[-1].id, safe="")
        found += [f"/d/{name}", f"/chunks?document={name}&around={around}&limit=3"]
        found.append(f"/originals/{name}")
    found += ["/folders", "/folders?limit=1", "/llms.txt", "/about"]
    for query in QUERIES:
        for more in ("", "&top_k=1", "&top_k=100", "&mode=keyword", "&mode=semantic", "&sort=date"):
            found.append(f"/search?q={quote(query)}{more}")
    return found


def told(client: TestClient, path: str) -> tuple[int, Any]:
    reply = client.get(path)
    if reply.headers["content-type"] == "application/json":
        return reply.status_code, {**reply.json(), "took_ms": 0}
    return reply.status_code, reply.text


def fetched(module: ModuleType, ids: list[str]) -> list[Any]:
    """Return the result of MCP's fetch."""
    tools = importlib.import_module(f"{module.__name__}.mcp.tools")
    return [tools.TOOLS["fetch"].answer({"id": name}).to_json() for name in ids]


@contextmanager
def exported(project: Project, package: str, more: str) -> Iterator[ModuleType]:
    """Export a project under its own package name, and import it."""
    file = project.root / "foundry.toml"
    written = file.read_text()
    try:
        file.write_text(written.replace("[export]\n", f'{more}\n[export]\npackage = "{package}"\n'))
        with unformatted():
            folder = project.export("--stale", "--output", str(project.root / package))
    finally:
        file.write_text(written)
    data = folder / package / "data"
    assert (data / "chunks.jsonl").exists() != ("records" in more)
    if "records" in more:
        assert not [name for name in HELD_FILES | RECORD_FILES if (data / name).exists()]
    with imported(folder, package) as module:
        yield module


@pytest.mark.slow
def test_every_route_responds_as_with_local_records(place: Place, tmp_path: Path) -> None:
    root = tmp_path / "project"
    left = shutil.ignore_patterns("expected", "questions.jsonl")
    shutil.copytree(GOLDEN / "stages", root, ignore=left)
    written = (root / "foundry.toml").read_text()
    written = written.replace("[server]\n", f"{STAGES}[server]\nfolders = true\noriginals = true\n")
    (root / "foundry.toml").write_text(written)
    engine = f'[store]\nengine = "pgvector"\nname = "{place.name}"\ntimeout_ms = 60000\n'
    engine += 'records = "engine"\n'
    project = Project(root)
    (root / "foundry.toml").write_text(written + engine)
    assert load_config(root).store.has_records
    project.succeed("build", "--quiet")
    with patch.dict(os.environ, {**place.variables, "REFERENCE_DATE": "2026-02-01"}):
        project.succeed("publish", "--quiet")
        (root / "foundry.toml").write_text(written)
        with (
            exported(project, "whole", "") as whole,
            exported(project, "bare", engine) as bare,
        ):
            paths = addresses(whole)
            try:
                app = importlib.import_module(f"{whole.__name__}.app").create_app()
                client = TestClient(app, base_url="http://127.0.0.1:8000")
                with client as theirs, client_of(bare) as ours:
                    for path in paths:
                        mine, other = told(ours, path), told(theirs, path)
                        assert same(mine, other), f"{path}\n{mine}\n{other}"
                    chunks = [path for path in paths if path.startswith("/chunks/")]
                    cited = [unquote(chunks[0].removeprefix("/chunks/"))]
                    asked = {
                        "messages": [
                            {"role": "user", "content": QUERIES[0]},
                            {"role": "assistant", "content": "So.", "cited": cited},
                            {"role": "user", "content": "and why?"},
                        ]
                    }
                    texts = [client.post("/chat", json=asked).text for client in (ours, theirs)]
                    assert texts[0] == texts[1] and "sources" in texts[0]
                names = [hit.id for hit in whole.search_hybrid(QUERIES[0]).hits]
                part = importlib.import_module(f"{whole.__name__}.index.documents").Documents.open
                names += [document.id for document in whole.load().part(part).page()]
                assert fetched(bare, names) == fetched(whole, names)
            finally:
                close(bare.load.__self__.current().dense_lane.store)


def test_an_index_without_texts_is_read_like_a_complete_one(
    place: Place, first: Path, tmp_path: Path
) -> None:
    place.publish(first, records=True)
    without_texts(first, tmp_path / "bare")
    whole = Content.open(first).index
    engine = PgvectorEngine(place.address, StoreSettings(place.name, exact=True, timeout=60.0))
    with patch("foundry.runtime.store.store.read_store_settings"), closing(engine):
        bare = open_stored(
            tmp_path / "bare", open_engine=lambda _settings: engine, open_encoder=cast(Any, id)
        )
        every = range(whole.chunk_count)
        assert [*bare.chunks(every)] == [*whole.chunks(every)]
        ours, theirs = bare.part(Documents.open), whole.part(Documents.open)
        assert [*ours.page()] == [*theirs.page()]
        for document in theirs.page(limit=3):
            assert ours.find(document.id) == document
            assert [*ours.chunks_of(document)] == [*theirs.chunks_of(document)]
        for chunk in whole.chunks(range(3)):
            assert bare.find_chunk(chunk.id) == chunk
        assert bare.find_chunk("nothing") is ours.find("nothing") is None


def test_the_best_chunks_equal_those_of_the_index(place: Place, tmp_path: Path) -> None:
    """This also holds if so many chunks tie with the last one that their texts are fetched
    separately.
    """
    notes = [
        Note(f"Note {number} on valves", (f"The valve {number} is {'checked ' * (number % 5)}.",))
        for number in range(80)
    ]
    index = write_notes(tmp_path / "index", notes, options=OPTIONS)
    place.publish(index, records=True)
    content = Content.open(index)
    with place.engine() as engine:
        assert isinstance(engine, PgvectorEngine)
        store = Store(engine, content.edition)
        stored = StoredIndex(content.files, store, cast(Any, None))
        with counted(engine) as asked:
            for terms, count, times in (
                (["valv", "check"], 20, 1),
                (["valv", "check"], 3, 2),
                (["valv"], 100, 1),
                (["valv"], 7, 2),
                (["valv", "nothing"], 80, 1),
                (["nothing"], 5, 0),
            ):
                asked.clear()
                found = [*stored.best_chunks(terms, count)]
                assert found == [*content.index.best_chunks(terms, count)]
                assert len(asked) == times, (terms, count)
        place.query("DELETE FROM {}.postings")
        with pytest.raises(VersionMissingError):
            [*stored.best_chunks(["valv"], 7)]


@contextmanager
def counted(engine: Any) -> Iterator[list[object]]:
    """Record the requests to an engine, one item per exchange."""
    asked: list[object] = []
    use = engine._connections.use
    with patch.object(engine._connections, "use", lambda *call: asked.append(call) or use(*call)):
        yield asked


def machines() -> list[Note]:
    """Return notes with identifiers, some of which are parts of longer ones, and equal notes."""
    valves = [
        Note(
            f"Valve {number}",
            (f"The valve V{number}-A is checked with tool T-{number % 7}.", f"Part {number}."),
        )
        for number in range(120)
    ]
    return [*valves, *[Note("Leaks", ("Report a leak of a valve to the office.",))] * 4]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "further"),
    [
        ("[search.near_duplicates]\n[search.recency]\n[search.links]\n[search.document_cap]\n", 0),
        ("[search.heuristics]\n", 1),
    ],
)
def test_a_search_makes_one_more_request_for_texts(
    more: str, further: int, place: Place, tmp_path: Path
) -> None:
    index = write_notes(tmp_path / "index", machines(), options=OPTIONS)
    place.publish(index, records=True)
    queries = (
        "how is the valve checked",
        "V7-A",
        "is V7-A checked with T-3?",
        "V7-B",
        "who knows about T-99 and V300-A",
        "report a leak",
        "zzzunheard",
        "--verbose",
    )
    with (
        server(tmp_path, place, more) as whole,
        server(tmp_path, place, f'records = "engine"\n{more}') as stored,
    ):
        whole.load(index)
        bare = tmp_path / "bare"
        without_texts(index, bare)
        stored.load(bare)
        engines = [one.load.__self__.current().dense_lane.store.engine for one in (whole, stored)]
        with (
            counted(engines[0]) as theirs,
            counted(engines[1]) as ours,
            patch.dict(os.environ, REFERENCE_DATE="2026-02-01"),
        ):
            for query in queries:
                for mode in ("hybrid", "keyword", "semantic"):
                    for top_k in (1, 100):
                        ours.clear()
                        theirs.clear()
                        mine, other = (ask(one, query, mode, {}, top_k) for one in (stored, whole))
                        assert same(mine, other), (query, mode, top_k)
                        shown = bool(mine["results"])
                        case = query, mode, top_k, len(theirs), len(ours)
                        assert len(ours) == len(theirs) + shown * (1 + further), case


@pytest.mark.slow
def test_texts_of_a_page_are_requested_together(place: Place, tmp_path: Path) -> None:
    index = write(tmp_path / "index")
    place.publish(index, records=True)
    with server(tmp_path, place, 'records = "engine"\n') as stored:
        stored.load(index)
        served = stored.load.__self__.current()
        names = [quote(chunk.id, safe="") for chunk in served.chunks(range(6))]
        cited = [unquote(name) for name in names]
        document = quote(next(served.chunks([0])).document_id, safe="")
        with client_of(stored) as client, counted(served.dense_lane.store.engine) as asked:
            for path, times in (
                (f"/chunks/{names[0]}", 1),
                ("/chunks/nothing", 0),
                ("/documents?limit=100", 1),
                (f"/documents/{document}", 2),
                ("/documents/nothing", 0),
                (f"/d/{document}", 2),
                (f"/chunks?document={document}&limit=100", 2),
                (f"/chunks?document={document}&around={names[1]}&limit=3", 3),
                ("/llms.txt", 1),
                ("/sources", 0),
                ("/about", 0),
            ):
                asked.clear()
                status = client.get(path).status_code
                assert status == (404 if path.endswith("nothing") else 200), path
                assert len(asked) == times, path
            asked.clear()
            turns = importlib.import_module(f"{stored.__name__}.chat.routes").ChatTurn
            turn = turns(role="assistant", content="So.", cited=(*cited, "nothing")).turn()
            assert len(turn.cited) == len(cited)
            assert len(asked) == 1


MISSING = "The search engine does not have this index."


@pytest.mark.slow
def test_missing_records_are_an_error(place: Place, tmp_path: Path) -> None:
    """A record may be damaged or removed by hand, or the version that a server uses is removed."""
    index = write(tmp_path / "index")
    place.publish(index, records=True)
    with server(tmp_path, place, 'records = "engine"\n') as stored:
        stored.load(index)
        served = stored.load.__self__.current()
        chunk, store = served.chunk(0), served.dense_lane.store
        (document,) = served.part(
            importlib.import_module(f"{stored.__name__}.index.documents").Documents.open
        ).page(0, 1)
        paths = [f"/chunks/{quote(chunk.id, safe='')}", f"/search?q={quote(chunk.title)}"]
        documents = [f"/documents/{quote(document.id, safe='')}", "/documents", "/llms.txt"]
        with client_of(stored) as client:

            def check(wanted: list[str], detail: str) -> None:
                for path in wanted:
                    store.problem = None
                    reply = client.get(path)
                    assert (reply.status_code, reply.json()["detail"]) == (503, detail), path
                    assert reply.headers["content-type"] == "application/problem+json"

            whole = [client.get(path).json() for path in (*paths, documents[0])]
            place.query("UPDATE {}.records SET chunk = '[]'")
            check(paths, "The index is not available.")
            assert client.get("/documents").status_code == 200
            place.query("UPDATE {}.records SET document = NULL")
            check(documents, MISSING)
            place.query("DELETE FROM {}.records")
            check(paths, MISSING)
            place.publish(index, records=True, again=True)
            store.problem = None
            for path, before in zip((*paths, documents[0]), whole, strict=True):
                assert same({**client.get(path).json(), "took_ms": 0}, {**before, "took_ms": 0})
            place.publish(write(tmp_path / "second", {3: "second"}), records=True, grace=0)
            check([*paths, *documents], MISSING)
            store.problem = None
            with pytest.raises(Exception, match="does not have index") as missing:
                fetched(stored, [chunk.id])
            assert type(missing.value).__name__ == VersionMissingError.__name__


@pytest.mark.slow
def test_a_frozen_engine_does_not_delay_other_requests(place: Place, tmp_path: Path) -> None:
    index = write(tmp_path / "index")
    place.publish(index, records=True)
    with (
        place.relayed() as (behind, relay),
        server(tmp_path, behind, 'records = "engine"\ntimeout_ms = 1500\n') as stored,
    ):
        stored.load(index)
        chunk = stored.load.__self__.current().chunk(0)
        reader = f"/chunks/{quote(chunk.id, safe='')}"
        with client_of(stored) as client, ThreadPoolExecutor() as threads:
            for path in (reader, f"/documents/{chunk.document_id}"):
                wait_until_answered(client, path)
                with relay.held():
                    waiting = threads.submit(client.get, path)
                    assert client.get("/healthz").status_code == 200
                    # No record has this id, and the server knows this without a request.
                    assert client.get("/chunks/nothing").status_code == 404
                    assert not waiting.done()
                    reply = waiting.result()
                assert reply.status_code == 503, path
                assert reply.json()["detail"] == "The search engine did not respond in time."
