"""The command publish: parse, call the pipeline, print."""

from dataclasses import asdict
from pathlib import Path

import click

from foundry import pipeline
from foundry.cli.options import (
    json_option,
    print_json,
    project_argument,
    quiet_option,
    stale_option,
)
from foundry.progress import Reporter
from foundry.stores.request import GRACE_SECONDS, PublishOptions


@click.command(short_help="Load the index into a search engine.")
@project_argument
@click.option("--again", is_flag=True, help="Load this version even if the engine has it already.")
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=GRACE_SECONDS,
    metavar="SECONDS",
    show_default=True,
    help="How long to keep a version after it was replaced; 0 drops it at once.",
)
@stale_option
@quiet_option
@json_option
def publish(
    project: Path, again: bool, grace: float, stale: bool, quiet: bool, as_json: bool
) -> None:
    """Load the built index into the search engine of [store], and switch to it.

    The engine's answers are compared with the index before the switch. If this command is
    interrupted, the previous version stays in service; run it again.
    """
    options = PublishOptions(again=again, grace=grace, stale=stale)
    done = pipeline.publish(project, Reporter(quiet=quiet), options)
    if as_json:
        print_json(asdict(done))
        return
    said = "loaded" if done.loaded else "was there already"
    click.echo(
        f"{done.engine}, {done.name}: index {done.version} {said}"
        f" ({done.chunks:,} chunks, {done.postings:,} postings)"
    )
    click.echo(f"recall@100 {done.recall:.4f}, scores differ by {done.difference:.1e} at most")
    if done.dropped:
        click.echo(f"dropped: {', '.join(done.dropped)}")
