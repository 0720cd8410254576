"""Reads the pictures in notebooks: outputs and attachments of cells."""

import base64
import json
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/svg+xml": "svg"}
"""Types of pictures, with the suffixes in their names."""

_NAME = re.compile(
    rf"cell-([1-9]\d{{0,5}})/(?:output-([1-9]\d{{0,5}})\.({'|'.join(PICTURES.values())})\Z|(.+))"
)
_OUTPUTS = {suffix: media_type for media_type, suffix in PICTURES.items()}
_OLD_OUTPUTS = {"png": "png", "jpg": "jpeg", "svg": "svg"}  # In notebooks of format 3


def read_picture(file: Path, name: str, max_bytes: int) -> bytes | None:
    """Return the attachment `cell-1/a.png` or the output `cell-1/output-1.png` of a notebook.

    None if there is no such picture, or if the notebook is damaged or larger than `max_bytes`.
    """
    named = _NAME.match(name)
    failures = OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError
    with suppress(*failures):
        status = file.stat()
        if named is None or status.st_size > max_bytes:
            return None
        stamp = status.st_size, status.st_mtime_ns, status.st_ino
        cell = _read_cells(file, stamp)[int(named[1]) - 1]
        if named[4]:
            (stored,) = cell["attachments"][named[4]].values()
        else:
            output, suffix = cell["outputs"][int(named[2]) - 1], named[3]
            stored = output.get("data", {}).get(_OUTPUTS[suffix]) or output[_OLD_OUTPUTS[suffix]]
        text = stored if isinstance(stored, str) else "".join(stored)
        return text.encode() if named[3] == "svg" else base64.b64decode(text)
    return None


@lru_cache(maxsize=1)
def _read_cells(file: Path, _stamp: tuple[int, ...]) -> list[Any]:
    """Return the cells of a notebook; cached, since a page requests all its pictures at once."""
    notebook = json.loads(file.read_bytes())
    return [each for sheet in notebook.get("worksheets") or [notebook] for each in sheet["cells"]]
