"""Opens the files that a configuration or a command names: regular files of limited size.

A configuration's files must be inside its project, after resolving links, since a project may come
from anywhere. Files named on the command line may be anywhere. Errors name the file and a remedy,
and never quote content.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path

from foundry.errors import RequestError
from foundry.runtime.index.tree import read_file, shown

CONFIG_BYTES = 4_000_000
SYNONYMS_BYTES = 16_000_000
TEMPLATE_BYTES = 1_000_000
MODEL_TEXT_BYTES = 128_000_000
"""Limit for text files of models; a vocabulary of 250,000 tokens takes a fifth of it."""

_REMEDIES = {
    errno.EFBIG: "shorten or split it",
    errno.EINVAL: "use a regular file",
    errno.ENAMETOOLONG: "correct the name",
    errno.ELOOP: "use a regular file",
}


class NamedFileError(RequestError):
    """A file cannot be read; `reason` says why and what to do, without naming the file.

    `key` is the key or option that names it, if any. `is_missing` is True if it does not exist.
    """

    def __init__(self, path: Path, reason: str, key: str = "", *, is_missing: bool = False) -> None:
        super().__init__(": ".join([*([key] if key else []), shown(str(path)), reason]))
        self.reason = reason
        self.is_missing = is_missing


def read_named(path: Path, most_bytes: int, *, key: str = "", inside: Path | None = None) -> bytes:
    """Return the content of a regular file that a key or an option names.

    The file must be in the folder `inside`, if given. Raises NamedFileError.
    """
    if "\0" in str(path):
        reason = "cannot be read: its name has a NUL character; correct the name"
        raise NamedFileError(path, reason, key)
    real = Path(os.path.realpath(path))
    if inside is not None and not real.is_relative_to(os.path.realpath(inside)):
        reason = f"is outside {shown(str(inside))}; copy the file into that folder"
        raise NamedFileError(path, reason, key)
    try:
        return read_file(real, most_bytes)
    except OSError as error:
        reason = f"cannot be read: {_explain(error)}"
        is_missing = isinstance(error, FileNotFoundError)
        raise NamedFileError(path, reason, key, is_missing=is_missing) from None


def read_named_text(
    path: Path, most_bytes: int, *, key: str = "", inside: Path | None = None
) -> str:
    """Return the text of a UTF-8 file, without a byte order mark; see `read_named`."""
    try:
        return read_named(path, most_bytes, key=key, inside=inside).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"is not valid UTF-8, at byte {error.start}; save it as UTF-8"
        raise NamedFileError(path, reason, key) from None


def why_no_folder(path: Path) -> str | None:
    """Return why a path is not a folder; None if it is one."""
    return _why_not(path.is_dir, "folder", path)


def why_no_file(path: Path) -> str | None:
    """Return why a path is not a regular file; None if it is one."""
    return _why_not(path.is_file, "file", path)


def _why_not(is_there: Callable[[], bool], kind: str, path: Path) -> str | None:
    try:
        return None if is_there() else f"no such {kind}: {shown(str(path))}"
    except OSError as error:
        return f"{error.strerror}: {shown(str(path))}"


def _explain(error: OSError) -> str:
    said = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{said}; {remedy}" if remedy else said
