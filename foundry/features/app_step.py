"""Steps of `create_app`: calls of the runtime at defined places."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from foundry.features.calls import Argument, Call

IN_THREADS, IN_EVENT_LOOP = "in_threads", "in_event_loop"
"""How searches run: in threads if they wait, in the event loop if they only compute."""


class AppPlace(Enum):
    """The places in `create_app`, in order; the value is the place's name in templates."""

    SETTING = "setting"
    """A keyword argument of the application; here and below, `chosen` has the settings."""

    START = "start"
    """Before the search exists; `app` exists here and at all later places."""

    WRAP = "wrap"
    """A function that wraps the search."""

    ANSWER = "answer"
    """After the search routes; `search` exists here and below, and is awaitable."""

    HEALTH = "health"
    """A keyword argument of the health routes."""

    OFFER = "offer"
    """After the health routes."""

    CHECK = "check"
    """A keyword argument of the middleware."""

    SURROUND = "surround"
    """Around the middleware."""


@dataclass(frozen=True, slots=True)
class AppStep:
    """A value at a place of `create_app`.

    Attributes:
        place: Its place.
        value: A call, or something imported.
        name: The keyword argument, or the variable that gets the value.
        values: The values of options of calls.
    """

    place: AppPlace
    value: Argument
    name: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)


def include(routes: Argument, place: AppPlace = AppPlace.ANSWER, **values: object) -> AppStep:
    """Return the step that adds routes to the application."""
    return AppStep(place, Call("", "app.include_router", (routes,)), values=values)
