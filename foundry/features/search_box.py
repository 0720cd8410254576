"""Declares the search box for other sites."""

from collections.abc import Collection, Iterator, Sequence

from foundry.features.app_step import AppPlace, AppStep, include
from foundry.features.calls import Call, Imported
from foundry.features.feature import Strings, Table
from foundry.features.operation import Callers, Interface
from foundry.features.stages.reading import Suggestions
from foundry.urls import UrlError, parse_url


class SearchBoxKeys(Table):
    """Keys of the search box.

    Attributes:
        search_box: Whether `/search.js` adds a search box to pages of other sites.
        allowed_origins: The origins of those sites, such as `https://docs.example.com`.
    """

    search_box: bool = False
    allowed_origins: Strings = ()


class SearchBox(Interface):
    """A script that opens a search dialog on pages of other sites."""

    name = "search_box"
    keys = SearchBoxKeys
    # Results without their own url link to the page of their document.
    needs = ("page",)
    files = ("tests/test_search_box.py",)
    contents = (("{package}/page/box.js", "the search box for other sites"),)
    settings = ("allowed_origins",)
    environment = ("search_box",)
    section = "search_box"

    def open(self, chosen: Collection[str], words: str | None) -> Iterator[AppStep]:
        """Yield the search box's routes, and the checks for pages of other sites."""
        del words
        sites, suggests = "web.sites", Suggestions.name in chosen
        routes = Call(sites, "box_routes", options=("suggestions",))
        yield include(routes, AppPlace.OFFER, suggestions=suggests)
        tokens = (Call("web.access", "read_tokens"),) if Callers.name in chosen else ()
        asking = (Imported(sites, "ForSites"), Call(sites, "Sites.read", tokens))
        yield AppStep(AppPlace.SURROUND, Call("", "app.add_middleware", asking))


def find_problems(origins: Sequence[str]) -> Iterator[str]:
    """Yield problems of a search box's origins, with key paths."""
    if not origins:
        yield (
            "server.allowed_origins: is empty, so no site may search; add one, such as"
            ' "https://docs.example.com"'
        )
    for number, written in enumerate(origins):
        key = f"server.allowed_origins[{number}]"
        if "*" in written or written == "null":
            yield f"{key}: {written!r} allows pages from any site; list each origin"
            continue
        try:
            origin = parse_url(written).origin
        except UrlError as error:
            # The value is not quoted, because it may contain a password.
            yield f"{key}: {error.reason}; write scheme and host, such as https://docs.example.com"
            continue
        if written != origin:
            yield f"{key}: {written!r} is not an origin as browsers send it; write {origin!r}"
