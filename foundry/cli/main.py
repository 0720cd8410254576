"""The command line: parse, call one function of the pipeline, print."""

import io
import sys
from importlib import import_module
from typing import Any

import click

import foundry
from foundry.cli.options import complain
from foundry.errors import FoundryError
from foundry.runtime.errors import ConfigurationError, InvalidRequestError, ServerError

GROUPS = {
    "Build and try": {
        "init": "beginning",
        "serve": "serving",
        "build": "building",
        "query": "querying",
    },
    "Evaluate": {"eval": "evaluation", "questions": "evaluation", "inspect": "inspection"},
    "Export": {"export": "exports", "update": "exports", "verify": "exports"},
    "Other commands": {"watch": "building", "publish": "exports", "doctor": "inspection"},
}
"""The commands, in the order of use, and the modules that define them."""

MODULES = {name: module for modules in GROUPS.values() for name, module in modules.items()}

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
        return list(MODULES)

    def get_command(
        self, ctx: click.Context, cmd_name: str  # noqa: ARG002
    ) -> click.Command | None:
        """Import the module of a command and return the command; None if there is none."""
        return load_command(cmd_name) if cmd_name in MODULES else None

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter  # noqa: ARG002
    ) -> None:
        """Write a section for each group."""
        width = max(map(len, MODULES))
        for title, modules in GROUPS.items():
            with formatter.section(title):
                commands = map(load_command, modules)
                # Names are padded, so that the columns of all groups align.
                rows = [(f"{each.name:{width}}", each.get_short_help_str()) for each in commands]
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            # File names may be undecodable, and the locale may not be UTF-8.
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
            hint = "check the path, its permissions and the free disk space"
            complain("error", f"{place}{error.strerror or error}", hint)
            sys.exit(1)
        except KeyboardInterrupt:
            hint = "the previous index or export is still there"
            if ctx.invoked_subcommand == "build":
                hint += "; what was read is kept, and the next build continues from there"
            complain("error", "interrupted", hint)
            sys.exit(130)


def load_command(name: str) -> click.Command:
    """Import the module of a command, and return the command."""
    try:
        found = vars(import_module(f"foundry.cli.{MODULES[name]}")).values()
    except KeyboardInterrupt:
        complain("error", "interrupted", None)
        sys.exit(130)
    return next(each for each in found if isinstance(each, click.Command) and each.name == name)


@click.group(
    cls=_Boundary, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(foundry.__version__, prog_name="foundry")
def main() -> None:
    """Turn a folder of documents into a standalone search server.

    Start with: foundry serve FOLDER
    """
