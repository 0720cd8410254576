"""Suggests the settings of a source named on the command line."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from foundry.config.git_sources import is_repository_url, local_host_of
from foundry.config.sources import TABLES, pattern_of
from foundry.config.web_sources import check_base_url, is_local, suggest_site
from foundry.errors import FoundryError
from foundry.urls import parse_url

_FORGE = re.compile(
    r"https://(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/[^/?#]+/[^/?#]+/?"
)
"""The page of a repository, which git can fetch from the same address."""


def suggest(written: str, project: Path) -> dict[str, object]:
    """Return the `[[sources]]` settings for a folder, table, repository or website.

    Raises FoundryError if it does not exist, is a single file but no table, or has an invalid url.
    """
    if names_repository(written):
        return {"type": "git", "repository": written.rstrip("/")}
    if written.startswith("file://"):
        raise FoundryError(
            f"{written}: is no web address", hint="write it as a path, without file://"
        )
    if "://" in written:
        return suggest_site(written)
    source = Path(written)
    if not source.exists():
        raise FoundryError(
            f"{source}: no such folder or file", hint="name a folder, file or url to index"
        )
    if _is_bare_repository(source):
        return {"type": "git", "repository": _path_from(project, source)}
    is_records = source.is_file()
    if is_records and source.suffix not in TABLES:
        raise FoundryError(
            f"{source}: is one file",
            hint="name the folder that contains it, or a .csv or .jsonl table",
        )
    return {"type": "records" if is_records else "folder", "path": _path_from(project, source)}


def private_hosts_of(written: str) -> tuple[str, ...]:
    """Return a url's host for `allow_private`, if the host seems to be private.

    A url named on the command line may be fetched even from a private host. Raises UrlError.
    """
    if names_repository(written):
        host = local_host_of(written)
    else:
        url = parse_url(written) if "://" in written else None
        host = url.authority if url and is_local(url.host) else None
    return (host,) if host else ()


def names_repository(written: str) -> bool:
    """Return whether a source looks like a git repository rather than a web page."""
    looks_so = written.endswith(".git") or "://" not in written or _FORGE.fullmatch(written)
    return bool(looks_so) and is_repository_url(written)


def with_base_url(settings: Mapping[str, object], base_url: str) -> dict[str, object]:
    """Return a source's settings with the base url of its documents. Raises FoundryError."""
    if settings["type"] not in {"folder", "records", "git"}:
        raise FoundryError(
            "--base-url is only for folders, tables and repositories",
            hint="web pages already have urls",
        )
    try:
        return {**settings, "base_url": check_base_url(base_url)}
    except ValueError as error:
        raise FoundryError(f"--base-url: {error}") from None


def suggest_file(source: Path, project: Path) -> dict[str, object]:
    """Return the settings for a single file: its folder, including only that file.

    Raises FoundryError if its name has a character that TOML does not allow.
    """
    if not source.name.isprintable():
        hint = "rename the file"
        raise FoundryError(f"{str(source)!r}: has a character that TOML does not allow", hint=hint)
    return {
        "type": "folder",
        "path": _path_from(project, source.parent),
        "include": f"/{pattern_of(source.name)}",
        "exclude": "/*/",
    }


def _is_bare_repository(folder: Path) -> bool:
    """Return whether a folder is a git repository without a working tree."""
    return (folder / "HEAD").is_file() and all(
        (folder / name).is_dir() for name in ("objects", "refs")
    )


def _path_from(project: Path, source: Path) -> str:
    """Return a source's path: relative if it moves together with the project, else absolute.

    Raises FoundryError if TOML does not allow one of its characters.
    """
    source, project = source.resolve(), project.resolve()
    path = os.path.relpath(source, project) if _move_together(project, source) else str(source)
    if not path.isprintable():
        hint = "rename the file or folder"
        raise FoundryError(f"{path!r}: has a character that TOML does not allow", hint=hint)
    return path


def _move_together(project: Path, source: Path) -> bool:
    """Return whether a source is inside, around or next to the project, or in its repository."""
    if project.parent in source.parents or source in (project, *project.parents):
        return True
    repository = next((each for each in project.parents if (each / ".git").exists()), None)
    return repository is not None and repository in source.parents
