"""Projects for folders and files without foundry.toml, kept in the user's cache."""

import hashlib
import os
import sys
from contextlib import closing
from pathlib import Path

from foundry.config.sources import CONFIG_NAME, TABLES, suggest, suggest_file
from foundry.errors import FoundryError
from foundry.files import replace_file
from foundry.rendering.first_config import compose_config, slug_of
from foundry.serving.request import Adopted
from foundry.sources.tables import Row, read_csv, read_jsonl


def adopt(path: Path) -> Path | Adopted:
    """Return the project that a path stands for: its own, or one in the cache with the defaults.

    Nothing is written into a folder that has no foundry.toml. Raises FoundryError if there is
    neither a folder nor a file.
    """
    if path.name == CONFIG_NAME and path.is_file():
        return path.parent
    if (path / CONFIG_NAME).exists():
        return path
    if not path.exists():
        hint = "name a project, a folder of documents or a file"
        if str(path).startswith(("http:/", "https:/")):
            hint = "for a website: foundry init DIR --source URL, then foundry serve DIR"
        raise FoundryError(f"{path}: no such folder or file", hint=hint)
    source = path.resolve()
    project = _cache_folder() / _name_in_cache(source)
    for folder in (project.parent, project):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    project.chmod(0o700)
    if source.is_dir() or _has_documents_in_rows(source):
        described = suggest(str(source), project)
    else:
        described = suggest_file(source, project)
    text = (
        f"# By foundry serve, which writes it anew.\n{compose_config(_title_of(source), described)}"
    )
    file = project / CONFIG_NAME
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        replace_file(file, text.encode())
    return Adopted(source, project)


def _has_documents_in_rows(source: Path) -> bool:
    """Return whether a file is a table whose columns are called as they are by default."""
    if source.suffix not in TABLES:
        return False
    with closing((read_csv if source.suffix == ".csv" else read_jsonl)(source)) as rows:
        first = next((row.values for row in rows if isinstance(row, Row)), {})
    return "text" in first and bool({"id", "_id"} & first.keys())


def _cache_folder() -> Path:
    """Return where Foundry keeps what it can make again, as platformdirs would say."""
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        return chosen / "foundry"
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / caches / "foundry"


def _name_in_cache(source: Path) -> str:
    digest = hashlib.sha256(os.fsencode(source)).hexdigest()[:12]
    return f"{slug_of(_title_of(source)) or 'docs'}-{digest}"


def _title_of(source: Path) -> str:
    return source.name if source.is_dir() else source.stem
