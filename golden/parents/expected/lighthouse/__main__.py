"""The command line; `lighthouse --help` describes it."""

import sys

from . import __version__
from .web.process import loading, share_counts


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from . import search_hybrid
        from .cli import run
        from .evaluation import add_eval

    return run(
        "lighthouse", __version__, search_hybrid, _serve, serve_mcp=_serve_mcp, more=[add_eval]
    )


def _serve(host: str, port: int, *, workers: int, insecure_no_auth: bool) -> None:
    # Imported when needed: the web framework takes longer to load than a search takes in all.
    share_counts(workers)
    with loading():
        from .app import create_app
        from .index.reloading import follow
        from .web.citations import announce
        from .web.observing import count_reload
        from .web.serving import serve

    serve(
        create_app,
        host,
        port,
        workers=workers,
        insecure_no_auth=insecure_no_auth,
        follow=lambda served: follow(served, count_reload),
        announce=announce,
    )


def _serve_mcp() -> None:
    with loading():
        from . import search_hybrid
        from .mcp.transports import serve_stdio
        from .retrieval.hybrid import weights
        from .retrieval.stages.parents import find_passage
        from .web.citations import public_url

    # Impossible variables are reported now, and not by the first search.
    public_url()
    weights()
    serve_stdio(search_hybrid, __version__, find_passage)


if __name__ == "__main__":
    sys.exit(main())
