"""Declares the stages that weigh, boost and order what the lanes have found."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from foundry.features.feature import Table
from foundry.features.snippet import Place, Step
from foundry.features.stage import MAX_FACTOR, Days, Factor, Share, Stage, Surroundings

DEFAULT_TIERS = ({"days": 7.0, "factor": 1.2}, {"days": 30.0, "factor": 1.1})
DEFAULT_DECAY = {"half_life_days": 7.0, "floor": 0.1}


class AdaptiveWeights(Stage):
    """[search.adaptive_weights]: lane weights by the share of identifiers in the query."""

    name = "adaptive_weights"
    summary = "more weight for keywords the more identifiers a query has"
    description = (
        "the semantic weight is `mostly_semantic_weight` if more than `mostly` of a query's"
        " meaningful words belong to identifiers, `partly_semantic_weight` if more than `partly`"
        " do; the rest goes to keywords"
    )
    needs_vectors = True

    mostly: Share = 0.5
    mostly_semantic_weight: Share = 0.3
    partly: Share = 0.2
    partly_semantic_weight: Share = 0.5

    def steps(self) -> Iterator[Step]:
        """Change the weights before fusion."""
        yield Step(
            Place.WEIGH,
            {"retrieval.stages.adaptive_weights": ("adapt_weights",)},
            "semantic_weight, keyword_weight = adapt_weights("
            "tokens, patterns, *weights(), journal,"
            " mostly={mostly}, mostly_semantic_weight={mostly_semantic_weight},"
            " partly={partly}, partly_semantic_weight={partly_semantic_weight})",
            readme="If identifiers are more than {partly} of a query, the semantic weight is"
            " {partly_semantic_weight}; if more than {mostly}, it is {mostly_semantic_weight}.",
        )


class Feedback(Stage):
    """[search.feedback]: results that are near to the best one."""

    name = "feedback"
    summary = "more for what is near to the best result"
    description = (
        "results count for more the nearer they are to the best one: `1 + gain` times at most"
    )
    needs_vectors = True

    gain: float = Field(default=0.5, gt=0, le=MAX_FACTOR)

    def steps(self) -> Iterator[Step]:
        """Boost after the fusion of both lanes."""
        yield Step(
            Place.FUSED,
            {"retrieval.stages.feedback": ("boost_feedback",)},
            "candidates = boost_feedback(candidates, index, gain={gain})",
            {"most": 1 + self.gain},
            readme="Scores are multiplied by up to {most}, depending on how close a passage is in"
            " meaning to the best one.",
        )


class Anchors(Stage):
    """[search.anchors]: results that contain an identifier of the query."""

    name = "anchors"
    summary = "first what contains an identifier of the query"
    description = "results that contain an identifier of the query count `factor` times"

    factor: Factor = 1.1

    def steps(self) -> Iterator[Step]:
        """Boost whatever was found."""
        yield Step(
            Place.BOOST,
            {"retrieval.stages.anchors": ("boost_anchors",)},
            "candidates = boost_anchors(candidates, index.keyword_lane, tokens,"
            " patterns, factor={factor})",
            readme="Scores of passages that contain an identifier of the query are multiplied by"
            " {factor}.",
        )


class Tier(Table):
    """An entry of `tiers`: the factor of what was modified at most so many days ago."""

    days: Days
    factor: Factor


class Recency(Stage):
    """[search.recency]: results by age; keys left out are those of the kind."""

    name = "recency"
    summary = "first what was modified lately: tiers or decay"
    environment = (
        """
# Date to count ages from, instead of today.
#REFERENCE_DATE=
""",
    )

    kind: Literal["tiers", "decay"] = "tiers"
    tiers: Annotated[list[Tier], Field(min_length=1, max_length=20)] | None = None
    half_life_days: Days | None = None
    floor: Share | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        if written.get("kind", "tiers") == "decay":
            return {**DEFAULT_DECAY, **written}
        return {"tiers": list(DEFAULT_TIERS), **written}

    def steps(self) -> Iterator[Step]:
        """Boost whatever was found."""
        if self.kind == "decay":
            numbers = "half_life_days={half_life_days}, floor={floor}"
            explained = (
                "Scores halve every {half_life_days} days since a document was modified, down to"
                " {floor} of their value. Documents without a date are treated as the oldest."
            )
        else:
            numbers = "tiers={tiers}"
            factors = ", ".join(
                f"{tier.factor} up to {_plain(tier.days)} days" for tier in self.tiers or ()
            )
            explained = f"Scores of recently modified documents are multiplied: by {factors}."
        yield Step(
            Place.BOOST,
            {"retrieval.stages.recency": (f"boost_by_{self.kind}", "today")},
            f"candidates = boost_by_{self.kind}(candidates, index.filters.modified, today(),"
            f" {numbers})",
            {
                "tiers": [(_plain(tier.days), tier.factor) for tier in self.tiers or ()],
                "half_life_days": _plain(self.half_life_days or 0),
            },
            readme=explained,
        )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield keys of the other kind, and tiers that are not in order."""
        yield from super().find_problems(surroundings)
        other = {"tiers": ("half_life_days", "floor"), "decay": ("tiers",)}[self.kind]
        for key in other:
            if getattr(self, key) is not None:
                yield f"search.recency.{key}: does nothing with kind = {self.kind!r}; remove it"
        days = [tier.days for tier in self.tiers or ()]
        factors = [tier.factor for tier in self.tiers or ()]
        if any(a >= b for a, b in pairwise(days)) or any(a < b for a, b in pairwise(factors)):
            yield (
                "search.recency.tiers: must have growing days, and factors that do not grow with"
                " them"
            )

    @classmethod
    def document(cls) -> Iterator[tuple[str, str, str]]:
        """Yield a row for each kind."""
        yield (
            '`recency`, `kind = "tiers"`',
            "results modified at most so many days ago count more; what has no date counts once",
            "`tiers = [{ days = 7, factor = 1.2 }, { days = 30, factor = 1.1 }]`",
        )
        yield (
            '`recency`, `kind = "decay"`',
            "a score halves every `half_life_days`, down to a `floor`, which is also for what has"
            " no date",
            "`half_life_days = 7`, `floor = 0.1`",
        )


class Links(Stage):
    """[search.links]: what the best results link to, and what links to them."""

    name = "links"
    summary = "what is linked with the best results"
    description = (
        "documents that the best `seeds` results link to, or that link to them, at most"
        " `neighbours` for each, score `factor` times what the best of these does, and less than"
        " the weakest of them"
    )

    seeds: int = Field(default=3, ge=1, le=100)
    neighbours: int = Field(default=10, ge=1, le=100)
    factor: Share = 0.7

    def steps(self) -> Iterator[Step]:
        """Add candidates to whatever was found."""
        yield Step(
            Place.BOOST,
            {"retrieval.stages.links": ("add_linked",)},
            "candidates = add_linked(candidates, index, allowed, journal,"
            " seeds={seeds}, neighbours={neighbours}, factor={factor})",
            readme="Documents that the best {seeds} passages link to, or that link to them, are"
            " added with {factor} of their score.",
        )


class Expansion(Stage):
    """[search.expansion]: words of the corpus near to the query, for the semantic lane."""

    name = "expansion"
    tells_of_corpus = True
    summary = "words of the corpus near to the query, in the semantic lane"
    description = (
        "the `terms` nearest of the corpus's `vocabulary` most frequent words, if their cosine to"
        " the query is `minimum_cosine` or more, are added to it for the semantic lane; never to a"
        " query with an identifier"
    )
    needs_vectors = True
    built_in = frozenset({"vocabulary"})

    terms: int = Field(default=3, ge=1, le=20)
    minimum_cosine: Share = 0.5
    vocabulary: int = Field(default=4096, ge=1, le=65_536)

    def steps(self) -> Iterator[Step]:
        """Change the vector of the query."""
        yield Step(
            Place.EMBED,
            {"retrieval.stages.expansion": ("expand_query",)},
            "vector = expand_query(index, index.encoder, searched, tokens, vector, journal,"
            " terms={terms}, minimum_cosine={minimum_cosine})",
            readme="Up to {terms} words of the documents that are close to the query are added to"
            " its embedding.",
        )


class Heuristics(Stage):
    """[search.heuristics]: results that hold the names of the query, or fit its category."""

    name = "heuristics"
    summary = "first what has the names, or the kind of content, of the query"
    description = (
        "of the best `hits`, those that hold the query's identifiers and capitalised names count up"
        " to `1 + entities_gain` times, the more the rarer these are; those whose source or tag the"
        " query names `1 + category_gain` times"
    )

    hits: int = Field(default=50, ge=1, le=200)
    entities_gain: Share = 0.3
    category_gain: Share = 0.1

    def steps(self) -> Iterator[Step]:
        """Order the best anew."""
        yield Step(
            Place.RERANK,
            {"retrieval.stages.heuristics": ("rerank_heuristically",)},
            "candidates = rerank_heuristically(candidates, index, tokens,"
            " hits={hits}, entities_gain={entities_gain}, category_gain={category_gain})",
            readme="Among the best {hits}, passages gain that contain names in the query, or whose"
            " source or tags it mentions.",
        )


class WordParts(Stage):
    """[search.word_parts]: results that have parts of the query's words."""

    name = "word_parts"
    summary = "more for what shares parts of words with the query; for languages but English"
    description = (
        "of the best `hits`, those that have the parts of the query's words (runs of five letters)"
        " count up to `1 + gain` times, the more the rarer these are among them. For languages that"
        " join words or inflect them richly: in English it can cost more than it gains"
    )

    hits: int = Field(default=30, ge=1, le=200)
    gain: float = Field(default=0.3, gt=0, le=MAX_FACTOR)

    def steps(self) -> Iterator[Step]:
        """Order the best anew."""
        yield Step(
            Place.RERANK,
            {"retrieval.stages.word_parts": ("boost_word_parts",)},
            "candidates = boost_word_parts(candidates, index, tokens," " hits={hits}, gain={gain})",
            {"most": 1 + self.gain},
            readme="Among the best {hits}, scores of passages that contain parts of the query's"
            " words are multiplied by up to {most}.",
        )


def _plain(days: float) -> float:
    """Return the same number, which is written without a point if it is whole."""
    return int(days) if days == int(days) else days


STAGES = (AdaptiveWeights, Feedback, Anchors, Recency, Links, Expansion, Heuristics, WordParts)
