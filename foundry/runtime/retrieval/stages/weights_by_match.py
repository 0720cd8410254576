"""Lane weights by the match: if it is not strong, keywords count less.

A query in other words than the documents' shares only common words with passages, mostly with
unrelated ones. If the match is not strong, the cosine is the better guide.
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

    If the match is not strong, keywords get `keyword_weight` and meaning the rest to 1, unless
    keywords have no more anyway, or the query has an identifier, which embeddings blur.
    """
    share = weights.keyword / (weights.semantic + weights.keyword)
    if share <= keyword_weight or find_identifiers(tokens, patterns):
        return weights
    if judge(index, candidates) == "strong":
        return weights
    lowered = Weights(round(1 - keyword_weight, 6), keyword_weight)
    sentence = f"No match is strong, so words weigh {keyword_weight:g} instead of {share:g}."
    journal.note("weights_by_match", sentence, semantic=lowered.semantic, keyword=keyword_weight)
    return lowered
