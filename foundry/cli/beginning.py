"""The `init` command."""

import sys
from pathlib import Path
from shlex import quote

import click

from foundry import pipeline
from foundry.cli.options import project_argument
from foundry.terminal import printable


@click.command(short_help="Inspect a source and write a foundry.toml for it.")
@project_argument
@click.option(
    "--source",
    help="What to index: a folder, a .csv or .jsonl table, or the url of a website, a sitemap or a"
    " git repository (ending in .git, or its page on GitHub, GitLab, Bitbucket or Codeberg).",
)
@click.option("--title", help="The title of the search page.  [default: the folder's name]")
@click.option("--description", help="One sentence on what the documents are about.")
@click.option(
    "--base-url",
    metavar="URL",
    help="Where the documents are published, so that results can link there.",
)
def init(
    project: Path,
    source: str | None,
    title: str | None,
    description: str | None,
    base_url: str | None,
) -> None:
    """Inspect a source and write a foundry.toml that is ready to build.

    On a terminal, it asks for a missing title or description.
    """
    if not source:
        raise click.UsageError(_ask_for_source(project))
    found = pipeline.survey(project, source)
    for line in found.describe():
        click.echo(printable(line))
    if is_terminal():
        if title is None:
            title = click.prompt("title", default=project.resolve().name)
        if description is None:
            description = click.prompt("description", default="", show_default=False)
    file = pipeline.init(project, found, title or "", description or "", base_url)
    options = "".join(f" --allow-private {quote(host)}" for host in found.allow_private)
    click.echo(f"{file} written; next: foundry build {quote(str(project))}{options}")


def is_terminal() -> bool:
    """Return whether the command runs on a terminal, where it can ask questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_for_source(project: Path) -> str:
    folder = quote(str(project))
    if project.is_dir() and any(project.iterdir()):
        return (
            f"--source is missing; to index the files in {folder}:"
            f" foundry init {folder} --source {folder}"
        )
    return (
        "--source is missing: name the folder, table or url to index, as in"
        f" foundry init {folder} --source PATH"
    )
