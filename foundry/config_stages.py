"""The tables of [search] that choose optional stages: one table, one stage.

A stage is part of a server if its table is there, even if it is empty: its keys have defaults.
"""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_FACTOR = 100.0

Share = Annotated[float, Field(ge=0, le=1)]
Factor = Annotated[float, Field(ge=1, le=MAX_FACTOR)]
Milliseconds = Annotated[int, Field(ge=1, le=60_000)]
Days = Annotated[float, Field(gt=0, le=100_000)]


class StageSection(BaseModel):
    """What all tables have in common."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AdaptiveWeightsSection(StageSection):
    """[search.adaptive_weights]: lane weights by the share of identifiers in the query."""

    mostly: Share = 0.5
    mostly_semantic_weight: Share = 0.3
    partly: Share = 0.2
    partly_semantic_weight: Share = 0.5


class AnchorsSection(StageSection):
    """[search.anchors]: results that contain an identifier of the query."""

    factor: Factor = 1.1


class Tier(StageSection):
    """An entry of `tiers`: the factor of what was modified at most so many days ago."""

    days: Days
    factor: Factor


class FeedbackSection(StageSection):
    """[search.feedback]: results that are near to the best one."""

    gain: float = Field(default=0.5, gt=0, le=MAX_FACTOR)


class RecencySection(StageSection):
    """[search.recency]: results by age; keys left out are those of the kind."""

    kind: Literal["tiers", "decay"] = "tiers"
    tiers: Annotated[list[Tier], Field(min_length=1, max_length=20)] | None = None
    half_life_days: Days | None = None
    floor: Share | None = None


class LinksSection(StageSection):
    """[search.links]: what the best results link to, and what links to them."""

    seeds: int = Field(default=3, ge=1, le=100)
    neighbours: int = Field(default=10, ge=1, le=100)
    factor: Share = 0.7


class ExpansionSection(StageSection):
    """[search.expansion]: words of the corpus near to the query, for the semantic lane."""

    terms: int = Field(default=3, ge=1, le=20)
    minimum_cosine: Share = 0.5
    vocabulary: int = Field(default=4096, ge=1, le=65_536)


class UnderstandingSection(StageSection):
    """[search.understanding]: a language model rewrites the query, and finds filters in it."""

    rewrite: bool = True
    extract: Annotated[list[str], Field(max_length=20)] = []
    confidence: Share = 0.7
    deadline_ms: Milliseconds = 2000


class HeuristicsSection(StageSection):
    """[search.heuristics]: results that hold the names of the query, or fit its category."""

    hits: int = Field(default=50, ge=1, le=200)
    entities_gain: Share = 0.3
    category_gain: Share = 0.1


class RerankSection(StageSection):
    """[search.rerank]: the best results, judged by a cross-encoder."""

    model: str = Field(min_length=1)
    hits: int = Field(default=10, ge=1, le=100)
    deadline_ms: Milliseconds = 1000


class MinimumScoreSection(StageSection):
    """[search.minimum_score]: what is below is no result; None is no minimum."""

    semantic: Share | None = None
    keyword: Share | None = None
    score: Share | None = None


class NearDuplicatesSection(StageSection):
    """[search.near_duplicates]: one result of each group whose texts are nearly the same."""

    similarity: float = Field(default=0.8, ge=0.5, le=1)


class DocumentCapSection(StageSection):
    """[search.document_cap]: at most so many results of one document."""

    hits: int = Field(default=3, ge=1, le=100)


STAGE_SECTIONS: dict[str, type[StageSection]] = {
    "adaptive_weights": AdaptiveWeightsSection,
    "feedback": FeedbackSection,
    "anchors": AnchorsSection,
    "recency": RecencySection,
    "links": LinksSection,
    "expansion": ExpansionSection,
    "understanding": UnderstandingSection,
    "heuristics": HeuristicsSection,
    "rerank": RerankSection,
    "minimum_score": MinimumScoreSection,
    "near_duplicates": NearDuplicatesSection,
    "document_cap": DocumentCapSection,
}
"""Every stage by the name of its table, which is also a field of SearchSection."""

NEEDING_VECTORS = frozenset({"adaptive_weights", "expansion", "feedback"})
"""Stages that do nothing where there is no semantic lane."""

AFTER_FUSION = frozenset({"anchors", "recency", "links", "heuristics", "rerank", "minimum_score"})
"""Stages of candidates: whatever was found is put through them, in every mode."""

CHOOSING = frozenset({"near_duplicates", "document_cap"})
"""Stages that choose among the ranked hits, best first, those that are returned."""

WAITING = frozenset({"understanding", "rerank"})
"""Stages that wait for a model, so that searches run in threads."""

DEFAULT_TIERS = ((7, 1.2), (30, 1.1))
DEFAULT_HALF_LIFE = 7
DEFAULT_FLOOR = 0.1


def find_later_problems(sections: Mapping[str, Any], *, filters: Collection[str]) -> list[str]:
    """What the stages that rank anew, leave out or ask a model cannot do.

    `sections` are those of all stages, None where left out; `filters` what can be extracted.
    """
    problems = []
    understanding, minimum = sections["understanding"], sections["minimum_score"]
    if understanding is not None:
        if not understanding.rewrite and not understanding.extract:
            problems.append("search.understanding: does nothing; set rewrite or extract")
        if not understanding.extract and "confidence" in understanding.model_fields_set:
            problems.append(
                "search.understanding.confidence: does nothing without extract; remove it"
            )
        problems += [
            f"search.understanding.extract: {name!r} is no filter of this index;"
            f" can be extracted: {', '.join(sorted(filters))}"
            for name in understanding.extract
            if name not in filters
        ]
    if minimum is not None and not minimum.model_fields_set:
        problems.append("search.minimum_score: does nothing; set semantic, keyword or score")
    return problems


def find_recency_problems(section: RecencySection) -> list[str]:
    """Keys of the other kind, and tiers that are not in order."""
    other = {"tiers": ("half_life_days", "floor"), "decay": ("tiers",)}[section.kind]
    problems = [
        f"search.recency.{key}: does nothing with kind = {section.kind!r}; remove it"
        for key in other
        if getattr(section, key) is not None
    ]
    days = [tier.days for tier in section.tiers or ()]
    factors = [tier.factor for tier in section.tiers or ()]
    if any(a >= b for a, b in pairwise(days)) or any(a < b for a, b in pairwise(factors)):
        problems.append(
            "search.recency.tiers: must have growing days, and factors that do not grow with them"
        )
    return problems


def resolve_recency(section: RecencySection) -> dict[str, Any]:
    """The kind and its values."""
    if section.kind == "decay":
        half_life, floor = section.half_life_days, section.floor
        return {
            "kind": "decay",
            "half_life_days": DEFAULT_HALF_LIFE if half_life is None else _plain(half_life),
            "floor": DEFAULT_FLOOR if floor is None else floor,
        }
    tiers = [[days, factor] for days, factor in DEFAULT_TIERS]
    if section.tiers is not None:
        tiers = [[_plain(tier.days), tier.factor] for tier in section.tiers]
    return {"kind": "tiers", "tiers": tiers}


def _plain(days: float) -> float:
    """The same number, written without a point if it is whole."""
    return int(days) if days == int(days) else days
