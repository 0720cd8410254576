"""Declares the stages that boost and reorder the candidates of the lanes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from foundry.features.calls import Call
from foundry.features.feature import Table
from foundry.features.search_step import SearchPlace, SearchStep
from foundry.features.stage import MAX_FACTOR, Days, Factor, Share, Stage, Surroundings

DEFAULT_TIERS = ({"days": 7.0, "factor": 1.2}, {"days": 30.0, "factor": 1.1})
DEFAULT_DECAY = {"half_life_days": 7.0, "floor": 0.1}


class Anchors(Stage):
    """[search.anchors]: boosts results that contain an identifier from the query."""

    name = "anchors"
    summary = "favours results that contain an identifier from the query"
    description = "results that contain an identifier from the query score `factor` times as much"

    factor: Factor = 1.1

    search_step = SearchStep(
        SearchPlace.BOOST,
        Call(
            "retrieval.stages.anchors",
            "boost_anchors",
            ("candidates", "index", "tokens", "patterns", "journal"),
            ("factor",),
        ),
        readme="Scores of passages that contain an identifier from the query are multiplied by"
        " {factor}.",
    )


class Tier(Table):
    """An entry of `tiers`: the factor of documents modified at most `days` ago."""

    days: Days
    factor: Factor


class Recency(Stage):
    """[search.recency]: boosts new documents; missing keys have the defaults of their kind."""

    name = "recency"
    summary = "favours recently modified documents: tiers or decay"
    environment = ("recency",)

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

    def steps(self) -> Iterator[SearchStep]:
        """Yield the step that boosts in every search."""
        module = "retrieval.stages.recency"
        asked = ("candidates", "index", Call(module, "today"))
        if self.kind == "decay":
            call = Call(module, "boost_by_decay", asked, ("half_life_days", "floor"))
            explained = (
                "Scores halve every {half_life_days} days since a document was modified, down to"
                " {floor} of their value. Documents without a date are treated as the oldest."
            )
        else:
            call = Call(module, "boost_by_tiers", asked, ("tiers",))
            factors = ", ".join(
                f"{tier.factor} up to {_plain(tier.days)} days" for tier in self.tiers or ()
            )
            explained = f"Scores of recently modified documents are multiplied: by {factors}."
        yield SearchStep(
            SearchPlace.BOOST,
            call,
            values={
                "tiers": [(_plain(tier.days), tier.factor) for tier in self.tiers or ()],
                "half_life_days": _plain(self.half_life_days or 0),
            },
            readme=explained,
        )

    def find_problems(self, surroundings: Surroundings) -> Iterator[str]:
        """Yield problems: keys of the other kind, and tiers that are not in order."""
        yield from super().find_problems(surroundings)
        other = {"tiers": ("half_life_days", "floor"), "decay": ("tiers",)}[self.kind]
        for key in other:
            if getattr(self, key) is not None:
                yield f"search.recency.{key}: does nothing with kind = {self.kind!r}; remove it"
        days = [tier.days for tier in self.tiers or ()]
        factors = [tier.factor for tier in self.tiers or ()]
        if any(a >= b for a, b in pairwise(days)) or any(a < b for a, b in pairwise(factors)):
            yield "search.recency.tiers: days must increase, and factors must not increase"

    @classmethod
    def document(cls) -> Iterator[tuple[str, str, str]]:
        """Yield a section for each kind."""
        yield (
            '`[search.recency]`, `kind = "tiers"`',
            "results modified at most `days` ago score `factor` times as much; those without a date"
            " keep their score",
            "`tiers = [{ days = 7, factor = 1.2 }, { days = 30, factor = 1.1 }]`",
        )
        yield (
            '`[search.recency]`, `kind = "decay"`',
            "scores halve for every `half_life_days` of age, but keep at least the share `floor` of"
            " their value; results without a date keep exactly this share",
            "`half_life_days = 7`, `floor = 0.1`",
        )


class Links(Stage):
    """[search.links]: adds documents that the best results link to, or that link to them."""

    name = "links"
    summary = "adds documents linked with the best results"
    description = (
        "adds documents that link to one of the best `seeds` results or are linked from it, at"
        " most `neighbours` for each of these results. An added document scores `factor` times as"
        " much as the result that it is linked with, but less than all of these results"
    )

    seeds: int = Field(default=3, ge=1, le=100)
    neighbours: int = Field(default=10, ge=1, le=100)
    factor: Share = 0.7

    search_step = SearchStep(
        SearchPlace.BOOST,
        Call(
            "retrieval.stages.links",
            "add_linked",
            ("candidates", "index", "allowed", "journal"),
            ("seeds", "neighbours", "factor"),
        ),
        readme="Documents that the best {seeds} passages link to, or that link to them, are"
        " added with {factor} of their score.",
    )


class Heuristics(Stage):
    """[search.heuristics]: boosts results whose names, source or tags the query mentions."""

    name = "heuristics"
    summary = "favours results whose names, source or tags the query mentions"
    description = (
        "multiplies the scores of results that contain the query's identifiers and capitalised"
        " names by up to `1 + entities_gain` (more for names in fewer chunks), and of results whose"
        " source or tag the query mentions by `1 + category_gain`. Only the scores of the best"
        " `hits` can change"
    )

    hits: int = Field(default=50, ge=1, le=200)
    entities_gain: Share = 0.3
    category_gain: Share = 0.1

    search_step = SearchStep(
        SearchPlace.RERANK,
        Call(
            "retrieval.stages.heuristics",
            "rerank_heuristically",
            ("candidates", "index", "tokens"),
            ("hits", "entities_gain", "category_gain"),
        ),
        readme="Among the best {hits}, passages score higher if they contain names in the query, or"
        " if the query mentions their source or tags.",
    )


class WordParts(Stage):
    """[search.word_parts]: boosts results that contain parts of the query's words."""

    name = "word_parts"
    summary = (
        "favours results with parts of the query's words: for languages that join or inflect"
        " words"
    )
    description = (
        "multiplies the scores of results that contain parts of the query's words (runs of five"
        " letters) by up to `1 + gain`. Only the best `hits` are compared; the fewer of them"
        " contain a part, the more it counts. This helps in languages that join words or have many"
        " inflected forms; in English, results can get worse"
    )

    hits: int = Field(default=30, ge=1, le=200)
    gain: float = Field(default=0.3, gt=0, le=MAX_FACTOR)

    def steps(self) -> Iterator[SearchStep]:
        """Yield the step that reorders the best hits."""
        yield SearchStep(
            SearchPlace.RERANK,
            Call(
                "retrieval.stages.word_parts",
                "boost_word_parts",
                ("candidates", "index", "tokens", "journal"),
                ("hits", "gain"),
            ),
            values={"most": 1 + self.gain},
            readme="Among the best {hits}, scores of passages that contain parts of the query's"
            " words are multiplied by up to {most}.",
        )


def _plain(days: float) -> float:
    """Return a number that is printed without a point if it is whole."""
    return int(days) if days == int(days) else days


STAGES = (Anchors, Recency, Links, Heuristics, WordParts)
