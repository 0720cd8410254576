"""Examine an existing export: which files are Foundry's as they were, and which are not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ExportError
from foundry.export.checksums import CHECKSUMS, list_files, read_checksums
from foundry.export.generated import GENERATED, Generated, read_generated
from foundry.files import hash_file

RECORDS = frozenset({CHECKSUMS, GENERATED})
"""Files that describe the others."""

_SETTINGS = "/settings.json"
"""Marks the package, which holds the index."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An export as it is found; each list holds sorted relative paths.

    Attributes:
        generated: What Foundry wrote last, the index aside.
        index: SHA-256 of the files of the index, as they were written.
        edited: Generated files and files of the index that are not as they were written.
        added: Files that Foundry did not write.
        deleted: Generated files that are gone.
    """

    generated: Generated
    index: dict[str, str]
    edited: list[str]
    added: list[str]
    deleted: list[str]

    @property
    def owned(self) -> list[str]:
        """Files that would be lost if the folder were replaced."""
        return [*self.edited, *self.added]

    def is_foundrys(self, name: str) -> bool:
        """Return whether Foundry wrote a file, whatever has become of it."""
        return name in self.generated.digests or name in self.index or name in RECORDS


def examine(folder: Path) -> Standing:
    """Compare an export with what was generated. Raises VerificationError and ExportError."""
    listed = read_checksums(folder)
    if not (folder / GENERATED).exists() and GENERATED in listed:
        raise ExportError(
            f"{folder / GENERATED}: missing", hint="restore it, or export to another folder"
        )
    index_places = tuple(
        _index_place(name.removesuffix(_SETTINGS), listed)
        for name in listed
        if name.endswith(_SETTINGS)
    )
    # Files that were edited or added before an update are listed as they were then.
    index = {name: digest for name, digest in listed.items() if name.startswith(index_places)}
    generated = read_generated(folder)
    if generated is None:
        others = {name: digest for name, digest in listed.items() if name not in index}
        generated = Generated(others, {})
    written = {**generated.digests, **index}
    present = set(list_files(folder))
    return Standing(
        generated=generated,
        index=index,
        edited=sorted(
            name
            for name in written.keys() & present
            if (folder / name).is_symlink() or hash_file(folder / name) != written[name]
        ),
        added=sorted(present - written.keys() - RECORDS),
        deleted=sorted(written.keys() - present),
    )


def _index_place(package: str, listed: Mapping[str, str]) -> str:
    """Return the folder of the index; exports of older versions have it in `index`, a package
    now."""
    has_manifest = f"{package}/index/manifest.json" in listed
    return f"{package}/{'index' if has_manifest else 'data'}/"
