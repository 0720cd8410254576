"""A project's own templates, which stand in for Foundry's by name.

They are code: a template calls what it can reach, and Jinja's sandbox has been left too often to be
a boundary. So they are read only for a caller who said that they may run. What is checked here
keeps mistakes out, not malice: every file must stand in for one that exists, and none may lead out
of the folder.
"""

from collections.abc import Mapping
from pathlib import Path

from foundry.errors import RenderError

SUFFIX = ".jinja"
MAX_BYTES = 1_000_000
MAX_FILES = 1_000


def read_own_templates(folder: Path, known: set[str]) -> Mapping[str, str]:
    """Return the templates of a folder, by name; each must be `known`.

    Raises RenderError for a link that leaves the folder, for a name that replaces nothing, and for
    what is no text or too large to be a template.
    """
    root = folder.resolve()
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.resolve().is_relative_to(root):
            raise RenderError(f"{path}: is a link that leaves the folder of the templates")
        if path.is_dir():
            continue
        if name not in known:
            raise RenderError(
                f"{path}: replaces no template",
                hint=f"a template is called like the file that it makes, with {SUFFIX}:"
                f" {', '.join(sorted(known))}",
            )
        found[name] = _read(path)
        if len(found) > MAX_FILES:
            raise RenderError(f"{folder}: holds more than {MAX_FILES:,} files")
    return found


def _read(path: Path) -> str:
    if not path.is_file():
        raise RenderError(f"{path}: is not a file")
    if path.stat().st_size > MAX_BYTES:
        raise RenderError(f"{path}: is larger than {MAX_BYTES:,} bytes")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise RenderError(f"{path}: cannot be read: {error}") from None
