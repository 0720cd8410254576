"""Writes an index: documents and chunks in, a finished folder out.

Equal inputs give equal bytes: nothing here depends on time, place, locale or hash order.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import IndexOptions
from foundry.embedding.embedder import Embedder, Estimate, sum_estimates
from foundry.indexing.background import BACKGROUND_QUESTIONS, measure_background
from foundry.indexing.columns import DocumentColumns
from foundry.indexing.expansion import frequent_words, write_expansion
from foundry.indexing.files import encode_json, hash_files, write_array
from foundry.indexing.overlap import RankingOverlap
from foundry.indexing.postings import K1, B, PostingsBuilder, offsets_of
from foundry.indexing.suggestions import choose_suggestions
from foundry.indexing.terms import MAX_CHUNK_PLACES, document_names, heading_frequencies
from foundry.indexing.vectors import VectorsBuilder, WrittenVectors
from foundry.records import Chunk, Document
from foundry.records.prepared import ChunkVectors, PreparedDocument, unpack
from foundry.runtime.index.arrays import hash_key
from foundry.runtime.index.layout import DenseManifest, IndexLayout, KnownItem, Manifest
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.tokens import VERSION as TOKENIZER_VERSION
from foundry.runtime.retrieval.tokens import Tokenizer, heading_term

KNOWN_ITEMS = 5
MAX_KNOWN_ITEM_LENGTH = 200
SAMPLE_QUERIES = 128
PROBE_TEXT = "How do I find what I am looking for?"
EMBEDDING_BATCH = 1024
"""Chunks handed to the embedder at a time, which it may group and reorder as suits it."""

Item = TypeVar("Item")


class IndexWriter:
    """Takes documents with their chunks, in the order in which they are to stand in the index.

    To be called in this order: `add` for each document, `embed` unless documents bring their
    vectors with them, `write_lanes`, `make_query_encoder`, `finish`. Without vectors from either,
    and without `make_query_encoder`, there is no dense lane.
    """

    def __init__(
        self,
        folder: Path,
        *,
        language: str,
        sources: Sequence[str],
        options: IndexOptions | None = None,
    ) -> None:
        self._layout = IndexLayout(folder)
        self._options = options or IndexOptions()
        self._columns = DocumentColumns(sources, self._options.filterable)
        self._language = language
        self._tokenizer = Tokenizer(language)
        self._postings = PostingsBuilder(folder)
        self._terms = self._posting_count = 0
        self._vectors: VectorsBuilder | None = None
        self._written: WrittenVectors | None = None
        self._dense: DenseManifest | None = None
        self._heading_chunks: dict[str, int] = {}
        self._heading_terms: Counter[str] = Counter()
        self._chunk_keys = array("Q")
        self._document_keys = array("Q")
        self._keyed_documents = array("Q")
        self._chunk_lengths = array("Q")
        self._document_lengths = array("Q")
        self._chunks_file = self._layout.chunks.open("wb")
        self._documents_file = self._layout.documents.open("wb")

    @property
    def chunk_count(self) -> int:
        """Chunks taken so far."""
        return len(self._chunk_lengths)

    @property
    def document_count(self) -> int:
        """Documents taken so far."""
        return len(self._document_lengths)

    def add(self, prepared: PreparedDocument) -> None:
        """Take one document and its chunks; ids must not have been seen before."""
        document = prepared.document
        paths = document_names(document)
        for chunk, headings in zip(prepared.chunks, prepared.terms.headings, strict=True):
            self._chunk_keys.append(hash_key(chunk.id))
            for heading in headings:
                if heading == document.title or heading not in paths:
                    self._heading_chunks.setdefault(heading, self.chunk_count)
            self._write_chunk(document, chunk)
        self._postings.add(prepared.terms)
        self._heading_terms.update(heading_frequencies(prepared.terms))
        if prepared.vectors is not None:
            self._add_vectors(prepared.vectors)
        # In the order that `DocumentRecord.from_json` takes them in.
        line = encode_json(
            {
                "id": document.id,
                "title": document.title,
                "source": document.source,
                "path": document.path,
                "url": document.url,
                "media_type": document.media_type,
                "sha256": document.sha256,
                "bytes": document.bytes,
                "modified": document.modified,
                "tags": document.tags,
                "metadata": dict(sorted(document.metadata.items())),
                "reader": document.reader,
                "also_at": [asdict(place) for place in document.also_at],
            }
        )
        self._columns.add(document, len(prepared.chunks))
        for name in (document.id, *(place.document_id for place in document.also_at)):
            self._document_keys.append(hash_key(name))
            self._keyed_documents.append(self.document_count)
        self._documents_file.write(line)
        self._document_lengths.append(len(line))

    def _add_vectors(self, vectors: ChunkVectors) -> None:
        if self._vectors is None:
            self._vectors = VectorsBuilder(self._layout, vectors.dimensions)
        rows = unpack(vectors.rows, np.int8).reshape(-1, vectors.dimensions)
        self._vectors.add_rows(rows, unpack(vectors.scales, np.float32))

    def estimate(self, embedder: Embedder) -> Estimate | None:
        """Return what `embed` would ask of a model; None where none is asked."""
        self.close()
        estimates = [
            estimate
            for headings, texts in self._read_texts()
            if (estimate := embedder.estimate(headings, texts)) is not None
        ]
        return sum_estimates(estimates) if estimates else None

    def embed(self, embedder: Embedder, progress: Callable[[int], object] = int) -> None:
        """Embed all chunks, when all have been added; `progress` is told how many more are done."""
        self.close()
        for headings, texts in self._read_texts():
            vectors = embedder.embed_documents(headings, texts, progress)
            if self._vectors is None:
                self._vectors = VectorsBuilder(self._layout, vectors.shape[1])
            self._vectors.add(vectors)

    def write_lanes(self) -> None:
        """Write what both lanes read, when all chunks have been embedded that are to be."""
        self.close()
        self._terms, self._posting_count = self._postings.write(self._layout)
        if self._vectors is not None:
            self._written = self._vectors.write()

    def make_query_encoder(self, embedder: Embedder) -> None:
        """Have the encoder made that is to embed queries, when the lanes have been written."""
        assert self._written is not None
        overlap = RankingOverlap(
            self._layout,
            self._tokenizer,
            self._terms,
            self._posting_count,
            self._written.shape,
        )
        encoder = embedder.make_query_encoder(self._read_chunks, overlap)
        if self._options.expansion_words:
            texts = (chunk.text for chunk in self._read_chunks())
            words = frequent_words(texts, self._tokenizer, self._options.expansion_words)
            write_expansion(self._layout, words, encoder.encode)
        samples = [PROBE_TEXT, *_spread(list(self._heading_chunks))]
        queries, background = np.split(
            encoder.encode([*samples, *BACKGROUND_QUESTIONS]), [len(samples)]
        )
        # Without English words in the corpus, the usual probe may have no vector.
        probe = int(np.argmax(queries.any(axis=1)))
        measured = self._written.measure(queries[1:][queries[1:].any(axis=1)])
        contract = embedder.contract
        self._dense = DenseManifest(
            provider=contract.provider,
            model=contract.model,
            revision=contract.revision,
            dimensions=contract.dimensions,
            document_prefix=contract.document_prefix,
            query_prefix=contract.query_prefix,
            query=encoder.figures,
            encoder_sha256=encoder.write(self._layout.encoder),
            candidates=measured.candidates,
            recall_at_20=measured.recall,
            probe_text=samples[probe],
            probe_vector=[round(float(value), 6) for value in queries[probe]],
            background=measure_background(self._written, background),
        )

    def finish(self, report: object, *, config_sha256: str) -> Manifest:
        """Write everything else; returns the manifest, written last."""
        layout = self._layout
        write_array(layout.chunk_offsets, offsets_of(self._chunk_lengths))
        write_array(layout.document_offsets, offsets_of(self._document_lengths))
        write_array(layout.chunk_ids, _key_table(self._chunk_keys, range(self.chunk_count)))
        write_array(layout.document_ids, _key_table(self._document_keys, self._keyed_documents))
        described = self._columns.write(layout)
        layout.report.write_bytes(encode_json(report))
        manifest = Manifest(
            documents=self.document_count,
            chunks=self.chunk_count,
            terms=self._terms,
            postings=self._posting_count,
            tokenizer_version=TOKENIZER_VERSION,
            language=self._language,
            k1=K1,
            b=B,
            field_weights=dict(self._options.fields),
            dense=self._dense,
            config_sha256=config_sha256,
            known_items=self._known_items(),
            **described,
            files=hash_files(layout.root),
        )
        layout.manifest.write_bytes(manifest.to_bytes())
        return manifest

    def close(self) -> None:
        """Close the files that grow; no more documents can be added."""
        self._chunks_file.close()
        self._documents_file.close()
        if self._vectors is not None:
            self._vectors.close()

    def _write_chunk(self, document: Document, chunk: Chunk) -> None:
        # In the order of the fields of `ChunkRecord`: readers take them by place.
        line = encode_json(
            {
                "id": chunk.id,
                "document_id": document.id,
                "title": document.title,
                "text": chunk.text,
                "section": chunk.heading_path,
                "position": chunk.position(),
                "source": document.source,
                "path": document.path,
                "url": document.url,
                "tags": document.tags,
                "modified": document.modified,
                "also_at": [asdict(place) for place in document.also_at[:MAX_CHUNK_PLACES]],
            }
        )
        self._chunks_file.write(line)
        self._chunk_lengths.append(len(line))

    def _read_chunks(self) -> Iterator[ChunkRecord]:
        with self._layout.chunks.open("rb") as file:
            for line in file:
                yield ChunkRecord.from_json(json.loads(line))

    def _read_texts(self) -> Iterator[tuple[list[str], list[str]]]:
        """Headings and texts of all chunks, some at a time."""
        chunks = self._read_chunks()
        while batch := list(islice(chunks, EMBEDDING_BATCH)):
            yield ["\n".join(chunk.headings()) for chunk in batch], [chunk.text for chunk in batch]

    def _known_items(self) -> list[KnownItem]:
        """Queries whose first answer is beyond doubt: headings that one chunk alone bears."""
        found = []
        for heading in self._heading_chunks:
            term = heading_term(self._tokenizer.tokenize(heading))
            if self._heading_terms.get(term or "") == 1 and len(heading) <= MAX_KNOWN_ITEM_LENGTH:
                found.append(heading)
        offsets = offsets_of(self._chunk_lengths)
        items = []
        with self._layout.chunks.open("rb") as file:
            for heading in _spread(choose_suggestions(found), KNOWN_ITEMS):
                file.seek(int(offsets[self._heading_chunks[heading]]))
                items.append(KnownItem(heading, json.loads(file.readline())["id"]))
        return items


def _spread(values: Sequence[Item], count: int = SAMPLE_QUERIES) -> Sequence[Item]:
    """At most `count` of `values`, evenly spread."""
    step = max(1, len(values) // count)
    return values[::step][:count]


def _key_table(keys: "array[int]", numbers: Sequence[int]) -> NDArray[np.uint64]:
    """Sorted keys (n,) and their numbers, in the order given where keys are equal."""
    unsorted = np.array(keys, dtype=np.uint64)
    order = np.argsort(unsorted, kind="stable")
    return np.stack([unsorted[order], np.array(numbers, dtype=np.uint64)[order]])
