"""[[sources]]: what is read, under which name, and what is left out of it."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from foundry.config.git_sources import GitSource, is_repository_url, local_host_of
from foundry.config.web_sources import (
    BaseUrl,
    SitemapSource,
    SiteSource,
    UrlSource,
    UrlSuffix,
    WebSource,
    check_base_url,
    is_local,
    suggest_site,
)
from foundry.errors import FoundryError
from foundry.features.feature import Slug, Strings, Table
from foundry.material import OCR_PAGES
from foundry.urls import parse_url

CONFIG_NAME = "foundry.toml"
QUESTIONS_NAME = "questions.jsonl"

TABLES = frozenset({".csv", ".jsonl"})
"""The endings of files that are read row by row."""


def _to_path(written: object) -> object:
    # An empty text would name the project's own folder.
    return Path(written) if isinstance(written, str) and written else written


Location = Annotated[Path, BeforeValidator(_to_path)]


class FolderSource(Table):
    """A folder of files, read recursively.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the path.
        path: The folder, relative to foundry.toml.
        include: Patterns as in .gitignore of the files to read; hidden names, and those of secrets,
            only if one spells them out.
        exclude: Patterns of files to leave out, in addition to .gitignore.
        base_url: Put before each path to make the urls of results.
        url_suffix: Stands in urls in place of the endings of pages, such as .md or .mdx, and of
            `index` and `README`: "" as with Docusaurus, "/" as with MkDocs, or ".html".
        tags: Tags for all of its documents.
        metadata: Keys of Markdown front matter to keep.
        modified: Where dates come from: the front matter (`content`) or the files (`file`).
        max_bytes: Larger files are skipped.
        ocr: Whether to read pictures and scanned pages; needs the extra `ocr`, and takes seconds
            a page.
        ocr_pages: How many pages of a document are read from pictures at most.
    """

    type: Literal["folder"] = "folder"
    name: Slug = ""
    path: Location
    include: Strings = ("**/*",)
    exclude: Strings = ()
    base_url: BaseUrl | None = None
    url_suffix: UrlSuffix | None = None
    tags: Strings = ()
    metadata: Strings = ()
    modified: Literal["content", "file"] = "content"
    max_bytes: int = Field(default=200_000_000, ge=1)
    ocr: bool = False
    ocr_pages: int = Field(default=OCR_PAGES, ge=1, le=2_000)


class RecordsSource(Table):
    """A CSV or JSONL table with one document per row; most values name columns.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the path.
        path: The .csv or .jsonl file, relative to foundry.toml.
        id: The column of ids, which must not change when the text does.
        title: The column of titles.
        text: The column of texts.
        url: The column of urls.
        modified: The column of dates.
        tags_column: The column of tags, a list or separated by commas.
        metadata: Other columns to keep.
        text_format: The format of the text.
        base_url: Put before relative urls, and before ids where a row has no url.
        tags: Tags for all of its documents.
    """

    type: Literal["records"] = "records"
    name: Slug = ""
    path: Location
    id: str = "id"
    title: str | None = "title"
    text: str = "text"
    url: str | None = "url"
    modified: str | None = "modified"
    tags_column: str | None = "tags"
    metadata: Strings = ()
    text_format: Literal["text", "markdown", "html"] = "text"
    base_url: BaseUrl | None = None
    tags: Strings = ()


Source = FolderSource | RecordsSource | GitSource | UrlSource | SitemapSource | SiteSource
SOURCES: dict[str, type[Table]] = {
    "folder": FolderSource,
    "records": RecordsSource,
    "git": GitSource,
    "url": UrlSource,
    "sitemap": SitemapSource,
    "site": SiteSource,
}

UNSEEN_LANGUAGES = frozenset(
    "arabic armenian greek hindi nepali russian serbian tamil yiddish".split()
)
"""Languages with letters that the model of the extra `ocr` does not know."""


def find_problems(sources: Sequence[Source], project: Path, language: str = "none") -> list[str]:
    """Return what is wrong with sources whose keys are each possible by themselves."""
    names = [_name_of(source) for source in sources]
    problems = [
        f"sources[{number}].name: {name!r} is taken by another source; give each its own name"
        for number, name in enumerate(names)
        if name in names[:number]
    ]
    for number, source in enumerate(sources):
        key = f"sources[{number}]"
        if getattr(source, "ocr", False) and language in UNSEEN_LANGUAGES:
            problems.append(f"{key}.ocr: cannot read the script of {language} in pictures")
        suffix = getattr(source, "url_suffix", None)
        if suffix is not None and not getattr(source, "base_url", None):
            problems.append(
                f"{key}.url_suffix: does nothing without base_url; set that, or remove it"
            )
        if "ocr_pages" in source.model_fields_set and not getattr(source, "ocr", False):
            problems.append(f"{key}.ocr_pages: is for sources with ocr = true")
        if isinstance(source, WebSource):
            continue
        if isinstance(source, GitSource):
            problems += source.find_problems(key, project)
            continue
        path = project / source.path
        if isinstance(source, FolderSource) and not path.is_dir():
            problems.append(f"{key}.path: no such folder: {path}")
        if isinstance(source, RecordsSource) and not path.is_file():
            problems.append(f"{key}.path: no such file: {path}")
        if isinstance(source, RecordsSource) and path.suffix not in TABLES:
            problems.append(f"{key}.path: must end in .csv or .jsonl, got {path.name}")
    return problems


def resolve(sources: Sequence[Source], root: Path, project_name: str) -> tuple[Source, ...]:
    """Return the sources, each with a name, absolute paths and canonical urls."""
    return tuple(_resolve(source, root, project_name) for source in sources)


def _resolve(source: Source, root: Path, project_name: str) -> Source:
    name = _name_of(source)
    if isinstance(source, WebSource):
        return source.model_copy(update={"name": name})
    if isinstance(source, GitSource):
        return source.resolve(name, root)
    path = (root / source.path).resolve()
    if isinstance(source, RecordsSource):
        return source.model_copy(update={"name": name, "path": path})
    exclude = (*source.exclude, *_own_files(path, root, project_name))
    return source.model_copy(update={"name": name, "path": path, "exclude": exclude})


def _name_of(source: Source) -> str:
    if source.name:
        return source.name
    if isinstance(source, WebSource):
        stem = source.host.replace(".", "-").replace(":", "-")
    elif isinstance(source, GitSource):
        stem = source.stem
    elif source.path.name in {"", ".."}:
        stem = source.path.resolve().name
    else:
        stem = str(source.path)
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(stem).stem.lower())
    return "-".join(part for part in slug.split("-") if part)[:63] or "source"


def _own_files(path: Path, root: Path, project_name: str) -> tuple[str, ...]:
    """Return patterns of the project's own files within a source, as they are no documents."""
    if path != root and path not in root.parents:
        return ()
    parts = (pattern_of(part) for part in root.relative_to(path).parts)
    prefix = "/" + "".join(f"{part}/" for part in parts)
    return tuple(prefix + name for name in (CONFIG_NAME, QUESTIONS_NAME, f"dist/{project_name}/"))


def suggest(written: str, project: Path) -> dict[str, object]:
    """Return what a new foundry.toml says about a folder, a table, a repository or a website.

    Raises FoundryError if there is no such thing.
    """
    if names_repository(written):
        return {"type": "git", "repository": written}
    if "://" in written:
        return suggest_site(written)
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


def private_hosts_of(written: str) -> tuple[str, ...]:
    """Return the host that a url names, if it seems to be a private one, as `allow_private`.

    Whoever gives the url on the command line allows that host by it. Raises UrlError.
    """
    if names_repository(written):
        host = local_host_of(written)
    else:
        url = parse_url(written) if "://" in written else None
        host = url.authority if url and is_local(url.host) else None
    return (host,) if host else ()


def names_repository(written: str) -> bool:
    """Return whether a source is written as a git repository is, rather than a web page."""
    return is_repository_url(written) and (written.endswith(".git") or "://" not in written)


def with_base_url(settings: Mapping[str, object], base_url: str) -> dict[str, object]:
    """Return a new source's settings with the address of its documents. Raises FoundryError."""
    if settings["type"] not in {"folder", "records", "git"}:
        raise FoundryError(
            "--base-url is for folders, tables and repositories",
            hint="pages of the web have their own urls",
        )
    try:
        return {**settings, "base_url": check_base_url(base_url)}
    except ValueError as error:
        raise FoundryError(f"--base-url: {error}") from None


def suggest_file(source: Path, project: Path) -> dict[str, object]:
    """Return what foundry.toml says about a single file: its folder, and nothing else there.

    Raises FoundryError.
    """
    if not source.name.isprintable():
        raise FoundryError(f"{str(source)!r}: TOML cannot hold this name", hint="rename the file")
    return {
        "type": "folder",
        "path": _path_from(project, source.parent),
        "include": f"/{pattern_of(source.name)}",
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
    """Return whether a source is below the project, around it, next to it or in its repository."""
    if project.parent in source.parents or source in (project, *project.parents):
        return True
    repository = next((each for each in project.parents if (each / ".git").exists()), None)
    return repository is not None and repository in source.parents


def pattern_of(path: str) -> str:
    """Return a pattern, as in .gitignore, that matches this path of a file or folder alone."""
    return re.sub(r"([^\w./-])", r"\\\1", path)
