"""The command line: parse, call one function of the pipeline, print."""

import io
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

import foundry
from foundry import pipeline
from foundry.building import BuildPlan
from foundry.errors import FoundryError
from foundry.progress import Reporter
from foundry.runtime.errors import ServerError

EXIT_CODES = """\b
Exit codes:
  0    done
  1    it cannot be done; the message says why and what to do
  2    foundry.toml or the command line is wrong
  130  interrupted; what was published before still stands
"""


class _Boundary(click.Group):
    """The one place where errors become messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            # Names of files need not be text, and a terminal need not know every character.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except (FoundryError, ServerError) as error:
            _complain(error.message, error.hint)
            sys.exit(getattr(error, "exit_code", 1))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            place = f"{error.filename}: " if error.filename else ""
            _complain(f"{place}{error.strerror or error}", "check the path, permissions and space")
            sys.exit(1)
        except KeyboardInterrupt:
            _complain("interrupted", "nothing was published; run the command again to go on")
            sys.exit(130)


def _complain(message: str, hint: str | None) -> None:
    click.echo(f"error: {message}", err=True)
    if hint:
        click.echo(f"hint: {hint}", err=True)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


_project = click.argument(
    "project", metavar="[PROJECT_DIR]", default=".", type=click.Path(path_type=Path)
)
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_quiet = click.option("--quiet", is_flag=True, help="Show no progress.")


@click.group(
    cls=_Boundary, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(foundry.__version__, prog_name="foundry")
def main() -> None:
    """Turn a folder of documents into a standalone search server.

    \b
    foundry init DOCS --source PATH   describe what is to be indexed
    foundry build DOCS                read, split, embed and index it
    foundry query DOCS "a question"   try it
    foundry export DOCS               write the server as a folder of your own
    """


@main.command()
@_project
@click.option(
    "--source",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of documents, or the .csv or .jsonl table, to index.",
)
def init(project: Path, source: Path) -> None:
    """Write a commented foundry.toml that builds as it is."""
    file = pipeline.init(project, source)
    click.echo(f"{file} written; next: foundry build {project}")


@main.command()
@_project
@click.option(
    "--dry-run", is_flag=True, help="Only say what would be read and embedded, and at what cost."
)
@_json
@_quiet
def build(project: Path, dry_run: bool, as_json: bool, quiet: bool) -> None:
    """Read the sources and publish a new version of the index.

    The version before it goes on serving until the new one is complete.
    """
    if dry_run:
        _show_plan(pipeline.dry_run(project, Reporter(quiet=quiet)), as_json=as_json)
        return
    result = pipeline.build(project, Reporter(quiet=quiet))
    if as_json:
        _print_json(asdict(result))
        return
    click.echo(
        f"{result.documents:,} documents, {result.chunks:,} chunks in {result.seconds:.1f} s"
        f" -> {result.index}{' (unchanged)' if result.unchanged else ''}"
    )
    if result.queries and result.queries.encoder != "own":
        how = {
            "distilled": "a table distilled from the model; the server needs numpy alone",
            "same": "the model itself, which the server has to reach",
        }[result.queries.encoder]
        click.echo(f"queries are embedded by {how} ({result.queries.reason})")
    if result.refused:
        click.echo(
            f"{result.refused:,} chunks have no vector, because the model refused them"
            f" (listed in {result.index}/report.json)"
        )
    _show_skipped(result.skipped, f"listed in {result.index}/report.json")


def _show_plan(plan: BuildPlan, *, as_json: bool) -> None:
    if as_json:
        _print_json(asdict(plan))
        return
    click.echo(f"{plan.documents:,} documents, {plan.chunks:,} chunks; nothing was built")
    if plan.embedding is not None:
        needed = plan.embedding
        cost = "" if needed.cost is None else f", costs about {needed.cost:,.4f}"
        click.echo(
            f"to embed: {needed.to_embed:,} texts of about {needed.tokens:,} tokens{cost};"
            f" {needed.cached:,} are known from before"
        )
    if plan.training_texts:
        click.echo(f"to train the query encoder: at most {plan.training_texts:,} short texts more")
    _show_skipped(plan.skipped, "not read")


def _show_skipped(reasons: dict[str, int], where: str) -> None:
    if reasons:
        click.echo(f"{sum(reasons.values()):,} skipped ({where}):")
        for reason, count in sorted(reasons.items(), key=lambda entry: -entry[1]):
            click.echo(f"  {count:>6,}  {reason}")


@main.command(context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="[PROJECT_DIR] QUERY", nargs=-1, required=True)
@click.option("--top-k", type=click.IntRange(1, 100), default=10, show_default=True)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "keyword"]),
    default="hybrid",
    show_default=True,
)
@click.option("--source", multiple=True, help="Only from this source; may be repeated.")
@click.option("--tag", multiple=True, help="Only with this tag; may be repeated.")
@click.option("--modified-after", metavar="DATE", help="Only modified then or later.")
@click.option("--modified-before", metavar="DATE", help="Only modified earlier.")
@click.option("--json", "as_json", is_flag=True, help="Print what POST /search answers.")
def query(
    words: tuple[str, ...],
    top_k: int,
    mode: str,
    source: tuple[str, ...],
    tag: tuple[str, ...],
    modified_after: str | None,
    modified_before: str | None,
    as_json: bool,
) -> None:
    """Ask the built index a question, through the server that an export would be."""
    if len(words) > 2:
        raise click.UsageError("give one query; put it in quotes if it has several words")
    project = Path(words[0] if len(words) == 2 else ".")
    arguments = ["--top-k", str(top_k), "--mode", mode]
    for option, values in (
        ("--source", source),
        ("--tag", tag),
        ("--modified-after", [modified_after] if modified_after else []),
        ("--modified-before", [modified_before] if modified_before else []),
    ):
        arguments += [part for value in values for part in (option, value)]
    arguments += ["--json"] if as_json else []
    click.echo(pipeline.query(project, [*arguments, "--", words[-1]]), nl=False)


@main.command()
@_project
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="The folder to write.  [default: PROJECT_DIR/dist/NAME]",
)
@click.option(
    "--force",
    is_flag=True,
    help="Export over edited files (kept as .orig) and beside added ones (kept as they are).",
)
@_json
def export(project: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Write the server as one folder to read, run, edit and deploy."""
    target = pipeline.export(project, output, force=force)
    if as_json:
        _print_json({"export": str(target)})
    else:
        click.echo(f"{target} written; its README.md says how to run it")


@main.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@_json
def verify(folder: Path, as_json: bool) -> None:
    """Check every hash of an export, or of a project's index and its export.

    An export is also asked questions that its index must be able to answer.
    """
    checked = pipeline.verify(folder)
    if as_json:
        _print_json(checked)
    else:
        for entry in checked:
            click.echo(f"ok: {entry.get('export') or entry.get('index')}")
