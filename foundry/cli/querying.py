"""The command that searches a project's index."""

import os
from pathlib import Path
from shlex import quote
from typing import Any

import click

from foundry import pipeline
from foundry.cli.options import flag, warn


class _QueryCommand(click.Command):
    """Explains how to search for a query that looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            said = f"{error.format_message()} Put -- before a query that begins with a dash."
            raise click.UsageError(said, ctx) from None


@click.command(cls=_QueryCommand, short_help="Search the index.")
@click.argument("words", metavar="[PROJECT_DIR] QUERY", nargs=-1, required=True)
@click.option(
    "--top-k",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Maximum number of results.",
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "keyword"]),
    show_default="hybrid",
    help="Search by keywords, by meaning (semantic), or by both (hybrid).",
)
@click.option("--source", multiple=True, help="Only results from this source; may be repeated.")
@click.option("--tag", multiple=True, help="Only results with this tag; may be repeated.")
@click.option(
    "--modified-after", metavar="DATE", help="Only results modified on this date or later."
)
@click.option("--modified-before", metavar="DATE", help="Only results modified before this date.")
@click.option(
    "--filter",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only results with this path, media_type or metadata value; may be repeated.",
)
@flag("--json", "Print the response of POST /search.", "as_json")
@flag("--explain", "Explain the mode and each score.")
def query(words: tuple[str, ...], as_json: bool, explain: bool, **chosen: Any) -> None:
    """Search the built index with the code of an exported server."""
    if as_json and explain:
        raise click.UsageError("--json already contains what --explain shows; give one of them")
    if len(words) == 1 and Path(words[0], "foundry.toml").is_file():
        asked = f'foundry query {quote(words[0])} "what to look for"'
        raise click.UsageError(f"{words[0]} is a project, but the query is missing: {asked}")
    if len(words) > 2:
        raise click.UsageError("give one query; put it in quotes if it has several words")
    try:
        # The argument's bytes are checked, since the locale may not be UTF-8.
        os.fsencode(words[-1]).decode()
    except UnicodeError:
        raise click.UsageError("the query is not valid UTF-8") from None
    project = Path(words[0] if len(words) == 2 else ".")
    arguments = []
    for name, given in chosen.items():
        values = given if isinstance(given, tuple) else [given]
        for value in values:
            if value is not None:
                arguments += [f"--{name.replace('_', '-')}", str(value)]
    arguments += ["--json"] if as_json else []
    arguments += ["--explain"] if explain else []
    click.echo(pipeline.query(project, [*arguments, "--", words[-1]], warn), nl=False)
