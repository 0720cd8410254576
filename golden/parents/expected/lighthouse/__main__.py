"""The command line; `lighthouse --help` describes it."""

import sys

from . import __version__
from .loading import loading


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from . import search_hybrid
        from .commands import run
        from .weights import trying_weight

    return run(
        "lighthouse",
        __version__,
        search_hybrid,
        _serve,
        serve_mcp=_serve_mcp,
        try_weight=trying_weight,
    )


def _serve(host: str, port: int, *, workers: int, insecure_no_auth: bool) -> None:
    # Imported when needed: the web framework takes longer to load than a search takes in all.
    with loading():
        from .web_loading import load_fastapi

        load_fastapi()
        from .app import create_app
        from .web_serving import serve

    serve(create_app, host, port, workers=workers, insecure_no_auth=insecure_no_auth)


def _serve_mcp() -> None:
    with loading():
        from . import search_hybrid
        from .mcp_stdio import serve_stdio
        from .weights import weights

    # What is wrong with them is said now, and not to whoever searches first.
    weights()
    serve_stdio(search_hybrid, __version__)


if __name__ == "__main__":
    sys.exit(main())
