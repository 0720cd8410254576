"""Verifies an export: hashes, file contents, and its server in a clean interpreter."""

import importlib.util
import json
import os
import py_compile
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from foundry.errors import FoundryError, VerificationError
from foundry.export.checking import find_unanswered, find_unimportable
from foundry.export.checksums import CHECKSUMS, UNLISTED, compare, is_owners, list_files
from foundry.export.existing import ABOUT_FILES, examine
from foundry.export.package_files import find_broken
from foundry.runtime.errors import ServerError
from foundry.runtime.index.layout import Manifest
from foundry.runtime.index.tree import FILE
from foundry.serving.running import run_server

_HINT = (
    "restore the named files from a trusted copy, or export again; foundry update records what"
    " you edited or added yourself"
)

_UNSETTLED = "resolve the named problems, then run foundry update, which records the result"


def verify_export(folder: Path, *, strict: bool = False) -> dict[str, Any]:
    """Check an exported folder; return the results of the checks. Raises VerificationError.

    Files that the owner edited, added or deleted are listed, and `since_update` names those that
    changed after the last update; they only fail the check if `strict`. The check fails for a
    damaged index or list of files, special or unreadable files, unresolved conflicts, invalid
    Python, broken imports and forged bytecode. If there are none of these problems, code is run:
    the modules are imported, the server is started, and the known questions are asked. Libraries
    that are missing here are listed, and then the server is not started.
    """
    if not folder.is_dir():
        raise FoundryError(f"{folder}: no such folder", hint="name the folder of an export")
    if not os.path.lexists(folder / CHECKSUMS) and not list(folder.glob("*/settings.json")):
        raise FoundryError(
            f"{folder}: is neither an export nor a project",
            hint="name the folder that foundry export wrote, or one with a foundry.toml",
        )
    present = list_files(folder)
    differences = {
        name: what
        for name, what in compare(folder).items()
        if not (is_owners(name) and what.startswith(UNLISTED))
    }

    def refuse(is_meant: Callable[[str], bool]) -> None:
        if findings := [f"{name}: {differences[name]}" for name in differences if is_meant(name)]:
            raise VerificationError(str(folder), findings, hint=_HINT)

    refuse(lambda name: strict or name in ABOUT_FILES)
    # These checks come before any other file is opened.
    refuse(lambda name: name in present and present[name].kind != FILE)
    existing = examine(folder)
    places = tuple({"/".join(name.split("/")[:2]) + "/" for name in existing.index})
    # Owners do not edit the index.
    refuse(lambda name: name.startswith(places))
    package = find_package(folder)
    files = existing.read_files(folder)
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
        "edited": existing.edited,
        "added": [name for name in existing.added if not is_owners(name)],
        "deleted": existing.deleted,
        "since_update": sorted(differences),
    }


def find_package(folder: Path) -> str:
    """Return the name of an export's only server package. Raises VerificationError."""
    names = [path.parent.name for path in folder.glob("*/settings.json")]
    if len(names) != 1:
        raise VerificationError(str(folder), [f"contains {len(names)} server packages, not one"])
    return names[0]


def _known_question(package: Path) -> str | None:
    """Return a query that the exported index must find; None if it has none."""
    try:
        manifest = Manifest.read(package / "data" / "manifest.json")
    except ServerError:
        return None
    return manifest.known_items[0].query if manifest.known_items else None


def find_forged(folder: Path) -> Iterator[str]:
    """Yield a line for each bytecode file that Python would run instead of different source code.

    Checksums do not cover bytecode, and Python uses it if its header has the time and size of the
    source. So bytecode for this version of Python is compared with the compiled source.
    """
    with tempfile.TemporaryDirectory() as scratch:
        compiled = str(Path(scratch, "compiled"))
        for source in sorted(folder.rglob("*.py")):
            for level, ending in enumerate(("", ".opt-1", ".opt-2")):
                name = f"{source.stem}.{sys.implementation.cache_tag}{ending}.pyc"
                cached = source.parent / "__pycache__" / name
                if cached.is_file() and _is_taken(cached.read_bytes()[:16], source):
                    py_compile.compile(str(source), compiled, doraise=True, optimize=level)
                    if _code_of(str(cached)) != _code_of(compiled):
                        place = cached.relative_to(folder.parent).as_posix()
                        yield f"{place}: this was not compiled from {source.name}; delete it"


def _code_of(bytecode: str) -> CodeType | None:
    try:
        return SourcelessFileLoader("", bytecode).get_code("")
    except (ImportError, EOFError, ValueError, TypeError):
        return None


def _is_taken(header: bytes, source: Path) -> bool:
    """Return whether Python would use this bytecode for a file, by its header (PEP 552)."""
    if header[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags, *_ = struct.unpack("<I", header[4:8])
    if flags & 1:
        is_checked = bool(flags & 2)
        return not is_checked or header[8:] == importlib.util.source_hash(source.read_bytes())
    status = source.stat()
    stamp = struct.pack("<II", int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return header[8:] == stamp
