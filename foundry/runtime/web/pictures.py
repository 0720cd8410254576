"""Finds the pictures that a document's text refers to, in its file or the folder of its source."""

import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile, is_zipfile

from ..index.documents import DocumentRecord
from . import notebooks
from .source_files import Originals, resolve_inside

MAX_TARGET = 1_000
MAX_ENTRIES = 50_000  # Files listed per folder, to find a name given without a folder
LISTED_SECONDS = 30.0  # How long a list of files is cached

MAX_PACKED_BYTES = 20_000_000  # Maximum size of a picture inside a document's file

PUBLIC_FOLDERS = ("", "static", "public")
"""Folders to which website builders resolve addresses that begin with `/`."""

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SVG = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>\s*)*<svg[\s>]", re.IGNORECASE)
_SNIFFED_BYTES = 4_096

_listings: dict[Path, tuple[float, dict[str, str]]] = {}


def names_picture(text: str, target: str) -> bool:
    """Return whether a text contains this picture: `![...](target)` or `![[target]]`."""
    written = re.escape(target)
    return bool(re.search(rf"!\[[^\]]*\]\(<?{written}[)>\s]|!\[\[{written}\\?[\]|]", text))


def find_picture(
    originals: Originals, document: DocumentRecord, target: str
) -> tuple[Path, str] | None:
    """Return the file of a picture that a document refers to, and its media type.

    None if it is not in a folder of the document's source.
    """
    written = re.split(r"[?#]", target, maxsplit=1)[0]
    for folder, path in originals.places(document):
        for name in dict.fromkeys([written, unquote(written)]):
            for place in _candidates(folder, PurePosixPath(path).parent, name):
                found = resolve_inside(folder, folder / place)
                with suppress(OSError):
                    if found and found.is_file() and (media_type := picture_type(found)):
                        return found, media_type
    return None


def find_packed_picture(
    originals: Originals, document: DocumentRecord, target: str
) -> tuple[bytes, str] | None:
    """Return a picture in a document's own file, such as an e-book, and its media type.

    None if there is none, or if the picture or the notebook exceeds MAX_PACKED_BYTES.
    """
    written = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    file = originals.find(document)
    content = None
    if file is not None and file.suffix.lower() == ".ipynb":
        content = notebooks.read_picture(file, written, MAX_PACKED_BYTES)
    elif file is not None and is_zipfile(file):
        content = _read_from_archive(file, written)
    media_type = _type_of(content[:_SNIFFED_BYTES]) if content else None
    return (content, media_type) if content and media_type else None


def _read_from_archive(file: Path, written: str) -> bytes | None:
    end = "/" + "/".join(part for part in written.split("/") if part not in ("", ".", ".."))
    failures = OSError, BadZipFile, RuntimeError, ValueError, EOFError, zlib.error
    with suppress(*failures), ZipFile(file) as archive:
        for member in archive.infolist():
            if f"/{member.filename}".endswith(end) and member.file_size <= MAX_PACKED_BYTES:
                return archive.read(member)
    return None


def picture_type(path: Path) -> str | None:
    """Return the media type of a picture by its content; None for other files. Raises OSError."""
    with path.open("rb") as file:
        return _type_of(file.read(_SNIFFED_BYTES))


def _type_of(begin: bytes) -> str | None:
    for beginning, media_type in _BEGINNINGS:
        if begin.startswith(beginning):
            return media_type
    if begin[:4] == b"RIFF" and begin[8:12] == b"WEBP":
        return "image/webp"
    return "image/svg+xml" if _SVG.match(begin) else None


def _candidates(folder: Path, beside: PurePosixPath, name: str) -> Iterator[PurePosixPath]:
    """Yield possible paths of a picture in a folder, except hidden ones."""
    if name.startswith("/"):
        places = [PurePosixPath(public, name.lstrip("/")) for public in PUBLIC_FOLDERS]
    else:
        places = [beside / name, PurePosixPath(name)]
    if "pages" in beside.parts and not name.startswith("/"):
        # Antora keeps pictures in a folder beside the folder `pages`.
        module = beside.parts[: beside.parts.index("pages")]
        places.append(PurePosixPath(*module, "images", name))
    yield from (place for place in places if not _is_hidden(place))
    # Note-taking programs write only the name of a picture, without its folder.
    if "/" not in name and (listed := _list_files(folder).get(name)):
        yield PurePosixPath(listed)


def _is_hidden(place: PurePosixPath) -> bool:
    return any(part.startswith(".") and part != ".." for part in place.parts)


def _list_files(folder: Path) -> dict[str, str]:
    """Return the path of the first file of each name, in the folder or below."""
    made, listed = _listings.get(folder, (0.0, {}))
    if not made or time.monotonic() > made + LISTED_SECONDS:
        listed, left = {}, MAX_ENTRIES
        for at, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if not name.startswith("."):
                    listed.setdefault(name, Path(at, name).relative_to(folder).as_posix())
            left -= len(files) + len(folders)
            if left < 0:
                break
        _listings[folder] = time.monotonic(), listed
    return listed
