"""Anchors: the identifiers of a query. Results that contain one of them count for more."""

import re
from collections.abc import Sequence

import numpy as np

from .candidates import Candidates
from .identifiers import find_identifiers
from .keyword_lane import KeywordLane
from .tokens import Token


def boost_anchors(
    candidates: Candidates,
    keyword_lane: KeywordLane,
    tokens: Sequence[Token],
    patterns: Sequence[re.Pattern[str]],
    *,
    factor: float,
) -> Candidates:
    """Multiply the scores of candidates that contain an anchor; see `Candidates.boosted`.

    A chunk contains what stands in its text, headings or tags. Without anchors in the query
    nothing changes.
    """
    anchors = {token.terms[0] for token in find_identifiers(tokens, patterns)}
    if not anchors:
        return candidates
    found = np.zeros(len(candidates.chunks), dtype=np.bool_)
    for anchor in anchors:
        found |= keyword_lane.scores([anchor], candidates.chunks) > 0
    return candidates.boosted("anchors", np.where(found, factor, 1.0), factor)
