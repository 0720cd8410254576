"""Git sources: files of a repository at a branch, tag or commit."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from foundry.config.any_source import AnySource
from foundry.config.named_files import why_no_folder
from foundry.config.web_sources import BaseUrl, UrlSuffix, is_local
from foundry.documents import OCR_PAGES
from foundry.features.feature import Slug, Strings

VERSION = "version"
"""The metadata key that distinguishes versions."""

_REF = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[A-Za-z0-9_][A-Za-z0-9_./+#@-]*")
_URL = re.compile(
    r"(?:https?://[^\s/@]+|ssh://(?:[\w.-]+@)?[\w.\[\]:-]+)/[^\s]+"
    r"|[\w.-]+@[A-Za-z0-9][\w.-]*:[^\s]+"
)


def _as_ref(written: str) -> str:
    if not _REF.fullmatch(written):
        raise ValueError(f"{written!r} is not the name of a branch, tag or commit")
    return written


def _as_folder(written: str) -> str:
    folder = written.strip("/")
    if folder and {"", ".", ".."} & {*folder.split("/")}:
        raise ValueError(f"{written!r} is not a folder of the repository, such as docs")
    return folder


Ref = Annotated[str, AfterValidator(_as_ref)]


class GitSource(AnySource):
    """The files of a git repository; only commits are read, so no working tree is needed.

    Attributes:
        type: What kind of source this is.
        name: The name in results and filters; by default the repository's name.
        repository: The url of the repository, or its path relative to foundry.toml.
        ref: A branch, a tag or a full commit id; by default the repository's default branch.
        versions: Branches or tags to read instead of `ref`. Each document has its branch or tag as
            the metadata `version`, by which searches can be filtered, and as the first part of its
            path.
        folder: The folder of the repository to read; paths, patterns and urls begin inside it.
        include: Patterns of the files to read, as in .gitignore.
        exclude: Patterns of files to leave out.
        base_url: The beginning of the urls of results, before each path; `{commit}` in it becomes
            the commit that last changed the file, or the commit that is read if `history` is off.
        url_suffix: Replaces the extension of pages, such as .md or .mdx, and `index` and `README`
            in urls: "" as with Docusaurus, "/" as with MkDocs, or ".html".
        tags: Tags for all of its documents.
        metadata: Keys of Markdown front matter to keep.
        history: Whether to fetch earlier commits, without their files, to date files that do
            not contain a date themselves.
        max_bytes: Larger files are skipped.
        ocr: Whether to read pictures and scanned pages; needs the extra `ocr`, and takes seconds
            per page.
        ocr_pages: The maximum number of pages per document that are read from pictures.
    """

    type: Literal["git"] = "git"
    name: Slug = ""
    repository: str = Field(min_length=1, max_length=2_000)
    ref: Ref = "HEAD"
    versions: Annotated[tuple[Ref, ...], Field(strict=False)] = Field(default=(), max_length=100)
    folder: Annotated[str, AfterValidator(_as_folder)] = ""
    include: Strings = ("**/*",)
    exclude: Strings = ()
    base_url: BaseUrl | None = None
    url_suffix: UrlSuffix | None = None
    tags: Strings = ()
    metadata: Strings = ()
    history: bool = True
    max_bytes: int = Field(default=200_000_000, ge=1)
    ocr: bool = False
    ocr_pages: int = Field(default=OCR_PAGES, ge=1, le=2_000)

    @property
    def refs(self) -> tuple[str, ...]:
        """The branches, tags or commits to read."""
        return self.versions or (self.ref,)

    @property
    def stem(self) -> str:
        """The name of the repository."""
        return re.split(r"[/:\\]", self.repository.rstrip("/"))[-1].removesuffix(".git")

    def find_problems(self, key: str, project: Path, /) -> list[str]:
        """Return problems that the types do not catch; `key` is the source's path in the file."""
        problems = []
        if self.versions and self.ref != "HEAD":
            problems.append(f"{key}.versions: replaces ref; remove one of them")
        for number, version in enumerate(self.versions):
            if version in self.versions[:number]:
                problems.append(f"{key}.versions[{number}]: {version!r} is listed twice")
        if not is_repository_url(self.repository):
            if re.search(r"://|^-|^\w+::", self.repository):
                problems.append(
                    f"{key}.repository: write a path, an https or ssh url, or user@host:path,"
                    " without a password; git's credential helpers provide those"
                )
            elif reason := why_no_folder(project / self.repository):
                problems.append(f"{key}.repository: {reason}")
        return problems

    def resolve(self, name: str, root: Path, /) -> Self:
        """Return the source with a name, and with an absolute path unless it is a url."""
        if is_repository_url(self.repository):
            return self.model_copy(update={"name": name})
        path = str((root / self.repository).resolve())
        return self.model_copy(update={"name": name, "repository": path})


def local_host_of(url: str) -> str | None:
    """Return host and port of a repository's url if the host seems to be private, else None."""
    place = url.partition("://")[2].partition("/")[0] if "://" in url else url.partition(":")[0]
    authority = place.rpartition("@")[2]
    host = authority if authority.endswith("]") else authority.partition(":")[0]
    return authority if is_local(host.strip("[]")) else None


def is_repository_url(written: str) -> bool:
    """Return whether a repository is given by a url that git accepts."""
    return _URL.fullmatch(written) is not None
