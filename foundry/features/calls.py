"""Declares calls of the runtime, which templates render as Python."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, Union

Argument: TypeAlias = Union[str, "Imported", "Call", tuple["Call", ...]]
"""A local name, an imported name, another call, or a tuple of calls."""

ASKED = "asked"
"""Placeholder for the variable that contains the query as the caller typed it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A name in a runtime module, or an attribute of it."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function.

    Attributes:
        module: The function's module below the package; empty for a local name.
        function: The function's name; for a method, with the name of its object before it.
        arguments: Positional arguments.
        options: Keys of the table that are passed by name.
    """

    module: str
    function: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[str, ...] = ()

    def parts(self) -> Iterator["Call | Imported | str"]:
        """Yield the call itself and its arguments, including arguments of nested calls."""
        yield self
        for argument in self.arguments:
            for each in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(each, Call):
                    yield from each.parts()
                else:
                    yield each

    def names(self) -> set[str]:
        """Return the names among the call's arguments."""
        return {each for each in self.parts() if isinstance(each, str)}


def imports_of(argument: Argument) -> Iterator[tuple[str, str]]:
    """Yield the imports that an argument needs: a module below the package, and a name in it."""
    for value in argument if isinstance(argument, tuple) else (argument,):
        for each in value.parts() if isinstance(value, Call) else (value,):
            if isinstance(each, Call) and each.module:
                yield each.module, each.function.partition(".")[0]
            elif isinstance(each, Imported):
                yield each.module, each.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Statement:
    """An argument to render, the variables that it is assigned to, and the values of options.

    `asked` is the variable that ASKED stands for.
    """

    targets: tuple[str, ...]
    value: Argument
    values: Mapping[str, object]
    asked: str = ""
