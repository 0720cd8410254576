"""The commands that show the content of an index, and what is installed."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from foundry import pipeline
from foundry.cli.options import flag, json_option, print_json, project_argument
from foundry.terminal import count_of


@click.command(short_help="Show what the index contains.")
@project_argument
@flag("--documents", "List all documents.")
@click.option("--source", help="List the documents of this source.")
@click.option(
    "--path",
    metavar="PATTERN",
    help="List documents whose path matches; * matches any characters.",
)
@click.option("--document", metavar="ID_OR_PATH", help="Show one document and its chunks.")
@click.option("--chunk", metavar="ID", help="Show one chunk with its tokens and index terms.")
@flag("--synonyms", "List synonyms and acronyms.")
@click.option(
    "--left-out",
    metavar="[PATTERN]",
    is_flag=False,
    flag_value="*",
    help="Show which words of the documents are not in the index, and why.",
)
@json_option
def inspect(project: Path, as_json: bool, left_out: str | None, **chosen: Any) -> None:
    """Show what the built index contains: its statistics, documents or chunks."""
    from foundry.inspection.index import Selection

    if left_out is not None:
        if any(value not in (None, False) for value in chosen.values()):
            raise click.UsageError("--left-out cannot be combined with other options")
        for line in pipeline.inspect_left_out(project, left_out, as_json=as_json):
            click.echo(line)
        return
    given = {name for name, value in chosen.items() if value not in (None, False)}
    if len(given) > 1 and not given <= {"documents", "source", "path"}:
        raise click.UsageError(
            "--document, --chunk and --synonyms cannot be combined with other options"
        )
    selection = Selection(**chosen)
    for line in pipeline.inspect(project, selection, as_json=as_json):
        click.echo(line)


@click.command(short_help="Check the installation.")
@project_argument
@json_option
def doctor(project: Path, as_json: bool) -> None:
    """Report what is installed and whether it works, for example to paste into a request for help.

    In a project, its index is checked too. Packages, and extras and variables that the project does
    not use, are listed on one line for each group. The report contains no secrets: it only shows
    whether environment variables are set.
    """
    findings = pipeline.doctor(project, is_brief=not as_json)
    problems = [finding for finding in findings if finding.is_problem]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            mark = "!" if finding.is_problem else " "
            hint = f"  ({finding.hint})" if finding.hint else ""
            click.echo(f"{mark} {finding.subject:<{width}}  {finding.said}{hint}")
        click.echo(count_of(len(problems), "problem") if problems else "everything needed works")
    if problems:
        sys.exit(1)
