"""Titles that say something."""

from pathlib import PurePosixPath

from foundry.records import Document
from foundry.runtime.index.records import GOES_ON


def own_title(document: Document) -> str:
    """Return the title; nothing where it only repeats the name of the file, the id or the text."""
    name = PurePosixPath(document.path)
    known = {_plain(text) for text in (name.name, name.stem, document.id)}
    is_quoted = document.title.endswith(GOES_ON)
    return "" if is_quoted or _plain(document.title) in known else document.title


def added_title(document: Document) -> str:
    """Return the same; nothing either where the text begins with it."""
    title, start = own_title(document), document.reading.body_start
    # Markup and white space between its words take some room.
    beginning = document.reading.text[start : start + 4 * len(title) + 20]
    return "" if _plain(beginning).startswith(_plain(title)) else title


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
