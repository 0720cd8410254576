"""Compare an engine's answers with the lanes of the index, before it serves anybody."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.errors import PublishError
from foundry.runtime.retrieval.candidates import LaneHits
from foundry.runtime.retrieval.quantising import quantise
from foundry.runtime.store.store import Engine
from foundry.stores.content import Content

QUESTIONS = 20
"""Searches of each lane that are compared; every second one is filtered."""

DEPTH = 100
TOLERANCE = 1e-5
"""The largest difference allowed between two scores of the same chunk."""

SEED = 7


@dataclass(frozen=True, slots=True)
class Agreement:
    """Differences of an engine from the index: the largest of a score, and the `recall`.

    That is the share of the nearest 100 chunks that it finds, over all questions; 1 if it is exact.
    """

    recall: float
    difference: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of publishing a version: whether it was loaded, and the versions dropped."""

    loaded: bool
    agreement: Agreement
    dropped: tuple[str, ...]


def compare_lanes(content: Content, engine: Engine, *, exact: bool) -> Agreement:
    """Ask the engine and the index the same.

    Raises PublishError where scores differ, or something is missing that an exact search finds.
    """
    found = wanted = 0
    largest = 0.0
    for vector, allowed in _vectors(content):
        integers, scales = quantise(vector[np.newaxis, :])
        scale = float(scales[0])
        nearest = content.dense_lane.search(vector, DEPTH, allowed)
        hits = engine.search_vector(content.version, integers[0], scale, DEPTH, allowed)
        _check_allowed(hits, allowed)
        exactly = content.dense_lane.scores(vector, hits.chunks)
        again = engine.score_vector(content.version, integers[0], scale, np.sort(hits.chunks))
        in_order = exactly[np.argsort(hits.chunks)]
        largest = max(largest, _difference(hits.scores, exactly), _difference(again, in_order))
        least = float(nearest.scores[-1]) - 1e-6 if len(nearest) else 0.0
        found += min(int(np.sum(exactly >= least)), len(nearest))
        wanted += len(nearest)
    for terms, allowed in _terms(content):
        numbers = map(content.vocabulary.find, terms)
        asked = [(number, 1) for number in numbers if number is not None]
        best = content.keyword_lane.search(terms, DEPTH, allowed)
        hits = engine.search_terms(content.version, asked, DEPTH, allowed)
        _check_allowed(hits, allowed)
        if len(hits) != len(best):
            raise _disagreement(f"{len(hits)} chunks for {terms}, where the index has {len(best)}")
        exactly = content.keyword_lane.scores(terms, np.sort(hits.chunks))
        again = engine.score_terms(content.version, asked, np.sort(hits.chunks))
        largest = max(largest, _difference(hits.scores, best.scores), _difference(again, exactly))
    if largest > TOLERANCE:
        raise _disagreement(f"scores differ by up to {largest:.2g}")
    recall = found / wanted if wanted else 1.0
    if exact and recall < 1:
        raise _disagreement(f"an exact search finds {recall:.2%} of the nearest chunks")
    return Agreement(recall, largest)


def _vectors(
    content: Content,
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_] | None]]:
    """Queries between two chunks of the index, and what may be found."""
    random = np.random.default_rng(SEED)
    present = np.flatnonzero(content.scales > 0)
    for question in range(QUESTIONS if len(present) else 0):
        one, other = random.choice(present, 2)
        mixed = sum(
            content.vectors[number].astype(np.float32) * content.scales[number]
            for number in (one, other)
        )
        length = float(np.linalg.norm(mixed))
        if length > 0:
            yield (mixed / length).astype(np.float32), _filter(content, random, question)


def _terms(content: Content) -> Iterator[tuple[list[str], NDArray[np.bool_] | None]]:
    """Three terms each, which are frequent as often as they are in the text."""
    random = np.random.default_rng(SEED)
    shares = np.diff(content.offsets).astype(np.float64)
    for question in range(QUESTIONS if len(shares) else 0):
        size = min(3, len(shares))
        chosen = random.choice(len(shares), size, replace=False, p=shares / shares.sum())
        terms = [content.vocabulary[int(number)].decode("utf-8", "replace") for number in chosen]
        yield terms, _filter(content, random, question)


def _filter(
    content: Content, random: np.random.Generator, question: int
) -> NDArray[np.bool_] | None:
    share = (0.05, 0.5, 0.95)[question % 3]
    return random.random(len(content.scales)) < share if question % 2 else None


def _check_allowed(hits: LaneHits, allowed: NDArray[np.bool_] | None) -> None:
    if allowed is not None and not allowed[hits.chunks].all():
        raise _disagreement("chunks are found that a filter excludes")


def _difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0))


def _disagreement(said: str) -> PublishError:
    return PublishError(
        f"the engine does not answer as the index does: {said}; nothing was switched",
        hint="publish again; if that fails too, check the version of the engine",
    )
