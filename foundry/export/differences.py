"""Shows how an export differs from a new one."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from foundry.errors import ExportError
from foundry.export.checksums import CHECKSUMS, format_checksums, is_owners, list_files
from foundry.export.existing import GENERATED
from foundry.export.write import Export
from foundry.files import hash_file, hash_files
from foundry.runtime.index.tree import FILE, read_file, shown
from foundry.terminal import printable

_DERIVED = frozenset({CHECKSUMS, GENERATED})
"""Files that differ whenever any other does; their differences are not shown."""


def diff_export(target: Path, export: Export) -> str:
    """Return the difference between an export and a new one; "" if there is none.

    Raises ExportError if there is no such folder.
    """
    if not target.is_dir():
        raise ExportError(f"{target}: no such folder", hint="write it: foundry export")
    files, index = export.all_files(), export.index_digests()
    files[CHECKSUMS] = format_checksums({**hash_files(files), **index})
    return diff_folder(target, files, index, ignored=is_owners)


def diff_folder(
    folder: Path,
    files: Mapping[str, bytes],
    digests: Mapping[str, str],
    *,
    ignored: Callable[[str], bool],
) -> str:
    """Return the difference between a folder and regenerated files; "" if none.

    `files` are compared by line, those in `digests` by SHA-256. Files of the
    folder whose names are `ignored` are left out.
    """
    present = {name: entry.kind for name, entry in list_files(folder).items() if not ignored(name)}
    expected = files.keys() | digests.keys()
    parts = []
    for name in sorted(present.keys() | expected):
        if name not in expected:
            what = "" if present[name] == FILE else f", a {present[name]}"
            parts.append(f"not part of the export{what}: {shown(name)}\n")
        elif name not in present:
            parts.append(f"missing: {name}\n")
        elif present[name] != FILE:
            parts.append(f"a {present[name]}: {name}\n")
        elif name in digests:
            if hash_file(folder / name) != digests[name]:
                parts.append(f"contents differ: {name}\n")
        else:
            parts += _diff_file(name, read_file(folder / name), files[name])
    return "".join(parts)


def _diff_file(name: str, found: bytes, expected: bytes) -> Iterator[str]:
    if found == expected:
        return
    try:
        if name in _DERIVED:
            raise ValueError
        old, new = found.decode().split("\n"), expected.decode().split("\n")
    except ValueError:
        yield f"contents differ: {name}\n"
        return
    for line in difflib.unified_diff(old, new, name, f"{name} (regenerated)", lineterm=""):
        # A manipulated file must not control the terminal.
        yield f"{printable(line)}\n"
