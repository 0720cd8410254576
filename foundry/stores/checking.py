"""Compares an engine's results with the index's before a version becomes current."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.errors import PublishError
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.filters import FilterColumns, Filters
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.store.records import RecordEngine
from foundry.runtime.store.restriction import Restriction, restrict
from foundry.runtime.store.store import Edition, Engine
from foundry.stores.content import Content
from foundry.stores.options import UNCHANGED
from foundry.stores.records import Records

QUESTIONS = 20
"""Number of searches compared in each lane; every second one has a filter."""

DEPTH = 100
TOLERANCE = 1e-5
"""Maximum allowed difference between two scores of the same chunk."""

SEED = 7
MOST_VALUES = 1000
"""Filters on columns with more values are not compared."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well an engine's results agree with the results of the index.

    `recall` is the share of the nearest 100 chunks that the engine finds, over all questions; it is
    1 for an exact search. `difference` is the largest difference between two scores of the same
    chunk.
    """

    recall: float
    difference: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of publishing.

    `loaded` is False if the engine had the version already; `dropped` are versions that were
    deleted.
    """

    loaded: bool
    agreement: Agreement
    dropped: tuple[str, ...]


def compare_lanes(
    content: Content,
    engine: Engine,
    *,
    exact: bool,
    most: int | None = None,
    near: NDArray[np.int64] | None = None,
) -> Agreement:
    """Search the engine and the index with the same queries, at most `most` in each lane.

    If given, `near` are the chunks around which vectors are drawn. Raises PublishError if scores
    differ, if a filter is ignored, or if a keyword search or an exact search misses a chunk.
    """
    found = wanted = 0
    largest = 0.0
    edition = content.edition
    count = QUESTIONS if most is None else min(most, QUESTIONS)
    for vector, only in _vectors(content, count, near):
        allowed = None if only is None else only.allowed
        query = quantise_one(vector)
        nearest = content.dense_lane.search(vector, DEPTH, allowed)
        hits = engine.search_vector(edition, query, DEPTH, only)
        _check_allowed(hits, allowed)
        exactly = content.dense_lane.scores(vector, hits.chunks)
        again = engine.score_vector(edition, query, np.sort(hits.chunks))
        in_order = exactly[np.argsort(hits.chunks)]
        largest = max(largest, _difference(hits.scores, exactly), _difference(again, in_order))
        least = float(nearest.scores[-1]) - 1e-6 if len(nearest) else 0.0
        found += min(int(np.sum(exactly >= least)), len(nearest))
        wanted += len(nearest)
    for terms, only in _terms(content, count):
        allowed = None if only is None else only.allowed
        numbers = map(content.vocabulary.find, terms)
        asked = [(number, 1) for number in numbers if number is not None]
        best = content.keyword_lane.search(terms, DEPTH, allowed)
        hits = engine.search_terms(edition, asked, DEPTH, only)
        _check_allowed(hits, allowed)
        if len(hits) != len(best):
            raise _disagreement(f"{len(hits)} chunks for {terms}, but {len(best)} in the index")
        exactly = content.keyword_lane.scores(terms, np.sort(hits.chunks))
        again = engine.score_terms(edition, asked, np.sort(hits.chunks))
        largest = max(largest, _difference(hits.scores, best.scores), _difference(again, exactly))
    if largest > TOLERANCE:
        raise _disagreement(f"scores differ by up to {largest:.2g}")
    recall = found / wanted if wanted else 1.0
    if exact and recall < 1:
        raise _disagreement(f"an exact search finds {recall:.2%} of the nearest chunks")
    return Agreement(recall, largest)


def compare_records(
    records: Records, engine: RecordEngine, edition: Edition, near: NDArray[np.int64]
) -> None:
    """Compare the records of some random chunks, and of some of the chunks `near` (m,).

    Records of the chunks' documents are compared too. Raises PublishError if a record differs.
    """
    random = np.random.default_rng(SEED)
    count = len(records.ends) - 1
    some = [random.choice(each, QUESTIONS) for each in (np.arange(count), near) if len(each)]
    chunks = np.unique(np.concatenate([*some, np.zeros(0, dtype=np.int64)]))
    begun = records.firsts[np.unique(records.firsts.searchsorted(chunks, "right") - 1)]
    for asked, of_documents in ((chunks, False), (begun, True)):
        read = records.document if of_documents else records.chunk
        lines = engine.read_records(edition, asked, of_documents=of_documents)
        if lines != [*map(read, asked.tolist())]:
            raise _disagreement("its records differ")


def _vectors(
    content: Content, count: int, near: NDArray[np.int64] | None
) -> Iterator[tuple[NDArray[np.float32], Restriction | None]]:
    """Yield vectors halfway between those of two chunks, each with a filter or None."""
    random = np.random.default_rng(SEED)
    present = np.flatnonzero(content.scales > 0)
    preferred = present if near is None else np.intersect1d(near, present, assume_unique=True)
    for question in range(count if len(present) else 0):
        one = random.choice(preferred if len(preferred) else present)
        mixed = sum(
            content.vectors[number].astype(np.float32) * content.scales[number]
            for number in (one, random.choice(present))
        )
        length = float(np.linalg.norm(mixed))
        if length > 0:
            yield (mixed / length).astype(np.float32), _filter(content, random, question)


def _terms(content: Content, count: int) -> Iterator[tuple[list[str], Restriction | None]]:
    """Yield up to three terms at a time, drawn by their frequency, with a filter or None."""
    random = np.random.default_rng(SEED)
    shares = np.diff(content.offsets).astype(np.float64)
    for question in range(count if len(shares) else 0):
        size = min(3, len(shares))
        chosen = random.choice(len(shares), size, replace=False, p=shares / shares.sum())
        terms = [content.vocabulary[int(number)].decode("utf-8", "replace") for number in chosen]
        yield terms, _filter(content, random, question)


def _filter(content: Content, random: np.random.Generator, question: int) -> Restriction | None:
    """Return a filter for every second question, else None; kinds of filters take turns."""
    if question % 2 == 0:
        return None
    filters = random_filters(content, random, question // 2)
    return restrict(content.index.part(FilterColumns.open).select(filters), filters)


def random_filters(content: Content, random: np.random.Generator, kind: int) -> Filters:
    """Return a filter; the number `kind` selects the field.

    The values of source, path (its beginning), tag and date are those of a random chunk; of other
    columns, the first known value is used.
    """
    chunk = content.index.chunk(int(random.integers(len(content.scales))))
    found: list[tuple[str, str]] = [("source", chunk.source)]
    found.append(("path", chunk.path[: int(random.integers(1, len(chunk.path) + 1))]))
    found += [("tags", tag) for tag in chunk.tags[:1]]
    if chunk.modified:
        found += [("modified_after", chunk.modified), ("modified_before", chunk.modified)]
    columns = content.index.part(FilterColumns.open)
    for name in ("media_type", *columns.columns):
        found += [(name, value) for value in columns.known_values(name, MOST_VALUES)[:1]]
    name, value = found[kind % len(found)]
    return {name: value}


def _check_allowed(hits: LaneHits, allowed: NDArray[np.bool_] | None) -> None:
    if allowed is not None and not allowed[hits.chunks].all():
        raise _disagreement("an excluded chunk was found")


def _difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0))


def _disagreement(said: str) -> PublishError:
    return PublishError(
        f"the engine's results differ from the index: {said}; {UNCHANGED}",
        hint="publish again; if that fails too, check the version of the engine",
    )
