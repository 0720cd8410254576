"""The command line; `harbour --help` describes it."""

import sys

from . import __version__
from .loading import loading


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from . import search_hybrid
        from .commands import run
        from .weights import trying_weight

    return run("harbour", __version__, search_hybrid, _serve, try_weight=trying_weight)


def _serve(host: str, port: int, *, workers: int, insecure_no_auth: bool) -> None:
    # Imported when needed: the web framework takes longer to load than a search takes in all.
    with loading():
        from .web_loading import load_fastapi

        load_fastapi()
        from .app import create_app
        from .web_serving import serve

    serve(create_app, host, port, workers=workers, insecure_no_auth=insecure_no_auth)


if __name__ == "__main__":
    sys.exit(main())
