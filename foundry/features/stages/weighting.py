"""Declares the stages that change the lane weights of a search."""

from foundry.features.calls import Call
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.stage import Share, Stage


class WeightsByMatch(Stage):
    """[search.weights_by_match]: keywords weigh less if the match is not strong."""

    name = "weights_by_match"
    summary = "gives keywords less weight if no match is strong"
    description = (
        "if no match is strong and the query has no identifier, keywords get the weight"
        " `keyword_weight`, and meaning the rest. This helps with questions that are worded"
        " differently from the documents"
    )
    needs_vectors = True
    is_in_new = True
    is_tuned = False

    keyword_weight: Share = 0.1

    search_step = SearchStep(
        SearchPlace.WEIGH,
        Call(
            "retrieval.stages.weights_by_match",
            "weigh_by_match",
            ("lane_weights", "index", "candidates", "tokens", "patterns", "journal"),
            ("keyword_weight",),
        ),
        readme="If no match is strong, the weight of keywords is {keyword_weight}.",
    )


class AdaptiveWeights(Stage):
    """[search.adaptive_weights]: sets lane weights by the share of identifiers in the query."""

    name = "adaptive_weights"
    summary = "gives keywords more weight in queries with many identifiers"
    description = (
        "if more than `mostly` of a query's meaningful words belong to identifiers, the"
        " semantic weight is `mostly_semantic_weight`; if more than `partly` do,"
        " `partly_semantic_weight`. Keywords get the rest"
    )
    needs_vectors = True

    mostly: Share = 0.5
    mostly_semantic_weight: Share = 0.3
    partly: Share = 0.2
    partly_semantic_weight: Share = 0.5

    search_step = SearchStep(
        SearchPlace.WEIGH,
        Call(
            "retrieval.stages.adaptive_weights",
            "adapt_weights",
            ("lane_weights", "tokens", "patterns", "journal"),
            ("mostly", "mostly_semantic_weight", "partly", "partly_semantic_weight"),
        ),
        readme="If identifiers are more than {partly} of a query, the semantic weight is"
        " {partly_semantic_weight}; if more than {mostly}, it is {mostly_semantic_weight}.",
    )


STAGES = (WeightsByMatch, AdaptiveWeights)
