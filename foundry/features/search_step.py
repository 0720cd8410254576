"""Steps of `search_hybrid`: calls of the runtime at defined places."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from foundry.features.calls import Call


class SearchPlace(Enum):
    """The places in `search_hybrid`, in order, with the names that steps can use.

    The value is the name of the place in templates, and the variables that a step assigns. All
    steps can use `index`, `journal`, `query`, ASKED, and `wanted`, the number of hits; from WIDEN
    on, also `tokens` and `patterns`.
    """

    BEGIN = ("begin", ("patterns",))
    """Before all others."""

    PARSE = ("parse", ("plain",))
    """Before tokenizing, with `filters`; later steps use `plain` as `asked`."""

    READ = ("read", ("rewritten", "filters"))
    """After PARSE: the query to search for, which may differ from what was typed."""

    WIDEN = ("widen", ("searched", "tokens", "terms"))
    """After tokenizing: the text to embed, its tokens, and the terms for the keyword lane."""

    NARROW = ("narrow", ("allowed",))
    """Before the lanes: the allowed chunks; None allows all."""

    KNOW = ("know", ())
    """After NARROW, to note in the journal which identifiers the index lacks."""

    EMBED = ("embed", ("vector",))
    """Once the query has a vector, with `searched`."""

    WEIGH = ("weigh", ("lane_weights",))
    """Before fusion, with `candidates` of both lanes."""

    FUSE = ("fuse", ("candidates",))
    """The fusion of both lanes' scores, with `lane_weights`."""

    FUSED = ("fused", ("candidates",))
    """After fusion, in hybrid searches only."""

    BOOST = ("boost", ("candidates",))
    """In every search, with `allowed`; this also holds for the next three places."""

    SIFT = ("sift", ("candidates",))
    RERANK = ("rerank", ("candidates",))
    FINISH = ("finish", ("candidates",))

    PREFER = ("prefer", ("hits",))
    """On hits, best first and read lazily; this also holds for the next three places."""

    PIN = ("pin", ("hits",))
    MERGE = ("merge", ("hits",))
    CHOOSE = ("choose", ("hits",))


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A call at a place of `search_hybrid`.

    Attributes:
        place: Its place.
        call: The call.
        sets: The assigned variables; by default the variables of the place.
        values: Values of options that are not keys of the table.
        readme: An entry of the README.
    """

    place: SearchPlace
    call: Call
    sets: tuple[str, ...] | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    readme: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names that the result is assigned to."""
        return self.place.value[1] if self.sets is None else self.sets
