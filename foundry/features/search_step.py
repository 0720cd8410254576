"""What is added to `search_hybrid`: calls of the runtime at places of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from foundry.features.calls import Call


class SearchPlace(Enum):
    """A place in `search_hybrid` for steps, in their order, with the names that they find there.

    The value is the word by which templates know it, and the names that a step gives a new value.
    All steps find `index`, `journal`, `query`, `top_k`, and ASKED; from WIDEN on also `tokens` and
    `patterns`.
    """

    BEGIN = ("begin", ("patterns",))
    """Before all others."""

    PARSE = ("parse", ("plain",))
    """Before tokenizing, with `filters`; `plain` is what is `asked` for those after it."""

    READ = ("read", ("rewritten", "filters"))
    """After that: the query to search for, which need not be in anybody's own words."""

    WIDEN = ("widen", ("searched", "tokens", "terms"))
    """After tokenizing: the text to embed, its tokens, and the terms for the keyword lane."""

    NARROW = ("narrow", ("allowed",))
    """Before the lanes: the chunks that may be found, None for all."""

    KNOW = ("know", ())
    """After that: what the journal is told of the identifiers that the index does not have."""

    EMBED = ("embed", ("vector",))
    """Once the query has a vector, with `searched`."""

    WEIGH = ("weigh", ("lane_weights",))
    """Before fusion, with `candidates` of both lanes."""

    FUSE = ("fuse", ("candidates",))
    """One step makes a score of those of both lanes, by `lane_weights`."""

    FUSED = ("fused", ("candidates",))
    """After that, in a hybrid search alone."""

    BOOST = ("boost", ("candidates",))
    """Whatever was searched for, with `allowed`; as at the next three."""

    SIFT = ("sift", ("candidates",))
    RERANK = ("rerank", ("candidates",))
    FINISH = ("finish", ("candidates",))

    PREFER = ("prefer", ("hits",))
    """Among hits, best first, which are read when they are due; as at the next three."""

    PIN = ("pin", ("hits",))
    MERGE = ("merge", ("hits",))
    CHOOSE = ("choose", ("hits",))


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A call at a place of `search_hybrid`.

    Attributes:
        place: Where it stands.
        call: What is called.
        sets: The names that get what is returned; by default those of the place.
        values: Values of options that are not keys of the table.
        readme: An entry of the list of steps in the server's README.
    """

    place: SearchPlace
    call: Call
    sets: tuple[str, ...] | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    readme: str = ""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names that get what is returned."""
        return self.place.value[1] if self.sets is None else self.sets
