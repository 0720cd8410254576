"""Postings from sorted runs, copied postings, growing arrays and blocks of vectors.

Each equals what is computed or written at once.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import snapshot

from foundry.documents.prepared import ChunkTerms
from foundry.indexing.carried.carried import Carried, carrying
from foundry.indexing.carried.numbers import DocumentNumber, PreviousDocument, Span
from foundry.indexing.dense import vectors
from foundry.indexing.files import ArrayFile, offsets_of, write_array
from foundry.indexing.keyword import postings, runs
from foundry.indexing.keyword.terms import NAMED, make_chunk_terms
from foundry.runtime.index.heading_terms import HEADING_MARK, SURFACE_MARK
from foundry.runtime.index.layout import IndexLayout, Manifest
from foundry.runtime.retrieval.dense_lane import pack_signs
from foundry.runtime.retrieval.quantising import quantise

words = st.text(st.sampled_from("abé\U0001f600"), min_size=1, max_size=2)
documents = st.lists(
    st.lists(st.dictionaries(words, st.integers(1, 9), max_size=5), min_size=1, max_size=3),
    min_size=1,
    max_size=8,
)


@settings(max_examples=20, deadline=None)
@given(documents=documents, size=st.integers(1, 12))
def test_runs_are_merged_by_term_and_chunk(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[dict[str, int]]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    layout = IndexLayout(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "RUN_POSTINGS", size)
        patch.setattr(postings, "RUN_POSTINGS", size)
        builder = postings.PostingsBuilder(folder, Carried())
        for chunks in documents:
            terms = [[*Counter(chunk).elements()] for chunk in chunks]
            builder.add([make_chunk_terms(terms, [{}] * len(chunks))])
        is_written = (folder / "postings.runs").exists()
        counted = builder.write(layout).counts

    expected: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
    every = [chunk for chunks in documents for chunk in chunks]
    # Between two documents, at most one run is held in memory.
    assert is_written == (sum(map(len, every)) >= size)
    for number, chunk in enumerate(every):
        for term, count in chunk.items():
            expected[term.encode()].append((number, count))
    vocabulary = sorted(expected)
    assert counted == (len(vocabulary), sum(map(len, every)))
    assert layout.terms.read_bytes() == b"".join(vocabulary)
    offsets = np.load(layout.posting_offsets)
    found = np.load(layout.posting_chunks)
    impacts = np.load(layout.posting_impacts)
    lengths = [sum(chunk.values()) for chunk in every]
    average = max(1.0, sum(lengths) / len(every))
    for place, term in enumerate(vocabulary):
        part = slice(int(offsets[place]), int(offsets[place + 1]))
        assert found[part].tolist() == [number for number, _ in expected[term]]
        assert impacts[part] == pytest.approx(
            [
                _impact(len(every), len(expected[term]), count, lengths[number] / average)
                for number, count in expected[term]
            ]
        )
    names = {path.name for path in folder.iterdir()}
    assert names == {path.name for path in _posting_files(layout)}


def _impact(chunks: int, having: int, count: int, length: float) -> float:
    return _idf(chunks, having) * count / (count + 1.5 * (1 - 0.75 + 0.75 * length))


def _idf(chunks: int, having: int) -> float:
    return math.log(1 + (chunks - having + 0.5) / (having + 0.5))


def _posting_files(layout: IndexLayout) -> list[Path]:
    return [
        layout.terms,
        layout.term_offsets,
        layout.posting_offsets,
        layout.posting_chunks,
        layout.posting_impacts,
    ]


headings = st.dictionaries(
    st.lists(words, min_size=1, max_size=2).map(lambda parts: HEADING_MARK + " ".join(parts))
    | words.map(lambda word: SURFACE_MARK + word),
    st.integers(1, 3 * NAMED),
    max_size=2,
)
described = st.lists(
    st.tuples(st.dictionaries(words, st.integers(1, 9), max_size=4), headings),
    min_size=1,
    max_size=3,
)


@settings(max_examples=20, deadline=None)
@given(chunks=described)
def test_a_heading_weighs_as_much_as_its_terms(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[dict[str, int], dict[str, int]]]
) -> None:
    layout = IndexLayout(tmp_path_factory.mktemp("headings"))
    builder = postings.PostingsBuilder(layout.root, Carried())
    builder.add([_terms_of(chunks)])
    builder.write(layout)
    having = Counter(term for counts, names in chunks for term in {**counts, **names})
    idf = {term: _idf(len(chunks), count) for term, count in having.items()}
    offsets = np.load(layout.posting_offsets).tolist()
    impacts = np.load(layout.posting_impacts).tolist()
    for place, term in enumerate(sorted(having, key=str.encode)):
        if term.startswith(HEADING_MARK):
            own = [names[term] for _, names in chunks if term in names]
            is_spelling = term.startswith(SURFACE_MARK)
            parts = [term] if is_spelling else term.removeprefix(HEADING_MARK).split(" ")
            whole = sum(idf.get(part, idf[term]) for part in parts)
            assert impacts[offsets[place] : offsets[place + 1]] == pytest.approx(
                [count / NAMED * whole for count in own]
            )


@settings(max_examples=20, deadline=None)
@given(
    rounds=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.none() | described), max_size=6),
        min_size=2,
        max_size=4,
    ),
    size=st.integers(1, 12),
)
def test_copied_postings_equal_newly_written_ones(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[int, Any]]], size: int
) -> None:
    """In each round, some documents are removed and others inserted."""
    folder = tmp_path_factory.mktemp("carried")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "RUN_POSTINGS", size)
        patch.setattr(postings, "RUN_POSTINGS", size)
        before: list[ChunkTerms] = []
        index = None
        for number, edits in enumerate(rounds):
            places: list[int | ChunkTerms] = []
            left = iter(range(len(before)))
            for kept, chunks in edits:
                places += islice(left, kept)
                if chunks is None:
                    next(left, None)
                else:
                    places.append(_terms_of(chunks))
            places += left
            before = [before[each] if isinstance(each, int) else each for each in places]
            anew, copied = folder / f"anew{number}", folder / f"copied{number}"
            _write(anew, folder / "left-anew", None, before, before)
            _write(copied, folder / "left", index, places, before)
            index = copied
            assert snapshot(copied) == snapshot(anew)
            assert snapshot(folder / "left") == snapshot(folder / "left-anew")


def _terms_of(chunks: list[tuple[dict[str, int], dict[str, int]]]) -> ChunkTerms:
    return make_chunk_terms(
        [[*Counter(counts).elements()] for counts, _ in chunks], [names for _, names in chunks]
    )


def _write(
    folder: Path,
    left: Path,
    before: Path | None,
    documents: Sequence[int | ChunkTerms],
    terms: Sequence[ChunkTerms],
) -> None:
    """Write the postings of documents with these terms; numbers are those in the previous index."""
    folder.mkdir()
    layout = IndexLayout(folder)
    ends = offsets_of([len(each.lengths) // 4 for each in terms])
    write_array(layout.document_chunks, ends)
    with carrying(left, "state", before) as carried:
        builder = postings.PostingsBuilder(folder, carried)
        for number, each in enumerate(documents):
            if isinstance(each, int):
                span = Span(PreviousDocument(each), PreviousDocument(each + 1))
                carried.copy(span, DocumentNumber(number), int(ends[number]))
            else:
                builder.add([each])
        counts = (len(terms), int(ends[-1]), *builder.write(layout).counts)
        manifest = Manifest(*counts, 1, "none", 1.0, 0.0, {}, None, [], [], [], "", [])
        layout.manifest.write_bytes(manifest.to_bytes())
        carried.finish(left, "state", manifest.version)


@settings(max_examples=20, deadline=None)
@given(
    parts=st.lists(st.integers(0, 5), max_size=6),
    width=st.none() | st.integers(1, 4),
    rows=st.integers(1, 7),
)
def test_a_growing_array_equals_one_written_at_once(
    tmp_path_factory: pytest.TempPathFactory, parts: list[int], width: int | None, rows: int
) -> None:
    folder = tmp_path_factory.mktemp("arrays")
    shape = () if width is None else (width,)
    whole = np.arange(sum(parts) * (width or 1), dtype=np.int32).reshape(-1, *shape)
    write_array(folder / "whole.npy", whole)
    growing = ArrayFile(folder / "growing.npy", np.int32, width)
    for part in np.split(whole, np.cumsum(parts)[:-1] if parts else []):
        growing.append(part)
    growing.close()
    assert (folder / "growing.npy").read_bytes() == (folder / "whole.npy").read_bytes()
    blocks = [growing.read(first, rows) for first in range(0, len(whole), rows)]
    assert all(len(block) <= rows for block in blocks)
    assert np.array_equal(np.concatenate([whole[:0], *blocks]), whole)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 60), block=st.integers(1, 25))
def test_vectors_do_not_depend_on_block_size(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, block: int
) -> None:
    chooser = np.random.default_rng(seed)
    embeddings = chooser.standard_normal((count, 70)).astype(np.float32)
    layout = IndexLayout(tmp_path_factory.mktemp("vectors"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "BLOCK", block)
        builder = vectors.VectorsBuilder(layout, 70)
        for part in np.array_split(embeddings, 3):
            builder.add(part)
        written = builder.write()
        nearest = written.nearest(embeddings[:5])
        measured = written.measure(
            embeddings[:5], nearest.chunks, ["heading"] * len(embeddings[:5])
        )
    rows, scales = quantise(embeddings)
    floats = rows.astype(np.float32) * scales[:, np.newaxis]
    centre = np.load(layout.vector_centre)
    assert written.shape == (count, 70)
    assert np.array_equal(np.load(layout.vectors), rows)
    assert np.array_equal(np.load(layout.vector_scales), scales)
    assert centre == pytest.approx(floats.mean(axis=0), abs=1e-6)
    assert np.array_equal(np.load(layout.sketch), pack_signs(floats, centre))
    # A single block gives the same result.
    nearest = written.nearest(embeddings[:5])
    assert measured == written.measure(
        embeddings[:5], nearest.chunks, ["heading"] * len(embeddings[:5])
    )
