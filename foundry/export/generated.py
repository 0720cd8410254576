"""The files that Foundry generated, kept in the export: the base of the next update.

Texts are kept whole, since an edited file is merged against them. Of lists that are made by
machines, which no one merges, and of binary files, the hash is enough.

bzip2, because its output has not depended on the library's version or the machine for decades.
"""

import bz2
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundry.errors import ExportError

GENERATED = ".generated.json.bz2"
FORMAT = 1
MAX_BYTES = 64_000_000
"""More text than any server has."""

LISTS = frozenset({"uv.lock", "requirements.txt", "sbom.cdx.json", "corpus.json"})
"""Files that are made anew rather than merged."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The SHA-256 of every generated file but the index, and the texts of those that can be merged.

    An export of before there were updates has no texts.
    """

    digests: Mapping[str, str]
    texts: Mapping[str, str]


def encode_generated(files: Mapping[str, bytes]) -> bytes:
    """Return the record of these files."""
    texts, digests = {}, {}
    for name, content in sorted(files.items()):
        text = None if name in LISTS else _to_text(content)
        if text is None:
            digests[name] = hashlib.sha256(content).hexdigest()
        else:
            texts[name] = text
    values = {"format": FORMAT, "texts": texts, "digests": digests}
    return bz2.compress(json.dumps(values, sort_keys=True).encode())


def read_generated(folder: Path) -> Generated | None:
    """Read the record of an export; None if it has none. Raises ExportError if it is damaged."""
    path = folder / GENERATED
    try:
        decompressor = bz2.BZ2Decompressor()
        content = decompressor.decompress(path.read_bytes(), MAX_BYTES)
        if not decompressor.eof:
            raise ValueError("cut off, or too large")
        values = json.loads(content)
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}, this Foundry reads format {FORMAT}")
        texts = {str(name): str(text) for name, text in values["texts"].items()}
        digests = {str(name): str(digest) for name, digest in values["digests"].items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ExportError(
            f"{path}: cannot be read: {error}",
            hint="restore it from a trusted copy; foundry export --force writes the export anew"
            " and keeps edited files as .orig",
        ) from None
    digests |= {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return Generated(digests, texts)


def _to_text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
