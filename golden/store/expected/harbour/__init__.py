"""Search as a library: `search_hybrid` answers from the index beside this file."""

# As in `typing`, which takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .library import Filters, Hit, SearchResponse, load, search_hybrid

__all__ = ["Filters", "Hit", "SearchResponse", "__version__", "load", "search_hybrid"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # Loaded when first asked for: every command imports this file before it can do anything.
    if name in __all__:
        from . import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
