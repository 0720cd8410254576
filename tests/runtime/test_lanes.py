"""The lanes, compared with independent implementations and with numbers computed by hand."""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from systems import needs_glibc

from foundry.indexing.carried.carried import Carried
from foundry.indexing.dense import vectors as builder_of_vectors
from foundry.indexing.dense.vectors import VectorsBuilder
from foundry.indexing.keyword.postings import K1, B, PostingsBuilder
from foundry.indexing.keyword.terms import make_chunk_terms
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval import dense_lane
from foundry.runtime.retrieval.candidates import best
from foundry.runtime.retrieval.dense_lane import DenseLane, pack_signs
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.quantising import quantise


def build_keyword_lane(folder: Path, chunks: list[list[str]]) -> KeywordLane:
    builder = PostingsBuilder(folder, Carried())
    builder.add([make_chunk_terms(chunks, [{}] * len(chunks))])
    layout = IndexLayout(folder)
    written = builder.write(layout)
    return KeywordLane.map(layout, len(chunks), written.terms, written.postings)


def test_bm25_by_hand(tmp_path: Path) -> None:
    lane = build_keyword_lane(tmp_path, [["a", "b"], ["a", "a", "c", "c"], ["c"]])
    # df(a) = 2 of 3 chunks, average length 7 / 3.
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = {
        number: idf * frequency / (frequency + 1.5 * (1 - 0.75 + 0.75 * length / (7 / 3)))
        for number, frequency, length in ((0, 1, 2), (1, 2, 4))
    }
    hits = lane.search(["a"], 10)
    assert dict(zip(hits.chunks.tolist(), hits.scores, strict=True)) == pytest.approx(
        expected, rel=1e-6
    )
    assert hits.chunks.tolist() == sorted(expected, key=lambda number: -expected[number])


words = st.sampled_from([f"w{number}" for number in range(12)])


@settings(max_examples=30, deadline=None)
@given(
    chunks=st.lists(st.lists(words, min_size=1, max_size=12), min_size=2, max_size=25),
    query=st.lists(words, min_size=1, max_size=5),
    # Sums of few postings among many chunks use a sparse representation.
    others=st.sampled_from([0, 1_000]),
)
def test_bm25_equals_bm25s(
    tmp_path_factory: pytest.TempPathFactory,
    chunks: list[list[str]],
    query: list[str],
    others: int,
) -> None:
    chunks = [*chunks, *[["other"]] * others]
    lane = build_keyword_lane(tmp_path_factory.mktemp("lane"), chunks)
    oracle = bm25s.BM25(method="lucene", k1=K1, b=B)
    oracle.index(chunks, show_progress=False)
    expected = oracle.get_scores(query)
    everything = np.arange(len(chunks))
    assert lane.scores(query, everything) == pytest.approx(expected, rel=1e-5, abs=1e-6)

    hits = lane.search(query, 5)
    if len(hits):
        assert hits.score_of is not None
        assert hits.score_of(everything).tolist() == lane.scores(query, everything).tolist()
    found = expected[hits.chunks]
    assert hits.scores == pytest.approx(found, rel=1e-5)
    assert len(hits) == min(5, int((expected > 0).sum()))
    assert set(hits.chunks) == set(
        sorted(np.flatnonzero(expected > 0), key=lambda n: (-round(float(expected[n]), 5), n))[:5]
    ) or np.sort(found) == pytest.approx(np.sort(expected)[::-1][: len(hits)][::-1], rel=1e-5)


@pytest.mark.parametrize("among", [1, 2])
@pytest.mark.parametrize(("frequent_impact", "is_left_out"), [(2.0, True), (6.0, False)])
def test_frequent_terms_are_skipped_if_they_cannot_change_the_best(
    frequent_impact: float, is_left_out: bool, among: int
) -> None:
    chooser, chunk_count = np.random.default_rng(5), 60_000
    sizes = {"the": 50_000, "of": 30_000, "pump": 900, "seal": 700, "valve": 300}
    chunks = [np.sort(chooser.choice(chunk_count, size, replace=False)) for size in sizes.values()]
    most = [frequent_impact if size > 1_000 else 4 for size in sizes.values()]
    impacts = [chooser.random(len(own)) * limit for own, limit in zip(chunks, most, strict=True)]
    ends = np.cumsum([*sizes.values()]).tolist()
    places = dict(zip(sizes, zip([0, *ends], ends, strict=False), strict=True))
    lane = KeywordLane(
        lambda term: places[term],
        np.concatenate(chunks).astype(np.uint32),
        np.concatenate(impacts).astype(np.float32),
        chunk_count,
    )
    query = [*sizes, "seal"]
    everything = np.arange(0, chunk_count, among)
    expected = best(everything, lane.scores(query, everything), 100)
    hits = lane.search(query, 100, np.arange(chunk_count) % among == 0)
    assert (hits.score_of is None) is is_left_out
    assert hits.chunks.tolist() == expected.chunks.tolist()
    assert hits.scores.tolist() == expected.scores.tolist()


COUNT_PAGES = """
import resource, sys
from pathlib import Path
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.keyword_lane import KeywordLane

folder, *counts = sys.argv[1:]
lane = KeywordLane.map(IndexLayout(Path(folder)), *map(int, counts))
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    lane.search(["a"], 10)
before = faults()
for _ in range(20):
    lane.search(["a"], 10)
print((faults() - before) / 20)
"""


@needs_glibc
def test_searches_cause_few_page_faults(tmp_path: Path) -> None:
    chunks = 20_000
    build_keyword_lane(tmp_path, [["a"]] * chunks)
    # The search runs in a separate process: earlier allocations affect how much memory is retained.
    command = [sys.executable, "-c", COUNT_PAGES, *map(str, (tmp_path, chunks, 1, chunks))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    # A fault is counted per page of memory; without reuse, the arrays of a search cause 340.
    assert float(done.stdout) < 30


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(0, 3000),
    values=st.sampled_from([1, 2, 50, 10**9]),
    count=st.integers(1, 400),
)
def test_the_best_of_many_equal_those_of_sorting(
    seed: int, size: int, values: int, count: int
) -> None:
    chooser = np.random.default_rng(seed)
    scores = chooser.integers(0, values, size) / values
    chunks = chooser.permutation(size)
    hits = best(chunks, scores[chunks], count)
    expected = sorted(range(size), key=lambda number: (-scores[number], number))[:count]
    assert hits.chunks.tolist() == expected
    assert hits.scores.tolist() == scores[expected].tolist()


@settings(max_examples=20, deadline=None)
@given(
    chunks=st.lists(st.lists(words, min_size=1, max_size=12), min_size=2, max_size=25),
    queries=st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=4),
)
def test_keyword_scores_are_sums_over_terms_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[list[str]], queries: list[list[str]]
) -> None:
    lane = build_keyword_lane(tmp_path_factory.mktemp("lane"), chunks)
    everything = np.arange(len(chunks))
    for query in queries:
        alone = {word: lane.scores([word], everything) for word in query}
        expected = sum(
            (alone[word] * times for word, times in sorted(Counter(query).items())),
            np.zeros(len(chunks)),
        )
        hits = lane.search(query, 5)
        assert hits.scores.tolist() == expected[hits.chunks].tolist()
        assert lane.scores(query, everything).tolist() == expected.tolist()


def unit_rows(seed: int, count: int, dimensions: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def build_dense_lane(vectors: NDArray[np.float32], candidates: int) -> DenseLane:
    rows, scales = quantise(vectors)
    centre = vectors.mean(axis=0)
    return DenseLane(rows, scales, centre, pack_signs(vectors, centre), candidates)


@pytest.mark.parametrize("dimensions", [3, 64, 256, 1100])
def test_quantised_cosines_are_close_to_exact_ones(dimensions: int) -> None:
    vectors = unit_rows(1, 50, dimensions)
    query = unit_rows(2, 1, dimensions)[0]
    lane = build_dense_lane(vectors, 10)
    assert lane.scores(query, np.arange(50)) == pytest.approx(vectors @ query, abs=0.02)
    assert lane.scores(vectors[7], np.array([7]))[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("size", [512, 10])
def test_the_sketch_finds_what_a_full_scan_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    for module in (dense_lane, builder_of_vectors):
        monkeypatch.setattr(module, "HALVED_SIZE", size)
        monkeypatch.setattr(module, "PASSING", 2)
    centres = unit_rows(3, 40, 128)
    vectors = centres[np.arange(6000) % 40] + 0.05 * np.random.default_rng(4).normal(
        size=(6000, 128)
    ).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = (centres + 0.02 * unit_rows(5, 40, 128)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    builder = VectorsBuilder(IndexLayout(tmp_path), 128)
    builder.add(vectors)
    written = builder.write()
    measured = written.measure(queries, written.nearest(queries).chunks, ["heading"] * len(queries))
    assert measured.recall["heading"] >= 0.99
    assert measured.candidates < 3000
    assert (len(vectors) > size * measured.candidates) == (size == 10)

    rows, scales = quantise(vectors)
    lane = DenseLane(rows, scales, written.centre, written.sketch, measured.candidates)
    exact = DenseLane(rows, scales, written.centre, written.sketch, len(rows))
    overlaps = [
        len(
            set(lane.search(query, 20).chunks.tolist())
            & set(exact.search(query, 20).chunks.tolist())
        )
        / 20
        for query in queries
    ]
    assert np.mean(overlaps) >= 0.99


def test_farthest_vectors_are_found_if_there_are_no_others() -> None:
    vectors = -np.ones((2100, 64), dtype=np.float32) / 8
    rows, scales = quantise(vectors)
    centre = np.zeros(64, dtype=np.float32)
    lane = DenseLane(rows, scales, centre, pack_signs(vectors, centre), 10)
    hits = lane.search(-vectors[0], 5)
    assert hits.chunks.tolist() == [0, 1, 2, 3, 4]
    assert hits.scores == pytest.approx([-1.0] * 5)


@pytest.mark.parametrize("depth", [1, 10, 400, 1200, 5000, 6000])
@pytest.mark.parametrize("kind", ["random", "equal", "few and sampled", "few and not sampled"])
def test_the_smallest_distances_equal_those_of_sorting(kind: str, depth: int) -> None:
    distances = np.random.default_rng(depth).binomial(256, 0.5, 5000).clip(0, 255).astype(np.uint8)
    if kind == "equal":
        distances[:] = 7
    elif kind != "random":
        distances[(kind == "few and not sampled") :: dense_lane.SAMPLE_STEP] = 3
    limit = np.sort(distances)[min(depth, len(distances)) - 1]
    found = dense_lane.least(distances, depth)
    assert found.tolist() == np.flatnonzero(distances <= limit).tolist()
