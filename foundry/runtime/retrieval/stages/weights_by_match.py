"""Lane weights by how good the match is: where it is not strong, keywords count less.

A query in other words than the documents' shares only its common words with passages, and these are
about something else. Where words and meaning are no strong evidence, meaning is the better guide.
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
    """Return the weights of the lanes for a query, by its candidates of both lanes.

    If the match is not strong, keywords get `keyword_weight` and meaning the rest to 1, unless
    keywords have no greater share anyway, or the query has an identifier, which meaning blurs.
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
