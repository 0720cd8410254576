"""Fixed text of a feature with places for values, and the lines of Python that a feature adds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text of Foundry's own with `{key}` where a value goes, as `str.format` has it.

    Values are numbers, booleans and slugs, or lists of them; rendering refuses any other.
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict)


class Place(Enum):
    """A place in a rendered module where steps go, with the names that they find there.

    The value is the module, and the word by which its template knows the place.
    """

    START = ("app", "start")
    """While the application is composed: `app`, `chosen`."""

    ANSWER = ("app", "answer")
    """After the routes of the search: `search`, which may be awaited, besides."""

    OFFER = ("app", "offer")
    """After the routes of documents, health and metrics, the same."""

    SURROUND = ("app", "surround")
    """After the checks that every request passes, so around them: the same."""


@dataclass(frozen=True, slots=True)
class Step:
    """Lines of Python at a place of a rendered module.

    Attributes:
        place: Where they go.
        imports: What they need: module below the package -> names.
        code: The lines; values come from the keys of the stage's section.
        values: Values that are not keys of the section.
        readme: An entry of the list of steps in the server's README.
    """

    place: Place
    imports: Mapping[str, tuple[str, ...]]
    code: str
    values: Mapping[str, object] = field(default_factory=dict)
    readme: str = ""
