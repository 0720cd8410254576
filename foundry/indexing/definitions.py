"""Under which names a definition in source code is found, beside its own."""

from pathlib import PurePosixPath

from foundry.records import Document

_DOUBLE_COLON = frozenset(("code-cpp", "code-php", "code-ruby", "code-rust"))
"""Readers of the languages that write `Store::size` for `Store.size`."""


def qualified_names(document: Document, path: tuple[str, ...]) -> list[str]:
    """Return the names with more and more of those around it: `Store.size`, then `shop.Store.size`.

    The module is the file's name without its suffix.
    """
    names = (PurePosixPath(document.path).stem, *path)
    joint = "::" if document.reader.partition("/")[0] in _DOUBLE_COLON else "."
    return [joint.join(names[start:]) for start in range(len(names) - 2, -1, -1)]
