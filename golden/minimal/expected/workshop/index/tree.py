"""Lists the files below a folder, without following links or opening special files.

Names are decoded by `os.fsdecode`. Bytes that are not UTF-8 are displayed as escapes.
"""

import errno
import os
import stat
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_DEPTH = 100
"""Maximum depth of folders; an export has six levels."""

FILE, LINK, UNREADABLE = "file", "link", "file that cannot be read"

_KINDS = (
    (stat.S_ISREG, FILE),
    (stat.S_ISLNK, LINK),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, link or other entry below a folder; a folder only if it could not be listed.

    `kind` is FILE, LINK, UNREADABLE, or a description such as `named pipe`.
    """

    path: str
    kind: str
    size: int = 0  # Size in bytes.
    is_folder: bool = False  # True for a folder that could not be listed.


def walk(root: Path, passed_over: Container[str] = ()) -> Iterator[Entry]:
    """Yield everything below a folder except the folders themselves, sorted by name.

    Folders with a name in `passed_over` are skipped. Folders that are unreadable or deeper than
    MAX_DEPTH are yielded themselves. Raises OSError if `root` cannot be read.
    """
    waiting = [(name, 0) for name in _names(root, "")]
    while waiting:
        path, depth = waiting.pop()
        place = f"{root}/{path}"
        try:
            status = os.lstat(place)
            if not stat.S_ISDIR(status.st_mode):
                yield Entry(path, _kind_at(place, status.st_mode), status.st_size)
            elif depth >= MAX_DEPTH:
                yield Entry(path, f"folder nested more than {depth} levels deep", is_folder=True)
            elif path.rpartition("/")[2] not in passed_over:
                waiting += [(name, depth + 1) for name in _names(root, f"{path}/")]
        except FileNotFoundError:
            continue  # The path was removed in the meantime.
        except OSError as error:
            yield Entry(path, f"folder that cannot be read ({error.strerror})", is_folder=True)


def file_status(path: Path) -> os.stat_result:
    """Return the status of a regular file, following links. Raises OSError for anything else."""
    return _require_file(path.stat(), path)


def read_file(path: Path, most: int | None = None) -> bytes:
    """Return the content of a regular file, following links.

    Raises OSError for anything else, and for a file of more than `most` bytes.
    """
    # The type is checked before opening, because opening a device can have side effects.
    file_status(path)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        status = _require_file(os.fstat(file.fileno()), path)
        is_over = most is not None and status.st_size > most
        # Some system files report size 0, and others grow while they are read.
        content = b"" if is_over else file.read(-1 if most is None else most + 1)
        if most is not None and (is_over or len(content) > most):
            raise OSError(errno.EFBIG, f"has more than {most:,} bytes", str(path))
        return content


def shown(name: str) -> str:
    r"""Return a name for display on one line, with unprintable characters escaped.

    A byte that is not UTF-8 is shown like `\xff`.
    """
    if name.isprintable():
        return name
    return "".join(each if each.isprintable() else escape(each) for each in name)


def kind_of(mode: int) -> str:
    """Return a description of the file type of a mode."""
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "device")


def _names(root: Path, prefix: str) -> list[str]:
    """Return the paths in a folder in reverse order."""
    with os.scandir(f"{root}/{prefix}") as found:
        return sorted((prefix + each.name for each in found), reverse=True)


def _kind_at(place: str, mode: int) -> str:
    kind = kind_of(mode)
    return kind if kind != FILE or os.access(place, os.R_OK) else UNREADABLE


def _require_file(status: os.stat_result, path: Path) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, f"is a {kind_of(status.st_mode)}, not a file", str(path))
    return status


def escape(character: str) -> str:
    """Return a character, or an undecodable byte, as a Python escape."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else ascii(character)[1:-1]
