"""[[sources]] resolved: what is read, under which name, and what is left out of it."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from foundry.config import web_sources as config_web_sources
from foundry.config.file import FolderSection, RecordsSection, SourceSection
from foundry.config.web_sources import WebSource
from foundry.errors import FoundryError
from foundry.urls import UrlError, parse_url

CONFIG_NAME = "foundry.toml"
QUESTIONS_NAME = "questions.jsonl"

TABLES = frozenset({".csv", ".jsonl"})
"""The endings of files that are read row by row."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of files, read recursively."""

    name: str
    path: Path
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    base_url: str | None
    tags: tuple[str, ...]
    modified_from_file: bool
    max_bytes: int
    metadata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """A CSV or JSONL table, one document a row; the fields name columns."""

    name: str
    path: Path
    id: str
    title: str | None
    text: str
    url: str | None
    modified: str | None
    tags_column: str | None
    metadata: tuple[str, ...]
    text_format: Literal["text", "markdown", "html"]
    base_url: str | None
    tags: tuple[str, ...]


Source = FolderSource | RecordsSource | WebSource

SECTIONS: dict[str, type[BaseModel]] = {
    "folder": FolderSection,
    "records": RecordsSection,
    **config_web_sources.SECTIONS,
}


def find_problems(sections: Sequence[SourceSection], project: Path) -> list[str]:
    """Return what is wrong with sections whose keys are each possible by themselves."""
    names = _names_of(sections)
    problems = [
        f"sources[{number}].name: {name!r} is taken by another source; give each its own name"
        for number, name in enumerate(names)
        if name in names[:number]
    ]
    for number, source in enumerate(sections):
        if not isinstance(source, FolderSection | RecordsSection):
            problems += config_web_sources.find_problems(source, f"sources[{number}]")
            continue
        problems += _find_base_problems(source.base_url, f"sources[{number}].base_url")
        path = project / source.path
        if isinstance(source, FolderSection) and not path.is_dir():
            problems.append(f"sources[{number}].path: no such folder: {path}")
        if isinstance(source, RecordsSection) and not path.is_file():
            problems.append(f"sources[{number}].path: no such file: {path}")
        if isinstance(source, RecordsSection) and path.suffix not in TABLES:
            problems.append(f"sources[{number}].path: must end in .csv or .jsonl, got {path.name}")
    return problems


def _find_base_problems(base_url: str | None, key: str) -> list[str]:
    """Return what is wrong with the address under which a source's documents are."""
    try:
        if base_url is not None:
            parse_url(base_url)
    except UrlError as error:
        # Without the detail, which quotes what may hold a password.
        return [f"{key}: {error.reason}; write an address like https://docs.example.com/guide"]
    return []


def resolve(sections: Sequence[SourceSection], root: Path, project_name: str) -> tuple[Source, ...]:
    """Sources with absolute paths, and a name for each."""
    return tuple(
        _resolve_source(section, name, root, project_name)
        for section, name in zip(sections, _names_of(sections), strict=True)
    )


def _names_of(sections: Sequence[SourceSection]) -> list[str]:
    names = []
    for source in sections:
        if not isinstance(source, FolderSection | RecordsSection):
            stem = config_web_sources.host_of(source).replace(".", "-").replace(":", "-")
        elif source.path in {".", ".."}:
            stem = Path(source.path).resolve().stem
        else:
            stem = source.path
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(stem).stem.lower())
        slug = "-".join(part for part in slug.split("-") if part)
        names.append(source.name or slug[:63] or "source")
    return names


def _resolve_source(source: SourceSection, name: str, root: Path, project_name: str) -> Source:
    if not isinstance(source, FolderSection | RecordsSection):
        return config_web_sources.resolve(source, name)
    values: dict[str, Any] = source.model_dump(exclude={"type", "name", "path"})
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
    path = (root / source.path).resolve()
    if isinstance(source, FolderSection):
        values["modified_from_file"] = values.pop("modified") == "file"
        values["exclude"] += _own_files(path, root, project_name)
        return FolderSource(name=name, path=path, **values)
    return RecordsSource(name=name, path=path, **values)


def _own_files(path: Path, root: Path, project_name: str) -> tuple[str, ...]:
    """Patterns for the project's own files where a source holds them: they are no documents."""
    if path != root and path not in root.parents:
        return ()
    parts = (_escape(part) for part in root.relative_to(path).parts)
    prefix = "/" + "".join(f"{part}/" for part in parts)
    return tuple(prefix + name for name in (CONFIG_NAME, QUESTIONS_NAME, f"dist/{project_name}/"))


def suggest(written: str, project: Path) -> dict[str, object]:
    """Return what a new foundry.toml says about a folder or a table. Raises FoundryError."""
    source = Path(written)
    if not source.exists():
        raise FoundryError(f"{source}: no such folder or file", hint="name what is to be indexed")
    is_records = source.is_file()
    if is_records and source.suffix not in TABLES:
        raise FoundryError(
            f"{source}: is one file",
            hint="name the folder that holds it, or a .csv or .jsonl table",
        )
    return {"type": "records" if is_records else "folder", "path": _path_from(project, source)}


def with_base_url(settings: Mapping[str, object], base_url: str) -> dict[str, object]:
    """Return a new source's settings with the address of its documents. Raises FoundryError."""
    if settings["type"] not in {"folder", "records"}:
        raise FoundryError(
            "--base-url is for folders and tables", hint="pages of the web have their own urls"
        )
    if problems := _find_base_problems(base_url, "--base-url"):
        raise FoundryError(problems[0])
    return {**settings, "base_url": base_url}


def suggest_file(source: Path, project: Path) -> dict[str, object]:
    """Return what one says about a single file: the folder that holds it, and nothing else there.

    Raises FoundryError.
    """
    if not source.name.isprintable():
        raise FoundryError(f"{str(source)!r}: TOML cannot hold this name", hint="rename the file")
    return {
        "type": "folder",
        "path": _path_from(project, source.parent),
        "include": f"/{_escape(source.name)}",
        "exclude": "/*/",
    }


def _path_from(project: Path, source: Path) -> str:
    """Return a path that stays right when the project is moved: relative to what moves with it."""
    source, project = source.resolve(), project.resolve()
    path = os.path.relpath(source, project) if _move_together(project, source) else str(source)
    if not path.isprintable():
        raise FoundryError(
            f"{path!r}: TOML cannot hold this name", hint="rename what is to be indexed"
        )
    return path


def _move_together(project: Path, source: Path) -> bool:
    """Return whether a source is below the project, around it, beside it or in its repository."""
    if project.parent in source.parents or source in (project, *project.parents):
        return True
    repository = next((each for each in project.parents if (each / ".git").exists()), None)
    return repository is not None and repository in source.parents


def _escape(name: str) -> str:
    """Return a pattern, as in .gitignore, that matches this name of a file or folder alone."""
    return re.sub(r"([^\w.-])", r"\\\1", name)
