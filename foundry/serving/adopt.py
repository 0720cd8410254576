"""Projects in the user's cache for folders, files and urls without foundry.toml."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from foundry.config.sources import TABLES, FolderSource, resolve
from foundry.config.suggestions import names_repository, private_hosts_of, suggest, suggest_file
from foundry.errors import FoundryError
from foundry.files import CONFIG_NAME, replace_file
from foundry.rendering.first_config import compose_config, slug_of
from foundry.serving.options import Adopted
from foundry.serving.running import model_variables
from foundry.sources.tables import Row, read_rows
from foundry.sources.versions import describe_versions, recognise_versions
from foundry.state.user_cache import cache_folder


def adopt(written: str) -> Path | Adopted:
    """Return the project of a path or a url: its own, or one written into the user's cache.

    Nothing is written to a folder without foundry.toml. Raises FoundryError if the folder or file
    does not exist, or the url is invalid. A website is not contacted.
    """
    path = Path(written)
    if path.name == CONFIG_NAME and path.is_file():
        return path.parent
    if (path / CONFIG_NAME).exists():
        return path
    if path.exists():
        return _adopt_path(path.resolve())
    if "://" in written or names_repository(written):
        title = written.partition("://")[2].strip("/") or written
        project = cache_folder() / _name_in_cache(title, written)
        _write_project(project, title, suggest(written, project))
        allowed = private_hosts_of(written)
        return Adopted(written, written, project, allow_private=allowed)
    hint = "name a project, a folder of documents, a file or a url"
    raise FoundryError(f"{written}: no such folder or file", hint=hint)


def _adopt_path(source: Path) -> Adopted:
    title = source.name if source.is_dir() else source.stem
    project = cache_folder() / _name_in_cache(title, source)
    is_source = source.is_dir() or _has_documents_in_rows(source)
    described = suggest(str(source), project) if is_source else suggest_file(source, project)
    is_folder = source.is_dir() and described["type"] == "folder"
    versions = _find_versions(source, project) if is_folder else []
    _write_project(project, title, described, versions)
    said = describe_versions(versions) if versions else ""
    return Adopted(str(source), str(source if is_source else source.parent), project, said)


def _find_versions(path: Path, project: Path) -> list[str]:
    (source,) = resolve((FolderSource(type="folder", path=path),), project, project.name)
    assert isinstance(source, FolderSource)
    return recognise_versions(source)


def _write_project(
    project: Path, title: str, source: Mapping[str, object], versions: Sequence[str] = ()
) -> None:
    for folder in (project.parent, project):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    project.chmod(0o700)
    written = compose_config(title, source, versions=versions, asks_model=bool(model_variables()))
    text = f"# Written by foundry serve, which overwrites it.\n{written}"
    file = project / CONFIG_NAME
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        replace_file(file, text.encode())


def _has_documents_in_rows(source: Path) -> bool:
    """Return whether a file is a table with the default column names."""
    if source.suffix not in TABLES or not source.is_file():
        return False
    with closing(read_rows(source)) as rows:
        first = next((row.values for row in rows if isinstance(row, Row)), {})
    return "text" in first and bool({"id", "_id"} & first.keys())


def _name_in_cache(title: str, source: Path | str) -> str:
    digest = hashlib.sha256(os.fsencode(source)).hexdigest()[:12]
    return f"{slug_of(title) or 'docs'}-{digest}"
