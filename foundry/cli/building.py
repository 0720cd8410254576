"""The commands that build an index."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from foundry import pipeline
from foundry.building.options import BuildOptions, BuildResult, Changes
from foundry.cli.options import (
    allow_private_option,
    complain,
    flag,
    json_option,
    print_json,
    project_argument,
    quiet_option,
)
from foundry.progress import Reporter
from foundry.serving.options import Watched
from foundry.terminal import count_of

_NAMED_FOLDERS = 10
"""Maximum number of unwatched folders that are named; the rest are counted."""

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Worker processes that read documents.  [default: one per core]",
)


@click.command(short_help="Read what has changed and publish a new index.")
@project_argument
@jobs_option
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where to read, split and embed: on this machine or on a Ray cluster.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="The Ray cluster to use.  [default: RAY_ADDRESS]",
)
@allow_private_option
@flag("--fresh", "Read every document again, ignoring the cache.")
@flag("--strict", "Publish nothing if anything was skipped or looks like a secret.")
@json_option
@quiet_option
def build(project: Path, as_json: bool, quiet: bool, **chosen: Any) -> None:
    """Read what has changed in the sources and publish a new version of the index.

    The previous version stays in service until the new one is complete.
    """
    result = pipeline.build(project, Reporter(quiet=quiet), BuildOptions(**chosen))
    if as_json:
        values = asdict(result)
        report = values.pop("report")
        print_json({**values, "sources": report["sources"]})
        return
    show_result(result)


@click.command(short_help="Build now and after every change.")
@project_argument
@jobs_option
@allow_private_option
@quiet_option
def watch(project: Path, quiet: bool, **chosen: Any) -> None:
    """Build now and after every change, until Ctrl-C.

    Folders, tables and foundry.toml are watched. Websites and repositories are not: they are
    checked when something else changes. If a build fails, the previous index is kept.
    """
    outcomes = pipeline.watch(project, Reporter(quiet=quiet), BuildOptions(**chosen))
    click.echo(f"watching {project}; Ctrl-C ends it")
    try:
        for outcome in outcomes:
            if isinstance(outcome, BuildResult):
                click.echo(describe_outcome(outcome))
            elif isinstance(outcome, Watched):
                show_watched(outcome)
            else:
                hint = getattr(outcome, "hint", None)
                complain(f"{time.strftime('%H:%M:%S')} not built", str(outcome), hint)
    except KeyboardInterrupt:
        click.echo("stopped; the last published index is kept")


def show_result(result: BuildResult, *, adopted: bool = False) -> None:
    """Print the results of a build: counts, how queries are embedded, results per source.

    If `adopted`, the messages do not refer to a foundry.toml, because there is none.
    """
    from foundry.building.report_text import format_report

    click.echo(
        f"{_contents(result)} in {result.seconds:.1f} s"
        f" -> {result.index}{' (unchanged)' if result.unchanged else ''}"
    )
    click.echo(_describe(result.changes))
    file = f"{result.index}/report.json"
    if result.queries and result.queries.encoder != "own":
        how = {
            "distilled": "a table distilled from the model; the server needs numpy alone",
            "same": "the model itself, in the server or over its API",
        }[result.queries.encoder]
        click.echo(f"queries are embedded by {how} ({result.queries.reason})")
    if result.refused:
        click.echo(
            f"{count_of(result.refused, 'chunk')} without a vector, because the model refused the"
            f" text (listed in {file})"
        )
    click.echo(format_report(result.report, result.changes.seconds, file, adopted=adopted))


def describe_outcome(outcome: BuildResult) -> str:
    """Describe a build on one line, with the time of day."""
    now = time.strftime("%H:%M:%S")
    if outcome.unchanged:
        return f"{now} nothing has changed: {count_of(outcome.documents, 'document')}"
    described = _describe(outcome.changes)
    return f"{now} {_contents(outcome)} in {outcome.seconds:.1f} s: {described}"


def show_watched(watched: Watched) -> None:
    """Print how many folders are watched, and which cannot be."""
    now = time.strftime("%H:%M:%S")
    for skipped in watched.left[:_NAMED_FOLDERS]:
        place = f"{skipped.source}: {skipped.path}"
        complain(f"{now} not watched", f"{place}: {skipped.detail}", None)
    if (more := len(watched.left) - _NAMED_FOLDERS) > 0:
        complain(f"{now} not watched", f"{count_of(more, 'other folder')}", None)
    if watched.reason:
        others = f"{watched.found - watched.watched:,} of {count_of(watched.found, 'folder')}"
        hint = "the next build picks up changes there"
        complain(f"{now} not watched", f"{others}: {watched.reason}", hint)
    click.echo(f"{now} watching {count_of(watched.watched, 'folder')}")


def _contents(result: BuildResult) -> str:
    return f"{count_of(result.documents, 'document')}, {count_of(result.chunks, 'chunk')}"


def _describe(changes: Changes) -> str:
    pages = "".join(
        f"\n{name}: {found['fetched']:,} fetched, {found['unchanged']:,} not modified"
        for name, found in changes.web.items()
    )
    why = ""
    if changes.outdated:
        why = (
            f"\n{count_of(changes.outdated, 'document')} read again although unchanged, because"
            " Foundry, its libraries or an option for preparing documents has changed"
        )
    return (
        f"{changes.read:,} read, {changes.reused:,} unchanged, {changes.removed:,} removed;"
        f" {count_of(changes.embedded, 'chunk')} embedded{why}{pages}"
    )
