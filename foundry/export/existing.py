"""Examines an existing export: which files are as Foundry wrote them, and which are not.

An export contains a record of its generated files, as the base of the next update. Texts are
recorded in full, for merging. For binary files, and for lists that only machines write, the hash is
enough.
"""

import bz2
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.config.project import Config
from foundry.errors import ExportError
from foundry.export.checksums import (
    CHECKSUMS,
    find_changed,
    is_owners,
    list_files,
    read_checksums,
)
from foundry.runtime.index.tree import FILE, Entry, read_file
from foundry.serving.running import model_variables

GENERATED = ".generated.json.bz2"
FORMAT = 1
MAX_BYTES = 64_000_000
"""Limit on the record's texts, more than any server has."""

LISTS = frozenset({"uv.lock", "requirements.txt", "sbom.cdx.json", "corpus.json"})
"""Generated lists, which are never merged."""

ABOUT_FILES = frozenset({CHECKSUMS, GENERATED})
"""Files that describe the other files."""

MAX_READ_BYTES = 16_000_000
"""Larger files are not searched for conflicts and imports."""

_SETTINGS = "/settings.json"
"""The file that identifies the package, which contains the index."""


def warn_without_model(config: Config, target: Path, warn: Callable[[str, str], object]) -> None:
    """Warn that the chat asks no language model, if LLM_* is set here or the old export had one."""
    interfaces = config.server.interfaces
    if "chat" not in interfaces or "language_model" in interfaces:
        return
    if model_variables() or _could_ask_model(target / config.package):
        warn(
            "the chat of this server does not ask a language model, and answers with extracts",
            "to let it ask one, set language_model = true in [server] of foundry.toml",
        )


def _could_ask_model(package: Path) -> bool:
    try:
        return "chat_instructions" in json.loads(read_file(package / "settings.json"))
    except (OSError, ValueError, TypeError):
        return False


@dataclass(frozen=True, slots=True)
class Generated:
    """The SHA-256 of every generated file except the index, and the texts of those to merge."""

    digests: Mapping[str, str]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Existing:
    """The state of an existing export; lists are sorted relative paths.

    `generated` has the files that Foundry wrote last, except the index, and `index` has the SHA-256
    of the index's files as written. `edited` files differ from these, `added` files are the
    owner's, and `deleted` files were generated but are gone. `present` has everything found, by
    path.
    """

    generated: Generated
    index: dict[str, str]
    edited: list[str]
    added: list[str]
    deleted: list[str]
    present: Mapping[str, Entry]

    @property
    def owned(self) -> list[str]:
        """Files that would be lost if the folder were replaced."""
        return [*self.edited, *self.added]

    def read_files(self, folder: Path) -> dict[str, bytes]:
        """Return the files up to MAX_READ_BYTES, except OWNERS_FILES and the index."""
        return {
            name: read_file(folder / name)
            for name, entry in self.present.items()
            if entry.kind == FILE and entry.size <= MAX_READ_BYTES
            if not is_owners(name) and name not in self.index
        }

    def is_foundrys(self, name: str) -> bool:
        """Return whether Foundry wrote a file, even if it was edited afterwards."""
        return name in self.generated.digests or name in self.index or name in ABOUT_FILES


def examine(folder: Path) -> Existing:
    """Compare an export with its record. Raises VerificationError and ExportError."""
    listed = read_checksums(folder)
    index_places = tuple(
        _index_place(name.removesuffix(_SETTINGS), listed)
        for name in listed
        if name.endswith(_SETTINGS)
    )
    # SHA256SUMS also lists files that the owner edited or added before the last update, so only its
    # entries for the index count as written by Foundry.
    index = {name: digest for name, digest in listed.items() if name.startswith(index_places)}
    generated = read_generated(folder)
    written = {**generated.digests, **index}
    present = list_files(folder)
    return Existing(
        generated=generated,
        index=index,
        edited=find_changed(folder, written, present),
        added=sorted(present.keys() - written.keys() - ABOUT_FILES),
        deleted=sorted(written.keys() - present.keys()),
        present=present,
    )


def _index_place(package: str, listed: Mapping[str, str]) -> str:
    """Return the folder of the index: `index` in older exports, now inside the package."""
    has_manifest = f"{package}/index/manifest.json" in listed
    return f"{package}/{'index' if has_manifest else 'data'}/"


def encode_generated(files: Mapping[str, bytes]) -> bytes:
    """Encode the record of these files."""
    texts, digests = {}, {}
    for name, content in sorted(files.items()):
        text = None if name in LISTS else _to_text(content)
        if text is None:
            digests[name] = hashlib.sha256(content).hexdigest()
        else:
            texts[name] = text
    values = {"format": FORMAT, "texts": texts, "digests": digests}
    # The output of bz2 has been the same in all versions, on all machines, for decades. Small
    # blocks stay in the processor's cache: they are decompressed in half the time, and take a
    # seventh more bytes.
    return bz2.compress(json.dumps(values, sort_keys=True).encode(), compresslevel=1)


def read_generated(folder: Path) -> Generated:
    """Decode the record of an export. Raises ExportError if it is missing or damaged."""
    path = folder / GENERATED
    try:
        decompressor = bz2.BZ2Decompressor()
        content = decompressor.decompress(read_file(path, MAX_BYTES), MAX_BYTES)
        if not decompressor.eof:
            raise ValueError("truncated or too large")
        values = json.loads(content)
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}, but this Foundry reads format {FORMAT}")
        texts = {str(name): str(text) for name, text in values["texts"].items()}
        digests = {str(name): str(digest) for name, digest in values["digests"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ExportError(
            f"{path}: cannot be read: {error}",
            hint="restore it from a trusted copy; foundry export --force replaces the export"
            " and keeps edited files as .orig",
        ) from None
    digests |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return Generated(digests, texts)


def _to_text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
