"""Calibration queries of the dense lane: headings, and spans of words from chunks.

Headings resemble their chunks more than real queries do, so calibrating with headings alone makes
the sketch depth too small: by a factor of five at 118,000 chunks. Spans imitate queries of one to
six words. They come from the chunks whose ids have the smallest hashes; the hash also chooses the
words, so changing some documents leaves nearly all queries and their neighbours unchanged.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import open_stored
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.tokens import Tokenizer

HEADING = "heading"
SPANS = 256
MAX_SPAN_CHARACTERS = 200
"""Longer spans are data, which nobody types as a query."""

CHUNKS_A_SPAN = 4
"""Maximum number of chunks read per span, since some have too few words."""

TARGET_RECALL, LEAST_RECALL = 0.99, 0.985
"""Minimum recall over all queries, and over those of each shape, which are a smaller sample."""

_WORDS = (("1 word", 1, 1), ("2 words", 2, 2), ("3 words", 3, 3), ("4 to 6 words", 4, 6))


@dataclass(frozen=True, slots=True)
class CalibrationQuery:
    """A query and its shape: `heading`, or the number of words in a span."""

    text: str
    shape: str


def spans_of(layout: IndexLayout, tokenizer: Tokenizer) -> list[CalibrationQuery]:
    """Return at most SPANS spans, about equally many of each shape.

    The chunks of the index and their tables must already be written.
    """
    spans: list[CalibrationQuery] = []
    rows = open_stored(layout.chunk_ids)[:, : CHUNKS_A_SPAN * SPANS].T.tolist()
    offsets = open_stored(layout.chunk_offsets)
    with layout.chunks.open("rb") as file:
        for key, number in rows:
            if len(spans) == SPANS:
                break
            file.seek(int(offsets[number]))
            words = json.loads(file.readline())["text"].split()
            drawn, place = divmod(key, len(_WORDS))
            shape, least, most = _WORDS[place]
            drawn, more = divmod(drawn, most - least + 1)
            length = least + more
            start = drawn % max(1, len(words) - length + 1)
            span = " ".join(words[start : start + length])
            is_whole = len(words) >= length and len(span) <= MAX_SPAN_CHARACTERS
            if is_whole and tokenizer.terms(span):
                spans.append(CalibrationQuery(span, shape))
    return spans


def depth_of(needed: NDArray[np.int64], shapes: Sequence[str]) -> int:
    """Return the smallest depth with TARGET_RECALL over all queries, and LEAST_RECALL per shape.

    `needed` (q, k) are the depths at which the k nearest chunks of each query are found.
    """
    by_shape = _by_shape(needed, shapes).values()
    return max(_depth(needed, TARGET_RECALL), *(_depth(own, LEAST_RECALL) for own in by_shape))


def _depth(needed: NDArray[np.int64], recall: float) -> int:
    return int(np.sort(needed, axis=None)[math.ceil(needed.size * recall) - 1])


def recall_of(needed: NDArray[np.int64], shapes: Sequence[str], depth: int) -> dict[str, float]:
    """Return the recall at a depth, 0 to 1, by query shape."""
    return {
        shape: round(float(np.mean(own <= depth)), 4)
        for shape, own in _by_shape(needed, shapes).items()
    }


def _by_shape(needed: NDArray[np.int64], shapes: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    every = np.array(shapes)
    return {shape: needed[every == shape].ravel() for shape in dict.fromkeys(shapes)}
