"""Options that commands share, and how results for programs are printed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from foundry.progress import silenced_libraries
from foundry.terminal import printable
from foundry.urls import UrlError, parse_host_and_port

Decorated = TypeVar("Decorated", bound=Callable[..., object] | click.Command)


def flag(name: str, said: str, *names: str) -> Callable[[Decorated], Decorated]:
    """Return an option that is given or not; `names` are further ones, of its parameter."""
    return click.option(name, *names, is_flag=True, help=said)


project_argument = click.argument(
    "project", metavar="[PROJECT_DIR]", default=".", type=click.Path(path_type=Path)
)
json_option = flag("--json", "Print the result as JSON.", "as_json")


def _silence(context: click.Context, _: click.Parameter, quiet: bool) -> bool:
    if quiet:
        context.with_resource(silenced_libraries())
    return quiet


quiet_option = click.option(
    "--quiet",
    is_flag=True,
    callback=_silence,
    help="Hide progress and the log messages of libraries.",
)


def _check_hosts(_: click.Context, __: click.Parameter, hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        try:
            parse_host_and_port(host)
        except UrlError as error:
            raise click.BadParameter(str(error)) from None
    return hosts


allow_private_option = click.option(
    "--allow-private",
    metavar="HOST",
    multiple=True,
    callback=_check_hosts,
    help="A host, such as docs.internal or 127.0.0.1:8000, that sources may reach although its"
    " address is private; may be repeated.",
)

stale_option = flag(
    "--stale", "Use the index although foundry.toml has changed since it was built."
)


def warn(message: str, hint: str) -> None:
    """Print a warning that stops nothing, and what would make it go away."""
    complain("warning", message, hint)


def complain(kind: str, message: str, hint: str | None) -> None:
    """Print what is wrong, and the remedy if there is one, to standard error."""
    said = f"{kind}: {message}\nhint: {hint}" if hint else f"{kind}: {message}"
    for line in said.split("\n"):
        click.echo(printable(line), err=True)


def print_json(value: object) -> None:
    """Print a value for programs."""
    # Imported when needed, as `format_report` is: with NumPy, it takes longer than to show help.
    from foundry.runtime.cli import format_json

    click.echo(format_json(value, indent=2))
