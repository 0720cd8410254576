"""The commands export, update, verify and publish."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from foundry import pipeline
from foundry.cli.options import (
    complain,
    flag,
    json_option,
    print_json,
    project_argument,
    quiet_option,
    stale_option,
    warn,
)
from foundry.progress import Reporter
from foundry.stores.options import GRACE_SECONDS, PublishOptions
from foundry.terminal import count_of, printable

UNSETTLED = 3
"""Exit code of an update that leaves conflicts for the owner."""

_trust = flag("--trust", "Run the project's own templates ([export] templates), which are code.")

_SAID = {
    "conflicts": "conflict, marked in the file; keep the lines that you want, delete the markers",
    "beside": "not merged; copy what you need from the new .new file next to it, then delete that",
    "merged": "merged",
    "kept": "kept as you edited it",
    "went": "kept, though no longer part of the export; its code is now {}: move your edit there",
    "orphaned": "kept, though no longer part of the export; delete it if you do not need it",
    "deleted": "stays deleted",
    "removed": "removed, no longer part of the export",
    "added": "added",
    "replaced": "replaced",
}
"""Messages about updated files, most important first; {} is the new location of the code."""

_COUNTED = {"replaced": "replaced", "added": "added"}
"""Messages about files that are only counted; a dry run lists each of them."""


@click.command(short_help="Write the server to a folder.")
@project_argument
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write.  [default: PROJECT_DIR/dist/NAME]",
)
@flag("--force", "Overwrite edited files (kept as .orig); files that you added are kept.")
@flag("--check", "Write nothing; fail with a diff if the export is out of date.")
@flag("--explain", "Write nothing; explain why each file is part of the export.")
@stale_option
@_trust
@json_option
def export(
    project: Path,
    output: Path | None,
    force: bool,
    check: bool,
    explain: bool,
    as_json: bool,
    **chosen: bool,
) -> None:
    """Write the server to a folder that you can read, run, edit and deploy."""
    if check and force:
        raise click.UsageError("--check writes nothing, so --force does nothing; leave it out")
    if explain:
        if check or force or output:
            raise click.UsageError(
                "--explain only lists files; leave out --check, --force and --output"
            )
        said = pipeline.explain_export(project, **chosen)
        if as_json:
            print_json(said)
            return
        for path, reason in said.items():
            click.echo(f"{path}\n    {reason}")
        return
    if check:
        _check(pipeline.check_export(project, output, **chosen), as_json=as_json)
        return
    target = pipeline.export(project, output, warn, force=force, **chosen)
    if as_json:
        print_json({"export": str(target)})
    else:
        click.echo(f"{target} written; its README.md says how to run it")


def _check(differences: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"differences": differences})
    elif differences:
        click.echo(differences, nl=False)
    else:
        click.echo("ok: the export is up to date")
    if differences:
        complain(
            "error",
            "the export is out of date",
            "foundry update merges edits, foundry export replaces the folder",
        )
        sys.exit(1)


@click.command(short_help="Update an export and keep your edits.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The project that the export came from.  [default: the nearest one above DIR]",
)
@flag("--dry-run", "Only report what would happen to each file.")
@flag("--force", "Update although conflicts of an earlier update remain.")
@stale_option
@_trust
@json_option
def update(
    folder: Path, project: Path | None, dry_run: bool, as_json: bool, **chosen: bool
) -> None:
    """Bring an export up to date with its project and this Foundry, and keep your edits.

    Files that you did not touch are replaced, and files that you edited are merged. Files that you
    added are kept, and files that you deleted are not restored. The exit code is 3 if both sides
    changed the same lines (marked in the file), or if a file imports something that no longer
    exists.
    """
    result = pipeline.update(folder, project, warn, dry_run=dry_run, **chosen)
    if as_json:
        print_json(asdict(result))
    else:
        changes = {key: names for key, names in asdict(result).items() if names}
        for key in (key for key in _SAID if key in changes):
            if key in _COUNTED and not dry_run:
                click.echo(f"{count_of(len(changes[key]), 'file')} {_COUNTED[key]}")
                continue
            for name in changes[key]:
                place = changes[key][name] if isinstance(changes[key], dict) else ""
                click.echo(printable(f"{name}: {_SAID[key].format(place)}"))
        for line in result.unresolved:
            click.echo(printable(line))
        state = "up to date" if result.is_settled else "updated, with problems to resolve"
        click.echo(f"{folder} {'would be' if dry_run else 'is'} {state}")
    if not result.is_settled:
        sys.exit(UNSETTLED)


@click.command(short_help="Check an export, or a project's index.")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@flag("--strict", "Fail, without running any code, if any file differs from what was written.")
@json_option
def verify(folder: Path, strict: bool, as_json: bool) -> None:
    """Check every hash of an export, or of a project's index and its export.

    For an export, this also finds unresolved conflicts, broken imports and forged bytecode, then
    starts the server without the export's bytecode and asks it questions that the index must
    answer.

    Files that you edited, added or deleted are listed. The exit code is 1 if the index is damaged,
    the server does not run, or one of the other checks fails.
    """
    checked = pipeline.verify(folder, strict=strict)
    if as_json:
        print_json(checked)
        return
    for entry in checked:
        for key in ("edited", "added", "deleted"):
            for name in entry.get(key, ()):
                is_recent = name in entry["since_update"]
                when = "since the last update" if is_recent else "by its owner"
                click.echo(f"{key} {when}: {printable(name)}")
        if missing := entry.get("not_installed"):
            listed = printable(", ".join(missing))
            click.echo(f"not started, because not installed here: {listed}")
        click.echo(f"ok: {entry.get('export') or entry.get('index')}")


@click.command(short_help="Load the index into a search engine.")
@project_argument
@flag("--again", "Load this version even if the engine has it already.")
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
def publish(project: Path, quiet: bool, as_json: bool, **chosen: Any) -> None:
    """Load the built index into the search engine of [store], and switch to it.

    The engine's answers are compared with the index before the switch. If this command is
    interrupted, the previous version stays in service; run it again.
    """
    done = pipeline.publish(project, Reporter(quiet=quiet), PublishOptions(**chosen))
    if as_json:
        print_json(asdict(done))
        return
    said = "loaded" if done.loaded else "was there already"
    click.echo(
        f"{done.engine}, {done.name}: index {done.version} {said}"
        f" ({count_of(done.chunks, 'chunk')}, {count_of(done.postings, 'posting')})"
    )
    click.echo(f"recall@100 {done.recall:.4f}, scores differ by at most {done.difference:.1e}")
    if done.dropped:
        click.echo(f"dropped: {', '.join(done.dropped)}")
