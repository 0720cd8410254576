"""Search as a library: `search_hybrid` searches the index in this package."""

# `typing` also has this constant, but is slow to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import InvalidRequestError
    from .opening import load
    from .retrieval.results import Hit, SearchResponse
    from .search import search_hybrid

__all__ = ["Hit", "InvalidRequestError", "SearchResponse", "__version__", "load", "search_hybrid"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # Modules are loaded on first use, because every command imports this file first.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .custom import HOOKS
    from .errors import InvalidRequestError
    from .opening import load
    from .retrieval.hooks import with_hooks
    from .retrieval.results import Hit, SearchResponse
    from .search import search_hybrid

    search = with_hooks(search_hybrid, HOOKS)
    named = (Hit, InvalidRequestError, SearchResponse, load)
    globals().update({each.__name__: each for each in named}, search_hybrid=search)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
