"""The command that serves a project on this machine."""

import time
from contextlib import closing
from shlex import quote
from typing import Any

import click

from foundry import pipeline
from foundry.building.options import BuildResult
from foundry.cli.building import describe_outcome, show_result, show_watched
from foundry.cli.options import allow_private_option, flag
from foundry.progress import Reporter
from foundry.serving.options import Adopted, Listening, ServeOptions, Watched
from foundry.terminal import printable


@click.command(short_help="Build an index and serve it with a search page.")
@click.argument("source", metavar="[PROJECT_DIR|FOLDER|FILE|URL]", default=".", type=click.Path())
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port; 0 for any free one.  [default: that of foundry.toml, or 8000]",
)
@allow_private_option
@flag("--open", "Open the page in a browser.", "opens")
@flag("--no-watch", "Build once; ignore later changes.")
@flag(
    "--insecure-no-auth", "Listen on an address that other machines can reach, without API_TOKENS."
)
def serve(source: str, opens: bool, no_watch: bool, **chosen: Any) -> None:
    """Build an index and serve it, with every interface of an export, until Ctrl-C.

    After a change, the index is rebuilt and replaced while the server keeps answering. A file,
    a url, or a folder without a foundry.toml is served with the default options, and nothing is
    written into that folder.
    """
    options = ServeOptions(**chosen, watch=not no_watch)
    adopted = is_listening = False
    built: BuildResult | None = None
    try:
        with closing(pipeline.serve(source, Reporter(), options, _say)) as events:
            for event in events:
                if isinstance(event, Adopted):
                    _show_adopted(event)
                    adopted = True
                elif isinstance(event, Listening):
                    if built and not is_listening:
                        _show_left_out(built, adopted)
                    _show_address(event)
                    if opens and not is_listening:
                        _open_page(event.address)
                    is_listening = True
                elif isinstance(event, BuildResult):
                    if built is None:
                        show_result(event, adopted=adopted)
                    elif not event.unchanged:
                        click.echo(describe_outcome(event))
                    built = built or event
                elif isinstance(event, Watched):
                    show_watched(event)
                else:
                    _show_failure(event)
    except KeyboardInterrupt:
        if not is_listening:
            raise
        click.echo("stopped")


def _show_adopted(adopted: Adopted) -> None:
    click.echo(
        f"{printable(adopted.source)} has no foundry.toml: it is served with the defaults, and its"
        f" index is in {printable(str(adopted.project))}\n"
        f"to keep it as a project: foundry init NAME --source {printable(quote(adopted.lasting))}"
    )
    if adopted.versions:
        undo = (
            "to undo it, keep it as a project, and remove [search.versions] from its foundry.toml"
        )
        click.echo(f"{printable(adopted.versions)}; {undo}")


def _show_left_out(result: BuildResult, adopted: bool) -> None:
    from foundry.building.report_text import sum_up_left_out

    for line in sum_up_left_out(result.report, adopted=adopted):
        click.echo(printable(line))


def _show_address(listening: Listening) -> None:
    if listening.again:
        click.echo(
            f"{time.strftime('%H:%M:%S')} foundry.toml has changed: a new server has started"
        )
    click.echo(f"listening on {listening.address}; Ctrl-C ends it")


def _show_failure(error: Exception) -> None:
    """Print on one line why nothing was built or started."""
    said = [line.strip() for line in str(error).splitlines()]
    hint = getattr(error, "hint", None)
    line = " ".join([*said, *([f"(hint: {hint})"] if hint else [])])
    now = time.strftime("%H:%M:%S")
    click.echo(printable(f"{now} the previous version stays in service: {line}"), err=True)


def _say(line: str) -> None:
    click.echo(printable(f"{time.strftime('%H:%M:%S')} server: {line}"), err=True)


def _open_page(address: str) -> None:
    import webbrowser

    # A browser cannot open 0.0.0.0 or ::, but it can open the loopback address.
    webbrowser.open(address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"))
