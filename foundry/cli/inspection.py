"""The command that shows what is in an index."""

from pathlib import Path

import click

from foundry import pipeline
from foundry.cli.options import json_option, project_argument


@click.command(short_help="Show what the index contains.")
@project_argument
@click.option("--documents", is_flag=True, help="List all documents.")
@click.option("--source", help="List the documents of this source.")
@click.option(
    "--path",
    metavar="PATTERN",
    help="List documents whose path matches; * stands for any characters.",
)
@click.option("--document", metavar="ID_OR_PATH", help="Show one document and its chunks.")
@click.option("--chunk", metavar="ID", help="Show one chunk with its tokens and index terms.")
@click.option("--synonyms", is_flag=True, help="List synonyms and acronyms.")
@json_option
def inspect(
    project: Path,
    documents: bool,
    source: str | None,
    path: str | None,
    document: str | None,
    chunk: str | None,
    synonyms: bool,
    as_json: bool,
) -> None:
    """Show what the built index contains: its statistics, documents or chunks."""
    from foundry.inspection.index import Selection

    listed = documents or source is not None or path is not None
    if listed + (document is not None) + (chunk is not None) + synonyms > 1:
        raise click.UsageError("--document, --chunk and --synonyms stand alone; give one of them")
    selection = Selection(documents, source, path, document, chunk, synonyms)
    for line in pipeline.inspect(project, selection, as_json=as_json):
        click.echo(line)
