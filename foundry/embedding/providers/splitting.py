"""Splits long texts, and batches short ones, to fit the limits of a model."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.providers.model import ModelLimits

REACH_CHARS = 1000
"""Distance from the middle within which white space is searched for."""

_SPACE = re.compile(r"\s+")


def split_text(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Return parts of a text that fit, in order and with all of its words.

    The text is halved at the white space nearest to its middle, or inside a word, until all parts
    fit. A single character is a part even if it does not fit.
    """
    text = text.strip()
    if not text:
        return []
    if len(text) == 1 or fits(text):
        return [text]
    cut = find_cut(text)
    return [*split_text(text[:cut], fits), *split_text(text[cut:], fits)]


def find_cut(text: str) -> int:
    """Return where to halve a text of at least two characters.

    It is the white space nearest to the middle, or the middle if there is none near it.
    """
    middle = len(text) // 2
    reach = min(len(text) // 4, REACH_CHARS)
    after = _SPACE.search(text, middle, middle + max(1, reach))
    *_, before = None, *_SPACE.finditer(text, middle - reach, middle)
    if after is None or (before is not None and middle - before.end() < after.start() - middle):
        return before.end() if before is not None else middle
    return after.start()


def average(vectors: Sequence[NDArray[np.float32]], weights: Sequence[int]) -> NDArray[np.float32]:
    """Return the unit vector (d,) along a weighted mean of vectors; zeros if they cancel out."""
    total = np.average(np.asarray(vectors, dtype=np.float64), axis=0, weights=weights)
    length = np.linalg.norm(total)
    if length < 1e-6:
        return np.zeros(len(total), dtype=np.float32)
    return (total / length).astype(np.float32)


def make_batches(
    texts: Sequence[tuple[str, int]], limits: ModelLimits, *, padded: bool
) -> list[list[str]]:
    """Return texts, given with token counts, in batches that a call accepts.

    If the texts of a batch are padded, the longest come first: the texts of a batch then have
    similar lengths, and if memory is too small, the first batch fails.
    """
    if padded:
        texts = sorted(texts, key=lambda entry: -entry[1])
    batches: list[list[str]] = []
    used = longest = 0
    for text, tokens in texts:
        longest = max(longest, tokens)
        size = longest * (len(batches[-1]) + 1) if padded and batches else used + tokens
        if not batches or size > limits.batch_tokens or len(batches[-1]) >= limits.batch_texts:
            batches.append([])
            used, longest = 0, tokens
        batches[-1].append(text)
        used += tokens
    return batches
