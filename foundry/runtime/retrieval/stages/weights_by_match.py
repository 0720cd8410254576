"""Lane weights by the match: unless it is strong, keywords count less.

A query that is worded differently from the documents shares only common words with passages, most
of them unrelated. Unless the match is strong, the cosine is the better guide.
"""

import re
from collections.abc import Sequence

from ...index.reader import Index
from ...index.tokens import Token
from ..candidates import Candidates
from ..hybrid import Weights, judge
from ..identifiers import find_identifiers
from ..journal import Journal


def weigh_by_match(
    weights: Weights,
    index: Index,
    candidates: Candidates,
    tokens: Sequence[Token],
    patterns: Sequence[re.Pattern[str]],
    journal: Journal,
    *,
    keyword_weight: float,
) -> Weights:
    """Return the weights of the lanes for a query, given the candidates of both lanes.

    Unless the match is strong, keywords get `keyword_weight`, and both weights add up to 1. The
    weights do not change if the keyword weight is lower already, or if the query has an identifier,
    which embeddings blur.
    """
    share = weights.keyword / (weights.semantic + weights.keyword)
    if share <= keyword_weight or find_identifiers(tokens, patterns):
        return weights
    if judge(index, candidates) == "strong":
        return weights
    lowered = Weights(round(1 - keyword_weight, 6), keyword_weight)
    sentence = f"No match is strong, so keywords weigh {keyword_weight:g} instead of {share:g}."
    journal.note("weights_by_match", sentence, semantic=lowered.semantic, keyword=keyword_weight)
    return lowered
