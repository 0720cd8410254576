"""Models of the tools' arguments."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from ..web.requests import RequestModel, SearchArguments


class SearchToolRequest(SearchArguments):
    """The arguments of search."""

    model_config = ConfigDict(title="SearchArguments")

    # `list_tools` replaces this with the filters of the index.
    filters: Annotated[
        dict[str, Any] | None, Field(description="Filters that a passage must pass.")
    ] = None


class FetchRequest(RequestModel):
    """The arguments of fetch."""

    id: Annotated[str, Field(min_length=1, max_length=4_096, description="As returned by search.")]


class ListSourcesRequest(RequestModel):
    """The arguments of list_sources: none."""


MODELS: Mapping[str, type[RequestModel]] = {
    "search": SearchToolRequest,
    "fetch": FetchRequest,
    "list_sources": ListSourcesRequest,
}
"""The models of arguments, by tool name."""
