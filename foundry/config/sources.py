"""[[sources]]: their locations, names, and excluded files."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field

from foundry.config.any_source import AnySource
from foundry.config.git_sources import GitSource
from foundry.config.named_files import why_no_file, why_no_folder
from foundry.config.web_sources import (
    BaseUrl,
    SitemapSource,
    SiteSource,
    UrlSource,
    UrlSuffix,
)
from foundry.documents import OCR_PAGES
from foundry.features.feature import Slug, Strings, Table
from foundry.files import CONFIG_NAME

QUESTIONS_NAME = "questions.jsonl"

TABLES = frozenset({".csv", ".jsonl"})
"""Extensions of files that are read as tables."""


def _to_path(written: object) -> object:
    # An empty path would mean the project's own folder.
    return Path(written) if isinstance(written, str) and written else written


Location = Annotated[Path, BeforeValidator(_to_path)]


class _LocalSource(AnySource):
    path: Location

    @property
    def stem(self) -> str:
        """The path."""
        return str(self.path)

    def resolve(self, name: str, root: Path, /) -> Self:
        """Return the source with a name and an absolute path."""
        path = (root / self.path).resolve()
        return self.model_copy(update={"name": name, "path": path})


class FolderSource(_LocalSource):
    """A folder of files, read recursively.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the path.
        path: The folder, relative to foundry.toml.
        include: Patterns of the files to read, as in .gitignore; a hidden or secret-looking name
            must be spelled out to be included.
        exclude: Patterns of files to leave out, in addition to .gitignore.
        base_url: The beginning of the urls of results, before each path.
        url_suffix: Replaces the extension of pages, such as .md or .mdx, and `index` and `README`
            in urls: "" as with Docusaurus, "/" as with MkDocs, or ".html".
        tags: Tags for all of its documents.
        metadata: Keys of Markdown front matter to keep.
        modified: Where dates come from: the documents' content, such as front matter or a PDF's
            properties (`content`), or the files' modification times (`file`).
        max_bytes: Larger files are skipped.
        ocr: Whether to read pictures and scanned pages; needs the extra `ocr`, and takes seconds
            per page.
        ocr_pages: The maximum number of pages per document that are read from pictures.
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

    def find_problems(self, key: str, project: Path, /) -> list[str]:
        """Return problems that the types do not catch; `key` is the source's path in the file."""
        reason = why_no_folder(project / self.path)
        return [f"{key}.path: {reason}"] if reason else []


class RecordsSource(_LocalSource):
    """A CSV or JSONL table with one document per row; most settings are names of columns.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default made from the path.
        path: The .csv or .jsonl file, relative to foundry.toml.
        id: The column of ids, which must not change when the text does.
        title: The column of titles.
        text: The column of texts.
        url: The column of urls.
        modified: The column of dates.
        tags_column: The column of tags, as a list or separated by commas.
        metadata: Other columns to keep.
        text_format: The format of the text.
        base_url: The beginning of relative urls; a row without a url gets its id after it.
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

    def find_problems(self, key: str, project: Path, /) -> list[str]:
        """Return problems that the types do not catch; `key` is the source's path in the file."""
        problems = []
        if reason := why_no_file(project / self.path):
            problems.append(f"{key}.path: {reason}")
        if self.path.suffix not in TABLES:
            problems.append(f"{key}.path: must end in .csv or .jsonl, got {self.path.name}")
        return problems


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
"""Languages with letters that the model of the extra `ocr` cannot recognise."""


def find_problems(sources: Sequence[Source], project: Path, language: str = "none") -> list[str]:
    """Return problems of sources that the types do not catch, and conflicts between sources."""
    names = [_name_of(source, project) for source in sources]
    problems = [
        f"sources[{number}].name: {name!r} is taken by another source; rename one of them"
        for number, name in enumerate(names)
        if name in names[:number]
    ]
    for number, source in enumerate(sources):
        key = f"sources[{number}]"
        if getattr(source, "ocr", False) and language in UNSEEN_LANGUAGES:
            problems.append(
                f"{key}.ocr: cannot recognise the script of {language} in pictures; remove it"
            )
        suffix = getattr(source, "url_suffix", None)
        if suffix is not None and not getattr(source, "base_url", None):
            problems.append(
                f"{key}.url_suffix: does nothing without base_url; set that, or remove it"
            )
        if "ocr_pages" in source.model_fields_set and not getattr(source, "ocr", False):
            problems.append(
                f"{key}.ocr_pages: does nothing without ocr = true; set that, or remove it"
            )
        problems += source.find_problems(key, project)
    return problems


def resolve(sources: Sequence[Source], root: Path, project_name: str) -> tuple[Source, ...]:
    """Return the sources with names, absolute paths and canonical urls."""
    named = [source.resolve(_name_of(source, root), root) for source in sources]
    return tuple(_without_own_files(source, root, project_name) for source in named)


def _name_of(source: Source, project: Path) -> str:
    if source.name:
        return source.name
    path = Path(source.stem)
    # `.` and `..` stand for folders whose names are not in the file.
    stem = (path if path.name not in {"", ".."} else (project / path).resolve()).stem.lower()
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem)
    return "-".join(part for part in slug.split("-") if part)[:63] or "source"


def _without_own_files(source: Source, root: Path, project_name: str) -> Source:
    """Exclude the project's own files from a folder that contains them."""
    if not isinstance(source, FolderSource) or source.path not in (root, *root.parents):
        return source
    parts = (pattern_of(part) for part in root.relative_to(source.path).parts)
    prefix = "/" + "".join(f"{part}/" for part in parts)
    own = [prefix + name for name in (CONFIG_NAME, QUESTIONS_NAME, f"dist/{project_name}/")]
    return source.model_copy(update={"exclude": (*source.exclude, *own)})


def pattern_of(path: str) -> str:
    """Return a path as a .gitignore pattern, with special characters escaped."""
    return re.sub(r"([^\w./-])", r"\\\1", path)
