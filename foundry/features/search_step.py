"""What is added to `search_hybrid`: calls of the runtime, as declarations name them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, Union

Argument: TypeAlias = Union[str, "Call", tuple["Call", ...]]
"""A name that is known where the call stands, another call, or a list of calls."""


ASKED = "asked"
"""Stands for the name of the query in the words of the person who asks."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the runtime.

    Attributes:
        module: Its module below the package.
        function: Its name.
        arguments: What is passed by position.
        options: Keys of the table that are passed by name.
    """

    module: str
    function: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[str, ...] = ()

    def calls(self) -> Iterator["Call"]:
        """Yield the call itself, and those among its arguments."""
        yield self
        for argument in self.arguments:
            for each in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(each, Call):
                    yield from each.calls()

    def names(self) -> set[str]:
        """Return the names that it is given."""
        return {each for call in self.calls() for each in call.arguments if isinstance(each, str)}


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


@dataclass(frozen=True, slots=True)
class Statement:
    """A step as it is written: the names as they are there, and the values of options."""

    targets: tuple[str, ...]
    call: Call
    values: Mapping[str, object]
    asked: str
