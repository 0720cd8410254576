"""Which files of a folder could be documents of it, by their names alone."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from foundry.config.sources import FolderSource
from foundry.sources.ignoring import Selection


def concerns_any(sources: Sequence[FolderSource]) -> Callable[[str], bool]:
    """Return whether a path may concern what one of the folders delivers.

    Excluded and hidden names do not; .gitignore files do, and what they say is not asked.
    """
    selections = [(os.path.realpath(source.path), Selection(source)) for source in sources]

    def judge(path: str) -> bool:
        return any(_concerns(root, selection, path) for root, selection in selections)

    return judge


def enters_folders(source: FolderSource) -> bool:
    """Return whether documents may lie in folders below the source's own."""
    return Selection(source).enters("any/")


def _concerns(root: str, selection: Selection, path: str) -> bool:
    relative = os.path.relpath(path, root)
    if relative == ".":
        return True
    parts = Path(relative).parts
    if parts[0] == os.pardir:
        return False
    *folders, name = parts
    above = ""
    for folder in folders:
        above += folder + "/"
        if selection.hides(folder) or not selection.enters(above):
            return False
    if name == ".gitignore":
        return True
    # A folder that was moved in or away is a change of all that is in it.
    is_wanted = selection.wants_file(relative) or not os.path.isfile(path)  # noqa: PTH113
    return is_wanted and not selection.hides(name) and selection.enters(relative + "/")
