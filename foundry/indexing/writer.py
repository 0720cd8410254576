"""Writes an index from documents and chunks into a folder.

Equal inputs give equal bytes: nothing depends on time, place, locale or hash order.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import IndexOptions
from foundry.documents.prepared import unpack
from foundry.embedding.embedder import Embedder, QueryEncoder
from foundry.files import hash_file, sync_file
from foundry.indexing.carried.carried import Carried
from foundry.indexing.carried.numbers import DocumentNumber, PreviousDocument, Span
from foundry.indexing.columns import DocumentColumns
from foundry.indexing.dense.calibration import HEADING, CalibrationQuery, spans_of
from foundry.indexing.dense.overlap import RankingOverlap
from foundry.indexing.dense.vectors import (
    BACKGROUND_QUESTIONS,
    VectorsBuilder,
    WrittenVectors,
    background_of,
)
from foundry.indexing.entries import IndexEntry, parse_fields
from foundry.indexing.files import RecordFile, describe_files, encode_json, open_stored
from foundry.indexing.keyword.headings import HeadingsBuilder
from foundry.indexing.keyword.postings import K1, B, PostingsBuilder, WrittenPostings
from foundry.indexing.queries.builder import QueryFilesBuilder, frequent_words, write_expansion
from foundry.progress import StartStep
from foundry.runtime.index.layout import IndexLayout, KnownItem, Manifest
from foundry.runtime.index.lines import hash_key, make_record
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.statistics import STATISTICS
from foundry.runtime.index.tokens import VERSION as TOKENIZER_VERSION
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.embedding.probe import DenseManifest

PROBE_TEXT = "How do I find what I am looking for?"
EMBEDDING_BATCH = 1024
"""Number of chunks passed at a time to the embedder, which may group and reorder them."""


class IndexWriter:
    """Takes documents with their chunks, in index order.

    Call in this order: `add`, or `copy` for documents of the previous index; `embed`, unless the
    documents have vectors; `write_lanes`; `make_query_encoder`; `finish`. Without vectors, or
    without `make_query_encoder`, there is no dense lane.
    """

    def __init__(
        self,
        folder: Path,
        *,
        language: str,
        sources: Sequence[str],
        options: IndexOptions | None = None,
        carried: Carried | None = None,
    ) -> None:
        self._carried = carried = carried or Carried()
        self._layout = IndexLayout(folder)
        self._options = options or IndexOptions()
        self._columns = DocumentColumns(sources, self._options.filterable, carried)
        self._language = language
        self._tokenizer = Tokenizer(language)
        self._postings = PostingsBuilder(folder, carried)
        self._headings = HeadingsBuilder(carried)
        self._query_files = QueryFilesBuilder(self._options, self._tokenizer, carried)
        self._threads = ThreadPoolExecutor()
        self._lanes: Future[WrittenPostings] | None = None
        self._described: Future[dict[str, Any]] | None = None
        self._synced: list[Future[None]] = []
        self._hashes: dict[Path, Future[str]] = {}
        self._vectors: VectorsBuilder | None = None
        self._written: WrittenVectors | None = None
        self._dense: DenseManifest | None = None
        self._chunks = RecordFile(self._layout.chunks)
        self._documents = RecordFile(self._layout.documents)

    @property
    def chunk_count(self) -> int:
        """Number of chunks so far."""
        return len(self._chunks)

    @property
    def document_count(self) -> DocumentNumber:
        """Number of documents so far, which is also the number of the next one."""
        return DocumentNumber(len(self._documents))

    def add(self, entries: Sequence[IndexEntry]) -> None:
        """Add documents with their chunks; their ids must be new."""
        numbers = self._postings.add([entry.terms for entry in entries])
        self._headings.add([entry.headings for entry in entries], numbers)
        if vectors := [entry.vectors for entry in entries if entry.vectors is not None]:
            rows = unpack(b"".join(each.rows for each in vectors), np.int8)
            scales = unpack(b"".join(each.scales for each in vectors), np.float32)
            dimensions = vectors[0].dimensions
            self._vectors_of(dimensions).add_rows(rows.reshape(-1, dimensions), scales)
        lines = zip(*(entry.chunks for entry in entries), strict=True)
        self._chunks.add_lines(*map(b"".join, lines))
        for entry in entries:
            self._query_files.add(entry.forms, entry.offered)
            document = parse_fields(entry.record)
            self._columns.add(document, entry.chunk_count, entry.links)
            copies = (place.document_id for place in document.also_at)
            self._documents.add(entry.record, map(hash_key, (document.id, *copies)))

    def copy(self, documents: Span[PreviousDocument]) -> None:
        """Copy documents of the previous index unchanged, in the order of that index.

        Their vectors are copied too if they are the built-in table's.
        """
        carried = self._carried
        chunks = carried.copy(documents, self.document_count, self.chunk_count)
        if carried.vectors is not None:
            rows, scales = carried.vectors
            span = slice(*chunks)
            self._vectors_of(rows.shape[1]).add_rows(rows[span], scales[span])
        self._chunks.carry(carried.chunk_records, *chunks)
        self._documents.carry(carried.document_records, *documents)

    def _vectors_of(self, dimensions: int) -> VectorsBuilder:
        self._vectors = self._vectors or VectorsBuilder(self._layout, dimensions)
        return self._vectors

    def embed(self, embedder: Embedder, step: StartStep) -> None:
        """Embed all chunks, once all documents are added; `step` reports progress."""
        self._close_grown()
        self._vectors = None
        with step("Embedding", "chunks", self.chunk_count) as progress:
            for headings, texts in self._read_texts():
                vectors = embedder.embed_documents(headings, texts, progress.advance)
                self._vectors_of(vectors.shape[1]).add(vectors)

    def write_lanes(self) -> None:
        """Write both lanes, once all chunks have vectors.

        Postings and tables are still being written when this returns, since vectors do not need
        them.
        """
        layout = self._layout
        self._lanes = self._threads.submit(self._write_postings)
        self._described = self._threads.submit(self._write_columns)
        if self._vectors is not None:
            self._written = self._vectors.write()
            self._settle(layout.vectors, layout.sketch)
        self._close_grown()
        self._settle(layout.chunks, layout.documents)
        self._query_files.write(layout, self._read_chunks)

    def _write_postings(self) -> WrittenPostings:
        keeps_counts = self._options.keeps_counts or self._options.own_statistics
        statistics = self._layout.root / STATISTICS if keeps_counts else None
        if statistics is not None:
            statistics.mkdir()
        in_steps = self._options.mean_in_steps
        written = self._postings.write(self._layout, statistics, in_steps=in_steps)
        self._settle(self._layout.posting_chunks, self._layout.posting_impacts)
        return written

    def _write_columns(self) -> dict[str, Any]:
        """Write record offsets and document columns; return their sections of the manifest."""
        layout = self._layout
        self._chunks.write_tables(layout.chunk_offsets, layout.chunk_ids)
        self._documents.write_tables(layout.document_offsets, layout.document_ids)
        return self._columns.write(layout)

    def _settle(self, *paths: Path) -> None:
        """Sync and hash finished files in the background."""
        for path in paths:
            self._synced.append(self._threads.submit(sync_file, path))
            self._hashes[path] = self._threads.submit(hash_file, path)

    def make_query_encoder(self, embedder: Embedder, step: StartStep) -> None:
        """Make the query encoder and calibrate the dense lane, once both lanes are written.

        If this changes the contract of the embedder, all chunks are embedded again.
        """
        assert self._written is not None and self._lanes is not None
        layout, lanes, shape = self._layout, self._lanes, self._written.shape
        overlap = RankingOverlap(layout, self._tokenizer, lambda: lanes.result().counts, shape)
        contract = embedder.contract
        encoder = embedder.make_query_encoder(self._read_chunks, overlap)
        if embedder.contract != contract:
            self.embed(embedder, step)
            assert self._vectors is not None
            self._written = self._vectors.write()
            self._settle(layout.vectors, layout.sketch)
        if self._options.expansion_words:
            texts = (chunk.text for chunk in self._read_chunks())
            words = frequent_words(texts, self._tokenizer, self._options.expansion_words)
            write_expansion(self._layout, words, encoder.encode)
        assert self._described is not None
        self._described.result()
        asked = [CalibrationQuery(text, HEADING) for text in self._headings.samples()]
        asked += spans_of(layout, self._tokenizer)
        samples = [PROBE_TEXT, *(query.text for query in asked)]
        queries = encoder.encode([*samples, *BACKGROUND_QUESTIONS])
        has_vector = np.asarray(queries.any(axis=1))
        # If the corpus has no English words, the usual probe may have no vector.
        probe = int(np.argmax(has_vector[: len(samples)]))
        shapes = [query.shape for query, has in zip(asked, has_vector[1:], strict=False) if has]
        vectors, ours = queries[1:][has_vector[1:]], len(shapes)
        nearest = self._written.nearest(vectors)
        measured = self._written.measure(vectors[:ours], nearest.chunks[:ours], shapes)
        self._dense = DenseManifest(
            **asdict(embedder.contract),
            query=asdict(encoder.figures),
            encoder_sha256=self._write_encoder(encoder),
            candidates=measured.candidates,
            recall_at_20=measured.recall,
            probe_text=samples[probe],
            probe_vector=[round(float(value), 6) for value in queries[probe]],
            background=background_of(nearest.cosines[ours:].max(axis=1, initial=-1.0)),
            spread=self._written.spread if embedder.measures_distance else None,
        )

    def _write_encoder(self, encoder: QueryEncoder) -> str:
        """Write an encoder's files; return the SHA-256 of their names and contents.

        The hash is "" if there are none, because the server calls the model itself.
        """
        folder = self._layout.encoder
        encoder.write(folder)
        if not folder.exists():
            return ""
        paths = sorted(folder.iterdir())
        self._settle(*paths)
        whole = hashlib.sha256()
        for path in paths:
            whole.update(path.name.encode() + b"\0" + bytes.fromhex(self._hashes[path].result()))
        return whole.hexdigest()

    def finish(self, report: object, *, config_sha256: str) -> Manifest:
        """Write everything else, and the manifest last; return the manifest."""
        assert self._lanes is not None and self._described is not None
        layout, lanes, described = self._layout, self._lanes.result(), self._described.result()
        for written in self._synced:
            written.result()
        self._headings.number_by_rank(lanes.ranks)
        layout.report.write_bytes(encode_json(report))
        manifest = Manifest(
            documents=self.document_count,
            chunks=self.chunk_count,
            terms=lanes.terms,
            postings=lanes.postings,
            tokenizer_version=TOKENIZER_VERSION,
            language=self._language,
            k1=K1,
            b=B,
            field_weights=dict(self._options.fields),
            dense=asdict(self._dense) if self._dense else None,
            config_sha256=config_sha256,
            known_items=list(self._known_items(lanes.frequencies)),
            **described,
            files=describe_files(layout.root, self._hashes),
        )
        layout.manifest.write_bytes(manifest.to_bytes())
        return manifest

    def close(self) -> None:
        """Close all files; nothing more can be written."""
        self._close_grown()
        self._threads.shutdown()

    def _close_grown(self) -> None:
        """Close the growing files; no more documents can be added."""
        self._chunks.close()
        self._documents.close()
        if self._vectors is not None:
            self._vectors.close()

    def _read_chunks(self) -> Iterator[ChunkRecord]:
        with self._layout.chunks.open("rb") as file:
            for line in file:
                yield make_record(ChunkRecord, json.loads(line))

    def _read_texts(self) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the headings and texts of all chunks, in batches."""
        chunks = self._read_chunks()
        while batch := list(islice(chunks, EMBEDDING_BATCH)):
            yield ["\n".join(chunk.headings()) for chunk in batch], [chunk.text for chunk in batch]

    def _known_items(self, frequencies: NDArray[np.int64]) -> Iterator[KnownItem]:
        """Yield known-item queries, each with the id of the chunk that it must find."""
        layout = self._layout
        first, offsets = open_stored(layout.document_chunks), open_stored(layout.chunk_offsets)
        with layout.chunks.open("rb") as file:
            for heading, document, chunk in self._headings.known_items(frequencies):
                file.seek(int(offsets[int(first[document]) + chunk]))
                yield KnownItem(heading, json.loads(file.readline())["id"])
