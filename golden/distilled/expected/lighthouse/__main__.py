"""The command line; `lighthouse --help` describes it."""

import sys
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from . import __version__
from .web.process import loading

if TYPE_CHECKING:
    from .cli import AddCommand, Search


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from .cli import run

        commands = _commands()
    return run("lighthouse", __version__, _load_search, _serve, more=commands)


def _commands() -> "list[AddCommand]":
    if sys.argv[1:] == ["mcp"]:
        # An assistant waits for the first response, which does not need the other commands.
        return [add_mcp]
    from .evaluation.command import add_eval
    from .terminal import add_search
    from .web.workers import add_workers

    return [add_mcp, add_workers, add_search, add_eval]


def _load_search() -> "Search":
    with loading():
        from . import search_hybrid
    return search_hybrid


def _serve(chosen: Namespace) -> None:
    # Imported late, since importing the web framework takes longer than a whole search.
    from .web.workers import run_workers, share_counts

    share_counts(chosen.workers)
    with loading():
        from .app import create_app
        from .index.reloading import follow
        from .web.access import TOKENS_HINT, read_tokens
        from .web.citations import announce
        from .web.observing import count_reload
        from .web.serving import serve

    serve(
        create_app,
        chosen.host,
        chosen.port,
        has_tokens=bool(read_tokens()),
        tokens_hint=TOKENS_HINT,
        insecure_no_auth=chosen.insecure_no_auth,
        grace=chosen.grace,
        follow=lambda served: follow(served, count_reload),
        announce=announce,
        spread=partial(run_workers, chosen.workers) if chosen.workers > 1 else None,
    )


def add_mcp(commands: Any) -> None:
    """Add the command `mcp`."""
    about = "serve an MCP client over standard input and output"
    commands.add_parser("mcp", help=about).set_defaults(serve=_serve_mcp)


def _serve_mcp(_chosen: Namespace) -> None:
    with loading():
        from .mcp.stdio import serve_stdio

    serve_stdio(_load_for_mcp, __version__)


def _load_for_mcp() -> "Search":
    with loading():
        from . import load, search_hybrid
        from .retrieval.hybrid import weights
        from .web.citations import public_url

        # Report invalid variables now instead of in the first search.
        public_url()
        weights()
        load()
    return search_hybrid


if __name__ == "__main__":
    sys.exit(main())
