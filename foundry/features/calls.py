"""Calls of the runtime as declarations name them; templates write them as Python."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, Union

Argument: TypeAlias = Union[str, "Imported", "Call", tuple["Call", ...]]
"""A name that is known where the call stands, an imported one, another call, or a list of calls."""

ASKED = "asked"
"""Stands for the name of the query in the words of the person who asks."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Something that a module of the runtime defines, or an attribute of it."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function.

    Attributes:
        module: Its module below the package; empty for what is known where the call stands.
        function: Its name, or that of a method after the name of its object.
        arguments: What is passed by position.
        options: Keys of the table that are passed by name.
    """

    module: str
    function: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[str, ...] = ()

    def parts(self) -> Iterator["Call | Imported | str"]:
        """Yield the call itself, and what it is given, that of calls among it too."""
        yield self
        for argument in self.arguments:
            for each in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(each, Call):
                    yield from each.parts()
                else:
                    yield each

    def names(self) -> set[str]:
        """Return the names that it is given."""
        return {each for each in self.parts() if isinstance(each, str)}


def imports_of(argument: Argument) -> Iterator[tuple[str, str]]:
    """Yield what an argument needs: a module below the package, and a name that it defines."""
    for value in argument if isinstance(argument, tuple) else (argument,):
        for each in value.parts() if isinstance(value, Call) else (value,):
            if isinstance(each, Call) and each.module:
                yield each.module, each.function.partition(".")[0]
            elif isinstance(each, Imported):
                yield each.module, each.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Statement:
    """An argument as it is written: what gets its value, and the values of options."""

    targets: tuple[str, ...]
    value: Argument
    values: Mapping[str, object]
    asked: str = ""
