"""Compares an engine's results with those of the index of a version."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.store.restriction import Restriction, restrict
from foundry.runtime.store.store import Engine
from foundry.stores.checking import TOLERANCE, random_filters
from foundry.stores.content import Content

DEPTH = 100
"""Number of chunks per search."""

QUESTIONS = 40
"""Number of searches that are compared."""


class DifferError(Exception):
    """An engine does not behave as expected."""


def compare(engine: Engine, content: Content, *, are_filtered: bool, exact: bool = True) -> str:
    """Search both lanes in the engine and in the index; returns a summary of the differences.

    Raises DifferError. Unless the engine is `exact`, it may find other near chunks, but their
    scores must be right.
    """
    choice = np.random.default_rng(7)
    largest = 0.0
    for number in range(QUESTIONS):
        only = _restriction(content, choice, number) if are_filtered else None
        largest = max(largest, *_differences(engine, content, only, choice, exact=exact))
    if largest > TOLERANCE:
        raise DifferError(f"scores differ by {largest:.1e}")
    return f"{QUESTIONS} searches of both lanes, scores within {largest:.1e}"


def _restriction(content: Content, choice: np.random.Generator, number: int) -> Restriction | None:
    """Return a filter of each kind in turn; every fourth restricts chunks as operators do."""
    filters = random_filters(content, choice, number)
    allowed = content.index.part(FilterColumns.open).select(filters)
    if allowed is None or number % 4:
        return restrict(allowed, filters)
    share = choice.random(len(content.scales)) < (0.8 if number % 8 else 0.2)
    return restrict(allowed & share, filters, is_picked=True)


def _differences(
    engine: Engine,
    content: Content,
    only: Restriction | None,
    choice: np.random.Generator,
    *,
    exact: bool,
) -> Iterator[float]:
    """Yield the differences of scores in one search of both lanes."""
    allowed = None if only is None else only.allowed
    chunk = int(choice.integers(len(content.scales)))
    unit = content.vectors[chunk] * content.scales[chunk]
    numbers = sorted(set(choice.integers(len(content.offsets) - 1, size=2).tolist()))
    words = [content.vocabulary[number].decode() for number in numbers]
    terms = [(number, 1) for number in numbers]
    query = quantise_one(unit), terms
    found = engine.search_both(content.edition, *query, DEPTH, only)
    near, named = content.dense_lane, content.keyword_lane
    about = f"filters {dict(only.filters)}" if only else "no filters"
    for lane, hits, best in (
        ("semantic", found.semantic, near.search(unit, DEPTH, allowed)),
        ("keyword", found.keyword, named.search(words, DEPTH, allowed)),
    ):
        if allowed is not None and not allowed[hits.chunks].all():
            raise DifferError(f"{lane}, {about}: chunks are found that do not pass")
        if exact or lane == "keyword":
            if len(hits) != len(best):
                said = f"{len(hits)} chunks are found, {len(best)} by the index"
                raise DifferError(f"{lane}, {about}: {said}")
            yield _difference(hits.scores, best.scores)
    for hits, lane_scores in (
        (found.semantic, near.scores(unit, np.sort(found.semantic.chunks))),
        (found.keyword, named.scores(words, np.sort(found.keyword.chunks))),
    ):
        yield _difference(hits.scores[np.argsort(hits.chunks)], lane_scores)
    cosines, sums = found.complete()
    yield _difference(cosines, near.scores(unit, _without(found.keyword, found.semantic)))
    yield _difference(sums, named.scores(words, _without(found.semantic, found.keyword)))


def _without(hits: LaneHits, others: LaneHits) -> NDArray[np.int64]:
    return np.setdiff1d(hits.chunks, others.chunks)


def _difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0))
