"""Composes the first foundry.toml of a project."""

import os
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from foundry.config.package_names import is_taken
from foundry.config.suggestions import with_base_url
from foundry.features.contributions import list_tables
from foundry.files import CONFIG_NAME
from foundry.rendering.environment import render
from foundry.runtime.index.tree import read_file
from foundry.state.folder import IGNORED

_DECIDED = "path repository url id title text include exclude base_url".split()
"""Keys of a source that are written if their values are known."""

MAX_IGNORE_BYTES = 1_000_000
MAX_KEYS_NAMED = 5
"""How many front matter keys or table columns a new file suggests."""


def compose_config(
    name: str,
    source: Mapping[str, object],
    *,
    title: str = "",
    description: str = "",
    base_url: str | None = None,
    language: str | None = None,
    metadata: Sequence[str] = (),
    versions: Sequence[str] = (),
    asks_model: bool = True,
) -> str:
    """Return a foundry.toml that can be built at once: chosen values, then defaults as comments.

    `source` has the keys of its section. The server is named after `name`, which is also its title
    by default. `metadata` are keys found in documents, and `versions` are folders that hold
    versions of the same pages, newest first. `asks_model` lets the chat ask a language model.
    Raises FoundryError if the source does not allow the base url.
    """
    slug = slug_of(name)
    if not slug or not slug[0].isalpha() or is_taken(slug.replace("-", "_")):
        slug = f"docs-{slug}".rstrip("-")
    if base_url is not None:
        source = with_base_url(source, base_url)
    values = {
        "name": slug,
        "package": slug.replace("-", "_"),
        "title": title or name,
        "description": description,
        "language": language,
        "found": [key for key in metadata if len(key) < 40][:MAX_KEYS_NAMED],
        "stages": list_tables({"versions"} if versions else ()),
        "versions": versions,
        "asks_model": asks_model,
        "source": {**dict.fromkeys(_DECIDED), **source},
    }
    return render("foundry.toml.jinja", values)


def write_config(project: Path, text: str) -> Path:
    """Write a project's first foundry.toml, creating the folder if needed; return its path.

    A .gitignore excludes the output of builds. Raises FileExistsError if there is a foundry.toml.
    """
    project.mkdir(parents=True, exist_ok=True)
    file = project / CONFIG_NAME
    # Mode "x" does not follow links, and does not overwrite a file created in the meantime.
    with file.open("x", encoding="utf-8") as stream:
        stream.write(text)
    _ignore_state(project)
    return file


def _ignore_state(project: Path) -> None:
    """Add Foundry's files to .gitignore, creating it if needed."""
    file = project / ".gitignore"
    if os.path.lexists(file):
        with suppress(OSError, ValueError):
            written = "" if file.is_symlink() else read_file(file, MAX_IGNORE_BYTES).decode()
            missing = [line for line in IGNORED if line not in written.splitlines()]
            if missing and not file.is_symlink():
                begin = "" if not written or written.endswith("\n") else "\n"
                with file.open("a", encoding="utf-8") as stream:
                    stream.write(begin + "".join(f"{line}\n" for line in missing))
        return
    with file.open("x", encoding="utf-8") as stream:
        stream.write("".join(f"{line}\n" for line in IGNORED))


def slug_of(title: str) -> str:
    """Return the words of a title in lower-case ASCII, joined by hyphens; "" if it has none."""
    # After normalisation, accents are separate characters, which are dropped here.
    letters = (c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c))
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in letters)
    return "-".join(words.lower().split())[:50].strip("-")
