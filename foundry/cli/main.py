"""The command line: parse, call one function of the pipeline, print."""

import io
import os
import sys
from pathlib import Path
from shlex import quote
from typing import Any

import click

import foundry
from foundry import pipeline
from foundry.cli.beginning import init
from foundry.cli.building import build, watch
from foundry.cli.evaluation import evaluate, questions
from foundry.cli.exports import export, publish, update, verify
from foundry.cli.inspection import doctor, inspect
from foundry.cli.options import complain, flag, warn
from foundry.cli.serving import serve
from foundry.errors import FoundryError
from foundry.runtime.errors import ConfigurationError, InvalidRequestError, ServerError

EXIT_CODES = """\b
Exit codes:
  0    done
  1    failed; the message says why and what to do
  2    foundry.toml or the command line is wrong
  3    updated, but conflicts or broken imports are left for you to resolve
  4    the project has templates of its own, and --trust was not given
  130  interrupted; the previous index or export is still there
"""


class _Boundary(click.Group):
    """Turns errors into messages and exit codes, for all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order of use."""
        return list(self.commands)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter  # noqa: ARG002
    ) -> None:
        """Write a section for each group."""
        width = max(map(len, self.commands))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                # Padded, so that the columns of all groups align.
                rows = [(f"{each.name:{width}}", each.get_short_help_str()) for each in commands]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            # File names may not be decodable, and a terminal may lack characters.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except (FoundryError, ServerError) as error:
            complain("error", error.message, error.hint)
            is_misasked = isinstance(error, ConfigurationError | InvalidRequestError)
            sys.exit(getattr(error, "exit_code", 2 if is_misasked else 1))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            place = f"{error.filename}: " if error.filename else ""
            complain(
                "error",
                f"{place}{error.strerror or error}",
                "check the path, permissions and space",
            )
            sys.exit(1)
        except KeyboardInterrupt:
            hint = "the previous index or export is still there"
            if ctx.invoked_subcommand == "build":
                hint += "; what was read is kept, and the next build continues from there"
            complain("error", "interrupted", hint)
            sys.exit(130)


@click.group(
    cls=_Boundary, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(foundry.__version__, prog_name="foundry")
def main() -> None:
    """Turn a folder of documents into a standalone search server.

    Start with: foundry serve FOLDER
    """


@main.command(short_help="Search the index.", context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="[PROJECT_DIR] QUERY", nargs=-1, required=True)
@click.option("--top-k", type=click.IntRange(1, 100), default=10, show_default=True)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "keyword"]),
    show_default="hybrid",
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
    """Ask the built index a question, using the server code of an export."""
    if as_json and explain:
        raise click.UsageError("--json already contains what --explain shows; give one of them")
    if len(words) == 1 and Path(words[0], "foundry.toml").is_file():
        asked = f'foundry query {quote(words[0])} "what to look for"'
        raise click.UsageError(f"{words[0]} is a project, but the query is missing: {asked}")
    if len(words) > 2:
        raise click.UsageError("give one query; put it in quotes if it has several words")
    try:
        # If the locale is not UTF-8, the argument has undecoded bytes.
        os.fsencode(words[-1]).decode()
    except UnicodeError:
        raise click.UsageError("the query is not valid UTF-8") from None
    project = Path(words[0] if len(words) == 2 else ".")
    arguments = []
    for name, given in chosen.items():
        values = given if isinstance(given, tuple) else [given] if given else []
        for value in values:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    arguments += ["--json"] if as_json else []
    arguments += ["--explain"] if explain else []
    click.echo(pipeline.query(project, [*arguments, "--", words[-1]], warn), nl=False)


GROUPS = {
    "Build and try": (init, serve, build, query),
    "Evaluate": (evaluate, questions, inspect),
    "Export": (export, update, verify),
    "Other commands": (watch, publish, doctor),
}
"""The commands, in the order of use."""

main.commands = {str(command.name): command for commands in GROUPS.values() for command in commands}
