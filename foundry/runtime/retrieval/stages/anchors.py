"""Anchors: the identifiers of a query. Results that contain one of them count for more."""

import re
from collections.abc import Sequence

import numpy as np

from ...index.reader import Index
from ...index.tokens import Token
from ..candidates import Candidates
from ..identifiers import find_identifiers, whole_terms
from ..journal import Journal

LOOKUP_UNITS = 5  # To look for a candidate among the postings of a term.


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

    A chunk contains an anchor if its text, headings or tags do. Without anchors in the query
    nothing changes.
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
