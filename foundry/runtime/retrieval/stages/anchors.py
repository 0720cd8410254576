"""Anchors: results that contain an identifier from the query score higher."""

import re
from collections.abc import Sequence

import numpy as np

from ...index.reader import Index
from ...index.tokens import Token
from ..candidates import Candidates
from ..identifiers import find_identifiers, whole_terms
from ..journal import Journal

LOOKUP_UNITS = 5  # Cost of looking up a candidate in the postings of a term.


def boost_anchors(
    candidates: Candidates,
    index: Index,
    tokens: Sequence[Token],
    patterns: Sequence[re.Pattern[str]],
    journal: Journal,
    *,
    factor: float,
) -> Candidates:
    """Multiply the scores of candidates that contain an anchor; see `boosted`.

    A chunk's text, headings and tags are searched. A query without anchors changes nothing.
    """
    anchors = dict.fromkeys(whole_terms(token) for token in find_identifiers(tokens, patterns))
    if not anchors:
        return candidates
    found = np.zeros(len(candidates.chunks), dtype=np.bool_)
    for anchor in anchors:
        if not journal.spend("anchors", len(anchor) * len(found) * LOOKUP_UNITS):
            break
        scores = [index.keyword_lane.scores([term], candidates.chunks) for term in anchor]
        found |= np.all(scores, axis=0)
    return candidates.boosted("anchors", np.where(found, factor, 1.0), factor)
