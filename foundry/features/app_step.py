"""What is added to `create_app`: calls of the runtime at places of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from foundry.features.calls import Argument, Call

IN_THREADS, IN_EVENT_LOOP = "in_threads", "in_event_loop"
"""What runs searches: those that wait for others, and those that only compute."""


class AppPlace(Enum):
    """A place in `create_app` for steps, in their order; the value is what templates call it."""

    SETTING = "setting"
    """A named argument of the application; `chosen` are the settings, there as everywhere."""

    START = "start"
    """Before there is a search, with `app`, there as in all that follow."""

    WRAP = "wrap"
    """A function that gets the search and returns one that does more."""

    ANSWER = "answer"
    """After the routes of the search, with `search`, which may be awaited, as below."""

    HEALTH = "health"
    """A named argument of the routes that tell how the server is."""

    OFFER = "offer"
    """After these routes."""

    CHECK = "check"
    """A named argument of what every request passes."""

    SURROUND = "surround"
    """After that, so around it."""


@dataclass(frozen=True, slots=True)
class AppStep:
    """A value at a place of `create_app`.

    Attributes:
        place: Where it stands.
        value: A call, or something imported.
        name: The argument that it is, or the variable that gets it.
        values: The values of options of calls.
    """

    place: AppPlace
    value: Argument
    name: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)


def include(routes: Argument, place: AppPlace = AppPlace.ANSWER, **values: object) -> AppStep:
    """Return the step that adds routes to the application."""
    return AppStep(place, Call("", "app.include_router", (routes,)), values=values)
