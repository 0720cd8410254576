"""Search as a library: `search_hybrid` answers from the index beside this file."""

from .custom import HOOKS
from .filters import Filters
from .hooks import with_hooks
from .results import Hit, SearchResponse
from .search import search_hybrid as _search_hybrid
from .state import load

__version__ = "0.1.0"

search_hybrid = with_hooks(_search_hybrid, HOOKS)

__all__ = ["Filters", "Hit", "SearchResponse", "__version__", "load", "search_hybrid"]
