"""Search as a library: `search_hybrid` answers from the index beside this file."""

from .filters import Filters
from .results import Hit, SearchResponse
from .search import search_hybrid
from .state import load

__version__ = "0.1.0"

__all__ = ["Filters", "Hit", "SearchResponse", "__version__", "load", "search_hybrid"]
