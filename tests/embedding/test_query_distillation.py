import hashlib
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from distillation_corpora import (
    CHINESE,
    DIMENSIONS,
    ENGLISH,
    RUSSIAN,
    as_chunks,
    make_chunk,
    make_corpus,
    teach,
    teach_chunks,
)
from hypothesis import given
from hypothesis import strategies as st
from processes import snapshot

from foundry.embedding.distil.query_distillation import (
    DistillationOptions,
    DistilledQueries,
    distil_queries,
)
from foundry.embedding.embedder import Vectors
from foundry.progress import Progress
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.encoder import EncoderLayout, PieceEncoder

OPTIONS = DistillationOptions(texts=1500)


def distil(chunks: Sequence[ChunkRecord], **changes: int) -> DistilledQueries:
    options = DistillationOptions(**{"texts": 1500, **changes})
    return distil_queries(lambda: iter(chunks), teach, teach_chunks, options)


@pytest.fixture(scope="module")
def english() -> DistilledQueries:
    return distil(make_corpus(ENGLISH))


def cosine(distilled: DistilledQueries, text: str) -> float:
    return float(distilled.encode([text])[0] @ teach([text])[0])


def test_the_encoder_agrees_with_the_model(english: DistilledQueries) -> None:
    assert english.agreement > 0.85
    assert cosine(english, "pressure of the oil pump") > 0.6
    assert english.encode(["pump"]).shape == (1, DIMENSIONS)
    assert not english.encode(["давление масло"]).any()


def test_held_out_texts_are_queries_with_both_vectors(english: DistilledQueries) -> None:
    held_out = english.held_out
    assert len(held_out.texts) >= 50
    assert np.array_equal(held_out.targets, teach(held_out.texts))
    assert np.array_equal(held_out.encoded, english.encode(held_out.texts))
    agreement = float(np.mean(np.sum(held_out.targets * held_out.encoded, axis=1)))
    assert english.agreement == pytest.approx(agreement, abs=1e-6)


def test_the_written_encoder_encodes_as_measured(english: DistilledQueries, tmp_path: Path) -> None:
    english.write(tmp_path / "encoder")
    encoder = PieceEncoder.open(tmp_path / "encoder")
    for text, expected in zip(english.held_out.texts, english.held_out.encoded, strict=True):
        vector = encoder.encode(text)
        assert np.array_equal(np.zeros(DIMENSIONS) if vector is None else vector, expected)


def test_the_model_embeds_no_more_texts_than_the_budget() -> None:
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return teach(texts)

    chunks = make_corpus(ENGLISH)
    options = DistillationOptions(texts=300)
    distilled = distil_queries(lambda: iter(chunks), counting, None, options)
    assert distilled.taught == len(asked) == 300


def test_epochs_are_reported() -> None:
    steps: list[tuple[object, ...]] = []
    passes: list[int] = []

    class Counting(Progress):
        def advance(self, count: int = 1) -> None:
            passes.append(count)

    def step(*asked: object) -> Progress:
        steps.append(asked)
        return Counting()

    chunks = make_corpus(ENGLISH, documents=10)
    distil_queries(lambda: iter(chunks), teach, teach_chunks, OPTIONS, step)
    assert steps == [("Training", "passes", OPTIONS.epochs)]
    assert 1 <= sum(passes) <= OPTIONS.epochs


@pytest.mark.parametrize(
    ("language", "end", "query"),
    [(RUSSIAN, ". ", "давление масло"), (CHINESE, "。", "水泵压力")],
)
def test_other_scripts(language: Sequence[str], end: str, query: str) -> None:
    distilled = distil(make_corpus(language, end=end))
    assert distilled.agreement > 0.6
    assert cosine(distilled, query) > 0.5
    assert not distilled.encode(["oil pressure"]).any()


HARD_QUERIES = [
    "valve",
    "Why does the oil pump lose pressure when the engine is hot?",
    "presure vavle",
    "D40",
    "max_pressure_2",
    "zyxwvut qqq",
    "压力",
    "valve 压力",
    "oil pump " * 1200,
    "x" * 10_000,
    "",
    " \t\n",
    "?!... --",
    "\u0301\u0302",
    "\ud800",
    "\x00",
    "🙂",
    "\U0001d533\U0001d51e\U0001d529\U0001d533\U0001d522",
]


def test_any_query_gives_a_unit_vector_or_none(english: DistilledQueries) -> None:
    for query in HARD_QUERIES:
        check_unit(english, query)


@pytest.mark.slow
@given(query=st.text(max_size=300))
def test_random_queries_too(english: DistilledQueries, query: str) -> None:
    check_unit(english, query)


def check_unit(english: DistilledQueries, query: str) -> None:
    (vector,) = english.encode([query])
    assert vector.shape == (DIMENSIONS,)
    length = float(np.linalg.norm(vector))
    assert length == 0 or length == pytest.approx(1, abs=1e-5), query


def test_a_typo_stays_near(english: DistilledQueries) -> None:
    right, wrong, other = english.encode(["thermostat", "thermostt", "clutch"])
    assert float(right @ wrong) > float(right @ other)


def failing(texts: Sequence[str]) -> Vectors:
    vectors = teach(texts)
    vectors[::3] = 0
    return vectors


def test_texts_that_the_model_refuses_are_left_out() -> None:
    chunks = make_corpus(ENGLISH)
    distilled = distil_queries(lambda: iter(chunks), failing, as_chunks(failing), OPTIONS)
    assert distilled.held_out.targets.any(axis=1).all()
    assert distilled.agreement > 0.8


@pytest.mark.parametrize("chunks", [[], [make_chunk(1, "")], [make_chunk(1, "Oil.")]])
def test_tiny_corpora(chunks: list[ChunkRecord], tmp_path: Path) -> None:
    distilled = distil(chunks)
    assert len(distilled.held_out.texts) == 0
    assert distilled.agreement == 0
    distilled.write(tmp_path / "encoder")
    assert PieceEncoder.open(tmp_path / "encoder").description.dimensions == DIMENSIONS


@pytest.mark.slow
def test_a_model_with_many_dimensions() -> None:
    def wide(texts: Sequence[str]) -> Vectors:
        narrow = teach(texts)
        return np.concatenate([narrow] * 48, axis=1) / np.float32(48**0.5)

    chunks = make_corpus(ENGLISH, documents=5)
    options = DistillationOptions(texts=100)
    distilled = distil_queries(lambda: iter(chunks), wide, as_chunks(wide), options)
    assert distilled.encode(["oil"]).shape == (1, 48 * DIMENSIONS)


@pytest.mark.slow
def test_memory_depends_on_the_sample_and_not_on_the_corpus() -> None:
    def chunks() -> Iterator[ChunkRecord]:
        return (
            make_chunk(number, f"{ENGLISH[number % 30]} {number % 997} {'filler' * 600}")
            for number in range(3_000)
        )

    options = DistillationOptions(texts=100, chunks=100, epochs=1)
    tracemalloc.start()
    distil_queries(chunks, teach, teach_chunks, options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The corpus is 10 MB of text; most of the memory is for the built-in table and data derived
    # from it.
    small = [make_chunk(number, f"oil {number}") for number in range(100)]
    tracemalloc.start()
    distil_queries(lambda: iter(small), teach, teach_chunks, options)
    _, least = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < least + 8_000_000


HASHED = """
import sys, tempfile
from pathlib import Path
from distillation_corpora import ENGLISH, CHINESE, make_corpus, teach, teach_chunks
from processes import snapshot
from foundry.embedding.distil.query_distillation import DistillationOptions, distil_queries
chunks = make_corpus([*ENGLISH, *CHINESE])
options = DistillationOptions(texts=200)
distilled = distil_queries(lambda: iter(chunks), teach, teach_chunks, options)
with tempfile.TemporaryDirectory() as folder:
    distilled.write(Path(folder) / "encoder")
    print(snapshot(Path(folder)))
"""
MACHINES = [
    {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F X86_V3 X86_V4",
    },
    {"OPENBLAS_CORETYPE": "Haswell", "PYTHONHASHSEED": "1"},
    {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "2"},
    {"OPENBLAS_NUM_THREADS": "1", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"},
]


@pytest.mark.slow
def test_every_processor_gives_the_same_bytes() -> None:
    root = Path(__file__).parents[2]
    folders = (root, root / "tests", root / "templates" / "server" / "tests")
    found = set()
    for machine in MACHINES:
        environment = {
            **os.environ,
            **machine,
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "PYTHONWARNINGS": "ignore",
        }
        done = subprocess.run(
            [sys.executable, "-c", HASHED],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
        found.add(done.stdout.strip())
    assert len(found) == 1


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    chunks = make_corpus(ENGLISH, documents=10)
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        distil(chunks, seed=seed).write(tmp_path / name)
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")
    assert snapshot(tmp_path / "one") != snapshot(tmp_path / "other")


def test_pieces_are_written_as_utf8_lines(english: DistilledQueries, tmp_path: Path) -> None:
    english.write(tmp_path / "encoder")
    layout = EncoderLayout(tmp_path / "encoder")
    lines = layout.pieces.read_text(encoding="utf-8").split("\n")
    assert len(lines) - 1 == len(np.load(layout.weights))
    digest = hashlib.sha256()
    for path in (layout.pieces, layout.table, layout.weights):
        digest.update(path.read_bytes())
    assert PieceEncoder.open(tmp_path / "encoder").description.sha256 == digest.hexdigest()
