"""SHA256SUMS: the list of everything that an export consists of."""

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from foundry.errors import VerificationError
from foundry.files import hash_file

CHECKSUMS = "SHA256SUMS"

OWNERS_FILES = frozenset({".env", ".git", ".venv"})
"""Names in an export that belong to its owner alone: secrets, history, an environment."""

UNLISTED = "not part of the export"

BY_PRODUCTS = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
"""Folders that running and checking an export leaves behind."""


def format_checksums(digests: Mapping[str, str]) -> bytes:
    """Return the list as `sha256sum --check` reads it, sorted by path."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def read_checksums(folder: Path) -> dict[str, str]:
    """Read the SHA-256 of each path. Raises VerificationError for a missing or malformed list."""
    try:
        content = (folder / CHECKSUMS).read_bytes()
        lines = content.decode().removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise VerificationError(str(folder), [f"{CHECKSUMS}: unreadable: {error}"]) from None
    entries = {}
    for number, line in enumerate(lines, start=1):
        digest, separator, name = line.partition("  ")
        if len(digest) != 64 or not separator or not _stays_inside(name):
            raise VerificationError(str(folder), [f"{CHECKSUMS}: line {number} is malformed"])
        entries[name] = digest
    if format_checksums(entries) != content:
        raise VerificationError(str(folder), [f"{CHECKSUMS}: changed"])
    return entries


def compare(folder: Path) -> dict[str, str]:
    """Hash every listed file, and look for files that are not listed: relative path -> difference.

    By-products of running the export are passed over; links are never followed.
    """
    listed, present = read_checksums(folder), set(list_files(folder))
    return {
        **dict.fromkeys(find_changed(folder, listed, present), "changed"),
        **dict.fromkeys(sorted(listed.keys() - present), "missing"),
        **dict.fromkeys(sorted(present - listed.keys() - {CHECKSUMS}), UNLISTED),
    }


def find_changed(folder: Path, digests: Mapping[str, str], present: Set[str]) -> list[str]:
    """Return, sorted, those that are `present` with another SHA-256, or are links now."""
    return sorted(
        name
        for name in digests.keys() & present
        if (folder / name).is_symlink() or hash_file(folder / name) != digests[name]
    )


def is_owners(name: str) -> bool:
    """Return whether a path in an export is among OWNERS_FILES."""
    return name.partition("/")[0] in OWNERS_FILES


def list_files(folder: Path, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all files and links but those that running an export leaves behind."""
    for path in sorted(folder.iterdir()):
        if path.name in BY_PRODUCTS:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from list_files(path, f"{prefix}{path.name}/")
        else:
            yield prefix + path.name


def _stays_inside(name: str) -> bool:
    return bool(name) and not name.startswith("/") and ".." not in name.split("/")
