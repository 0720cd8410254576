"""Options that several commands have, and functions that print messages and JSON.

Modules that few commands need are imported inside the functions.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from foundry.terminal import printable

Decorated = TypeVar("Decorated", bound=Callable[..., object] | click.Command)


def flag(name: str, said: str, *names: str) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds a flag.

    `names` are further spellings, or the parameter's name.
    """
    return click.option(name, *names, is_flag=True, help=said)


project_argument = click.argument(
    "project", metavar="[PROJECT_DIR]", default=".", type=click.Path(path_type=Path)
)
json_option = flag("--json", "Print the result as JSON.", "as_json")


def _silence(context: click.Context, _: click.Parameter, quiet: bool) -> bool:
    if quiet:
        from foundry.progress import silenced_libraries

        context.with_resource(silenced_libraries())
    return quiet


quiet_option = click.option(
    "--quiet",
    is_flag=True,
    callback=_silence,
    help="Hide progress and the log messages of libraries.",
)


def _check_hosts(_: click.Context, __: click.Parameter, hosts: tuple[str, ...]) -> tuple[str, ...]:
    from foundry.urls import UrlError, parse_host_and_port

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
    """Print a warning and its remedy."""
    complain("warning", message, hint)


def complain(kind: str, message: str, hint: str | None) -> None:
    """Print a message and its hint, if any, to standard error.

    `kind` is a word such as "warning".
    """
    said = f"{kind}: {message}\nhint: {hint}" if hint else f"{kind}: {message}"
    for line in said.split("\n"):
        click.echo(printable(line), err=True)


def print_json(value: object) -> None:
    """Print a value as JSON."""
    # Imported when needed, like `format_report`: importing NumPy takes longer than showing help.
    from foundry.runtime.json_text import format_json

    click.echo(format_json(value, indent=2))
