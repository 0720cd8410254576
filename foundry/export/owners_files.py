"""Takes the owner's files over from an old export into the new one that replaces it.

They are linked rather than copied where the file system can: an environment or a history may be
large, and keeps its times, modes and empty folders that way.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from foundry.export.checksums import BY_PRODUCTS


def take_over(old: Path, new: Path, is_foundrys: Callable[[str], bool]) -> None:
    """Bring every file that is not Foundry's from `old` into `new`.

    One whose name is taken there is kept beside it, as .orig.
    """
    folders = {
        parent.as_posix()
        for path in old.rglob("*")
        if is_foundrys(name := path.relative_to(old).as_posix())
        for parent in Path(name).parents
    }
    _take_over(old, new, "", is_foundrys, folders)


def keep_aside(old: Path, path: Path) -> None:
    """Keep a file of the old export beside the new one at `path`, as .orig."""
    link_or_copy(old, free_name(path))


def free_name(path: Path) -> Path:
    """Return the path itself, or with .orig, .orig2 ... after it where something stands."""
    free, number = path, 1
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}.orig{number if number > 1 else ''}")
        number += 1
    return free


def link_or_copy(old: str | Path, new: str | Path) -> None:
    """Give a file a second name, or copy it where that cannot be done."""
    Path(new).parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(old, new, follow_symlinks=False)


def _take_over(
    old: Path, new: Path, prefix: str, is_foundrys: Callable[[str], bool], folders: set[str]
) -> None:
    for path in sorted(old.iterdir()):
        name = prefix + path.name
        if path.name in BY_PRODUCTS:
            continue
        if path.is_dir() and not path.is_symlink():
            if name in folders:
                _take_over(path, new / path.name, f"{name}/", is_foundrys, folders)
            else:
                shutil.copytree(
                    path,
                    free_name(new / path.name) if (new / path.name).is_file() else new / path.name,
                    symlinks=True,
                    copy_function=link_or_copy,
                    dirs_exist_ok=True,
                )
        elif not is_foundrys(name):
            link_or_copy(path, free_name(new / path.name))
