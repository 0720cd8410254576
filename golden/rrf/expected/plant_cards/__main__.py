"""The command line; `houseplants --help` describes it."""

import sys

from . import __version__
from .web.process import loading, shared_counts


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from . import search_hybrid
        from .cli import run

    return run("houseplants", __version__, search_hybrid, _serve)


def _serve(host: str, port: int, *, workers: int, insecure_no_auth: bool) -> None:
    # Imported when needed: the web framework takes longer to load than a search takes in all.
    with shared_counts(workers):
        with loading():
            from .app import create_app
            from .web.serving import serve

        serve(create_app, host, port, workers=workers, insecure_no_auth=insecure_no_auth)


if __name__ == "__main__":
    sys.exit(main())
