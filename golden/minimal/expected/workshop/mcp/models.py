"""Models of the arguments of tools."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from ..web.requests import RequestModel, SearchArguments


class SearchToolRequest(SearchArguments):
    """What to search for."""

    model_config = ConfigDict(title="SearchArguments")

    # `list_tools` describes what an index can be filtered by.
    filters: Annotated[dict[str, Any] | None, Field(description="What a passage must have.")] = None


class FetchRequest(RequestModel):
    """The arguments of fetch."""

    id: Annotated[str, Field(min_length=1, max_length=4_096, description="As search returns it.")]


class ListSourcesRequest(RequestModel):
    """The arguments of list_sources: none."""


MODELS: Mapping[str, type[RequestModel]] = {
    "search": SearchToolRequest,
    "fetch": FetchRequest,
    "list_sources": ListSourcesRequest,
}
"""The models of arguments, by tool."""
