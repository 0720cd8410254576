"""Verifies an export: its hashes, what its files say, and its server in a clean interpreter."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from foundry.errors import FoundryError, VerificationError
from foundry.export.bytecode import find_forged
from foundry.export.checksums import compare, is_owners, list_files
from foundry.export.package_files import find_broken
from foundry.export.standing import RECORDS, Standing, examine
from foundry.rendering.running import find_unanswered, find_unimportable, run_server
from foundry.runtime.index.errors import ServerError
from foundry.runtime.index.layout import Manifest

_HINT = (
    "restore the named files from a trusted copy, or export again; foundry update takes note of"
    " what you edited or added yourself"
)

_UNSETTLED = "settle what is named, then run foundry update, which takes note of it"


def verify_export(folder: Path, *, strict: bool = False) -> dict[str, object]:
    """Check an exported folder; returns what was checked. Raises VerificationError.

    What the owner edited, added or deleted is listed, that of before the last update apart, and is
    no finding unless `strict`. Findings are damage of the index and of the lists of files, links in
    place of files, files that a merge has left to be settled, and imports that lead nowhere. Only
    what has none of them is run: its modules, its server and the known questions, unless libraries
    are missing here that it needs, which are listed.
    """
    if not folder.is_dir():
        raise FoundryError(f"{folder}: no such folder", hint="name the folder of an export")
    differences = compare(folder)
    differences = replace(
        differences, unknown=[name for name in differences.unknown if not is_owners(name)]
    )
    if findings := differences.selected(lambda name: strict or name in RECORDS).findings():
        raise VerificationError(str(folder), findings, hint=_HINT)
    standing = examine(folder)
    is_sealed = _sealed(folder, standing)
    if findings := differences.selected(is_sealed).findings():
        raise VerificationError(str(folder), findings, hint=_HINT)
    package = find_package(folder)
    files = {
        name: (folder / name).read_bytes()
        for name in list_files(folder)
        if not is_owners(name) and name not in standing.index and not (folder / name).is_symlink()
    }
    if findings := find_broken(files, package):
        raise VerificationError(str(folder), findings, hint=_UNSETTLED)
    if findings := list(find_forged(folder / package)):
        raise VerificationError(str(folder), findings)
    findings, missing = find_unimportable(folder / package)
    if findings:
        raise VerificationError(str(folder), findings)
    answer = run_server(folder, package, ["verify", "--json"])
    try:
        report = json.loads(answer.stdout)
        findings = list(report["findings"])
    except (ValueError, KeyError, TypeError):
        said = answer.stderr.strip() or answer.stdout.strip() or "no output"
        raise VerificationError(str(folder), [f"{package} verify: {said}"]) from None
    if not findings and not missing:
        findings = list(find_unanswered(folder / package, _known_question(folder / package)))
    if findings:
        raise VerificationError(str(folder), findings)
    return {
        "export": str(folder),
        **{**report, "findings": []},
        "not_installed": missing,
        "edited": standing.edited,
        "added": [name for name in standing.added if not is_owners(name)],
        "deleted": standing.deleted,
        "since_update": sorted(differences.names()),
    }


def _sealed(folder: Path, standing: Standing) -> Callable[[str], bool]:
    """Return what tells whether a file is none that an owner edits: of the index, or a link."""
    places = {"/".join(name.split("/")[:2]) + "/" for name in standing.index}
    return lambda name: name.startswith(tuple(places)) or (folder / name).is_symlink()


def find_package(folder: Path) -> str:
    """Return the name of the one server package in an exported folder."""
    names = [path.parent.name for path in folder.glob("*/settings.json")]
    if len(names) != 1:
        raise VerificationError(str(folder), ["holds no server package"])
    return names[0]


def _known_question(package: Path) -> str | None:
    """Return a query that the packaged index must find; None if it names none."""
    try:
        manifest = Manifest.read(package / "data" / "manifest.json")
    except ServerError:
        return None
    return manifest.known_items[0].query if manifest.known_items else None
