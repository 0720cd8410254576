"""What this package offers to Python: the search with the hooks of `custom` around it."""

from .custom import HOOKS
from .opening import load, served
from .retrieval.filters import Filters
from .retrieval.hooks import with_hooks
from .retrieval.results import Hit, SearchResponse
from .search import search_hybrid as _search_hybrid

__all__ = ["Filters", "Hit", "SearchResponse", "load", "search_hybrid"]

search_hybrid = with_hooks(served.explaining(_search_hybrid), HOOKS)
