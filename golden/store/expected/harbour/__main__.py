"""The command line; `harbour --help` describes it."""

import sys
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from . import __version__
from .web.process import loading

if TYPE_CHECKING:
    from .cli import AddCommand, Search


def main() -> int:
    """Run one command and return its exit code."""
    with loading():
        from .cli import run

        commands = _commands()
    return run("harbour", __version__, _load_search, _serve, more=commands)


def _commands() -> "list[AddCommand]":
    from .evaluation.command import add_eval
    from .terminal import add_search
    from .web.workers import add_workers

    return [add_workers, add_search, add_eval]


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
        spread=partial(run_workers, chosen.workers) if chosen.workers > 1 else None,
    )


if __name__ == "__main__":
    sys.exit(main())
