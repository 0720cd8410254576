"""Small indexes written without a build, and server packages rendered without an export."""

import gc
import importlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from run_export import share_bytecode
from sharing import unformatted
from starlette.testclient import TestClient

from foundry.building.documents.preparer import RememberingTokenizer
from foundry.config.project import load_config
from foundry.config.search import IndexOptions
from foundry.documents import Chunk, Document, Link, Reading
from foundry.documents.prepared import PreparedDocument
from foundry.embedding.static import StaticEmbedder
from foundry.features.providers import PROVIDERS
from foundry.files import write_files
from foundry.indexing.entries import IndexEntry
from foundry.indexing.keyword.headings import find_headings
from foundry.indexing.keyword.names import chunk_names
from foundry.indexing.keyword.terms import TermCounter
from foundry.indexing.links import link_keys
from foundry.indexing.queries.forms import forms_of
from foundry.indexing.records import chunk_headings
from foundry.indexing.writer import IndexWriter
from foundry.progress import Reporter
from foundry.rendering import plan
from foundry.rendering.design import Design
from foundry.runtime.index.documents import Documents

SOURCES = ("s0", "s1")

FORGOTTEN = 8
"""Number of packages that are forgotten before their memory is freed."""

_forgotten = count(1)

share_bytecode()


@dataclass(frozen=True, slots=True)
class Note:
    """A document for `write_notes`: its passages, and the numbers of the notes that it links to."""

    title: str
    passages: tuple[str, ...]
    links: tuple[int, ...] = ()
    modified: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    media_type: str = "text/markdown"


def write_notes(
    folder: Path,
    notes: list[Note],
    *,
    vectors: bool = True,
    options: IndexOptions | None = None,
) -> Path:
    """Write an index of these notes, `<number>.md` in alternating sources, into a new folder."""
    documents = (make_document(number, note) for number, note in enumerate(notes))
    return write_documents(folder, documents, vectors=vectors, options=options)


def write_documents(
    folder: Path,
    documents: Iterable[tuple[Document, Sequence[Chunk]]],
    *,
    vectors: bool = True,
    options: IndexOptions | None = None,
) -> Path:
    """Write an index of these documents, which belong to SOURCES, into a new folder."""
    folder.mkdir(parents=True)
    options = options or IndexOptions()
    writer = IndexWriter(folder, language="english", sources=SOURCES, options=options)
    counter = _counter(*options.fields.items())
    for document, chunks in documents:
        names = chunk_names(document, chunks)
        terms = counter.count(document, chunks, names)
        headings = find_headings(names, terms, counter.namer)
        forms = forms_of("\n".join([*chunk_headings(document, each), each.text]) for each in chunks)
        links = link_keys(document)
        made = PreparedDocument(document, tuple(chunks), terms, headings, links, forms)
        writer.add([IndexEntry.of(made)])
    embedder = StaticEmbedder(weighs_by_corpus=not options.own_statistics)
    if vectors:
        writer.embed(embedder, Reporter(quiet=True).step)
    writer.write_lanes()
    if vectors:
        writer.make_query_encoder(embedder, Reporter(quiet=True).step)
    writer.finish({"sources": [], "skipped": []}, config_sha256="")
    return folder


@cache
def _counter(*fields: tuple[str, int]) -> TermCounter:
    """Return a counter, shared by all indexes with these fields: it caches the terms of words."""
    return TermCounter(RememberingTokenizer("english"), dict(fields))


def make_document(number: int, note: Note) -> tuple[Document, tuple[Chunk, ...]]:
    """The document of a note, and its chunks."""
    document = Document(
        id=f"d{number}",
        source=SOURCES[number % 2],
        path=f"notes/{number}.md",
        url=f"https://notes.example/{number}",
        title=note.title,
        media_type=note.media_type,
        reader="markdown/1",
        sha256="",
        bytes=0,
        replaced=0,
        tags=note.tags,
        modified=note.modified,
        metadata=note.metadata,
        reading=Reading(
            text="",
            links=tuple(Link(f"https://notes.example/{n}", "", "autolink") for n in note.links),
        ),
    )
    return document, tuple(_chunks(number, document, note.passages))


def _chunks(number: int, document: Document, passages: tuple[str, ...]) -> Iterator[Chunk]:
    for place, text in enumerate(passages):
        # Ids are not in the order of the chunks, so that ties show which of the two decides.
        chunk_id = f"c{(number * 7919 + place * 104_729) % 1_000_003:07d}"
        yield Chunk(chunk_id, document.id, text, (document.title,), 0, len(text), 1, 1)


def number_of(index: Any, hit: Any) -> int:
    """Return the number of a hit's chunk in an index."""
    documents = index.part(Documents.open)
    document = documents.find(hit.document_id)
    number: int = document.chunk_start + documents.place_of(document, hit.id)
    return number


@contextmanager
def rendered_server(root: Path, package: str, options: str) -> Iterator[ModuleType]:
    """A server package rendered with `options` (TOML) and imported; it has no index yet."""
    with imported(write_server(root, package, options), package) as module:
        yield module


def write_server(root: Path, package: str, options: str) -> Path:
    """Render a server with `options` (TOML), without an index and tests; returns its folder."""
    (root / "sources").mkdir(parents=True)
    (root / "foundry.toml").write_text(
        '[project]\nname = "notes"\n[[sources]]\ntype = "folder"\npath = "sources"\n'
        f'metadata = ["team"]\n{options}\n[export]\npackage = "{package}"\n'
    )
    config = load_config(root)
    encoder = PROVIDERS["none" if config.embedding.provider == "none" else "static"]
    with unformatted():
        files = plan.plan_server(Design.of(config, encoder), None, with_tests=False)
    write_files(root / "server", files)
    return root / "server"


@contextmanager
def imported(folder: Path, package: str) -> Iterator[ModuleType]:
    """Import a package from a folder; afterwards forget it and the index that it has opened."""
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(package)
    finally:
        # Libraries keep references to the package's routes, and so to its modules.
        sys.modules[f"{package}.index.reader"].served._index = None
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
        # Modules refer to each other, so only a garbage collection, which takes long, frees them.
        if not next(_forgotten) % FORGOTTEN:
            gc.collect()


def client_of(package: ModuleType, **options: Any) -> TestClient:
    """Return a client of the application of an imported server."""
    app = importlib.import_module(f"{package.__name__}.app").create_app()
    return TestClient(app, base_url="http://127.0.0.1:8000", **options)
