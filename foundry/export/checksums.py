"""SHA256SUMS: the list of all files of an export."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from foundry.errors import VerificationError
from foundry.files import hash_file
from foundry.runtime.index.tree import FILE, LINK, Entry, read_file, walk

CHECKSUMS = "SHA256SUMS"

OWNERS_FILES = frozenset({".env", ".git", ".venv"})
"""Names in an export that belong to the owner: secrets, history, an environment."""

UNLISTED = "not part of the export"

BY_PRODUCTS = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
"""Folders that running or testing an export creates."""

MAX_LIST_BYTES = 64_000_000

_TO_ESCAPE = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_ESCAPED = {escape: character for character, escape in _TO_ESCAPE.items()}


def format_checksums(digests: Mapping[str, str]) -> bytes:
    """Format the list for `sha256sum --check`, sorted by path.

    As in the output of sha256sum, a line begins with a backslash if its path has escapes.
    """
    return b"".join(_format_line(name, digests[name]) for name in sorted(digests))


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each path. Raises VerificationError for a missing or malformed list."""
    try:
        if (folder / CHECKSUMS).is_symlink():
            raise OSError("is a link, not a file")
        content = read_file(folder / CHECKSUMS, MAX_LIST_BYTES)
    except OSError as error:
        problem = f"{CHECKSUMS}: unreadable: {error.strerror or error}"
        raise VerificationError(str(folder), [problem]) from None
    lines = content.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    entries = {}
    for number, line in enumerate(lines, start=1):
        digest, separator, name = line.partition("  ")
        if digest.startswith("\\"):
            digest, name = digest[1:], re.sub(r"\\[\\nr]", lambda each: _ESCAPED[each[0]], name)
        if len(digest) != 64 or not separator or not _stays_inside(name):
            raise VerificationError(str(folder), [f"{CHECKSUMS}: line {number} is malformed"])
        entries[name] = digest
    if format_checksums(entries) != content:
        raise VerificationError(str(folder), [f"{CHECKSUMS}: changed"])
    return entries


def compare(folder: Path) -> dict[str, str]:
    """Hash every listed file, and find unlisted or special files: path -> difference.

    By-products of running the export are ignored; links are not followed.
    """
    listed, present = read_checksums(folder), list_files(folder)
    unlisted = sorted(present.keys() - listed.keys() - {CHECKSUMS})
    differences = {
        **dict.fromkeys(find_changed(folder, listed, present), "changed"),
        **dict.fromkeys(sorted(listed.keys() - present.keys()), "missing"),
        **dict.fromkeys(unlisted, UNLISTED),
    }
    for name, what in differences.items():
        if name in present and (kind := present[name].kind) != FILE:
            differences[name] = f"{what}, a {kind}"
    return differences


def find_changed(
    folder: Path, digests: Mapping[str, str], present: Mapping[str, Entry]
) -> list[str]:
    """Return the sorted names of files that were changed or replaced."""
    return sorted(
        name
        for name in digests.keys() & present.keys()
        if present[name].kind != FILE or hash_file(folder / name) != digests[name]
    )


def is_owners(name: str) -> bool:
    """Return whether a path in an export is among OWNERS_FILES, or below one."""
    return name.partition("/")[0] in OWNERS_FILES


def list_files(folder: Path) -> dict[str, Entry]:
    """Return everything in an export by path, except folders and by-products of running it."""
    return {entry.path: entry for entry in walk(folder, BY_PRODUCTS)}


def find_obstacles(present: Iterable[Entry]) -> list[str]:
    """Return a line for each entry that cannot be moved to another folder: neither file nor link.

    The owner's files, such as `.env`, may be of any kind, since they are hard-linked without being
    read.
    """
    return [
        f"{entry.path}: a {entry.kind}"
        for entry in present
        if entry.kind not in (FILE, LINK) and (entry.is_folder or not is_owners(entry.path))
    ]


def _format_line(name: str, digest: str) -> bytes:
    written = "".join(_TO_ESCAPE.get(character, character) for character in name)
    mark = "\\" if written != name else ""
    return f"{mark}{digest}  {written}\n".encode("utf-8", "surrogateescape")


def _stays_inside(name: str) -> bool:
    return bool(name) and not name.startswith("/") and ".." not in name.split("/")
