"""Reads git repositories: selects the files of commits that are documents."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foundry.config.git_sources import VERSION, GitSource, is_repository_url
from foundry.documents import RawDocument, Skipped
from foundry.documents.reasons import Reason
from foundry.errors import SourceError
from foundry.fetching.addresses import ALLOWING, Policy
from foundry.progress import StartStep
from foundry.runtime.index.names import indexed_name
from foundry.sources.fetched import Delivery
from foundry.sources.git.repository import BareRepository, Change, GitError, Remote
from foundry.sources.ignoring import Selection
from foundry.sources.names import url_of

CACHE_FOLDER = "git"
MAX_POINTER_BYTES = 1_024
"""The largest pointer file of Git LFS, according to its specification."""

_POINTER = b"version https://git-lfs.github.com/spec/"
_NO_FILES = {"120000": Reason.SYMBOLIC_LINK, "160000": Reason.SUBMODULE}
"""Tree entries that are not files, by mode."""


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file of one version, with the id of its content and the date of its last change."""

    key: str
    blob: str
    url: str | None
    modified: str | None
    version: str | None


@dataclass(frozen=True, slots=True)
class FetchedRepository:
    """A git repository whose files are in the bare copy `folder`."""

    source: GitSource
    folder: Path
    files: tuple[GitFile, ...]
    skipped: tuple[Skipped, ...]

    @property
    def name(self) -> str:
        """The name of the source."""
        return self.source.name

    def __len__(self) -> int:
        """Return the number of selected files."""
        return len(self.files)

    def __iter__(self) -> Iterator[RawDocument | Skipped]:
        """Deliver the files; those that are not read are delivered as Skipped.

        First come files that are skipped for their size, then the others of each version in path
        order, then those that the source's options leave out.
        """
        source, copy = self.source, BareRepository(self.folder)
        sizes = copy.sizes(dict.fromkeys(file.blob for file in self.files))
        read: list[GitFile] = []
        for file in self.files:
            size = sizes.get(file.blob)
            path = indexed_name(file.key)
            if size is None:
                yield Skipped(source.name, path, Reason.CANNOT_BE_READ, "not in the copy")
            elif size > source.max_bytes:
                limit = f"{size} bytes, the limit is {source.max_bytes}"
                yield Skipped(source.name, path, Reason.OVERSIZE, limit)
            elif not size:
                yield Skipped(source.name, path, Reason.EMPTY)
            else:
                read.append(file)
        contents = copy.contents((file.blob for file in read), sizes)
        for file, content in zip(read, contents, strict=True):
            yield _deliver(source, file, content)
        yield from self.skipped


def fetch(sources: Sequence[GitSource], state: Path, step: StartStep, policy: Policy) -> Delivery:
    """Update the copies of repositories in `state`, and delete those of other repositories.

    Raises SourceError if git is missing, or a branch, tag or commit cannot be fetched.
    """
    copies = {source.name: _place_copy(source, state / CACHE_FOLDER) for source in sources}
    for unused in {*(state / CACHE_FOLDER).glob("*")} - {*copies.values()}:
        shutil.rmtree(unused, ignore_errors=True)
    ready, traffic = {}, {}
    for source in sources:
        with step(f"Fetching {source.name}", "versions", len(source.refs)) as progress:
            try:
                repository, fetched = _fetch(source, copies[source.name], policy)
            except GitError as error:
                raise SourceError(
                    f"source {source.name}: cannot read {', '.join(source.refs)}"
                    f" of {source.repository}: {indexed_name(error.message)}",
                    hint=error.hint
                    or f"check `git ls-remote {source.repository}`, which lists branches and tags;"
                    " credentials come from git's own helpers",
                ) from None
            progress.advance(len(source.refs))
        ready[source.name] = repository
        traffic[source.name] = {
            "fetched": fetched,
            "unchanged": len({file.blob for file in repository.files}) - fetched,
        }
    return Delivery(ready, traffic)


def _place_copy(source: GitSource, folder: Path) -> Path:
    # Fetching does not add earlier commits to a copy without them, so `history` is in the name.
    name = f"{source.repository}\0{source.history}".encode()
    return folder / f"{hashlib.sha256(name).hexdigest()[:16]}.git"


def _fetch(source: GitSource, folder: Path, policy: Policy) -> tuple[FetchedRepository, int]:
    if not is_repository_url(source.repository):
        return _copy(source, BareRepository(folder, Remote(source.repository, None)))
    # Imported when needed: most projects have no repository, and the client of HTTP is large.
    from foundry.fetching.relay import Relay

    with Relay(policy) as relay:
        try:
            return _copy(source, BareRepository(folder, Remote(source.repository, relay.port)))
        except GitError:
            for failure in relay.failures:
                hint = ALLOWING if failure.reason == Reason.PRIVATE_ADDRESS else None
                raise GitError(str(failure), hint=hint) from None
            raise


def _copy(source: GitSource, copy: BareRepository) -> tuple[FetchedRepository, int]:
    commits = copy.fetch(source.refs, history=source.history)
    versions = zip(commits, source.versions or (None,), strict=True)
    found = [each for commit, name in versions for each in _select(source, copy, commit, name)]
    files = tuple(each for each in found if isinstance(each, GitFile))
    skipped = tuple(each for each in found if isinstance(each, Skipped))
    fetched = copy.fetch_blobs(commits, {file.blob for file in files})
    return FetchedRepository(source, copy.folder, files, skipped), fetched


def _select(
    source: GitSource, copy: BareRepository, commit: str, version: str | None
) -> Iterator[GitFile | Skipped]:
    """Yield the files of a commit that the patterns select; those not to be read as Skipped.

    Raises GitError if the commit has no file in the source's folder.
    """
    selection = Selection(source)

    @cache
    def enters(folder: str) -> bool:
        above = folder.rpartition("/")[0]
        return selection.enters(f"{folder}/") and (not above or enters(above))

    changes = copy.last_changes(commit) if source.history else {}
    begin = f"{source.folder}/".encode() if source.folder else b""
    inside = [entry for entry in copy.entries(commit) if entry.path.startswith(begin)]
    if begin and not inside:
        hint = "name one of its folders, or remove the key"
        raise GitError(f"the repository has no folder {source.folder}", hint=hint)
    for entry in inside:
        path_below = entry.path.removeprefix(begin)
        path = path_below.decode("utf-8", "surrogateescape")
        folder, _, name = path.rpartition("/")
        if (folder and not enters(folder)) or not selection.wants_file(path):
            continue
        key = f"{version}/{path}" if version else path
        if entry.mode in _NO_FILES:
            yield Skipped(source.name, indexed_name(key), _NO_FILES[entry.mode])
        elif why := selection.leaves_out(path):
            yield Skipped(source.name, indexed_name(key), *why)
        elif not selection.hides(name):
            change = changes.get(entry.path, Change(commit, None))
            base = source.base_url and source.base_url.replace("{commit}", change.commit)
            url = base and url_of(base, path_below, source.url_suffix)
            yield GitFile(key, entry.blob, url, change.date, version)


def _deliver(source: GitSource, file: GitFile, content: bytes) -> RawDocument | Skipped:
    path = indexed_name(file.key)
    if len(content) <= MAX_POINTER_BYTES and content.startswith(_POINTER):
        return Skipped(source.name, path, Reason.NOT_IN_REPOSITORY, "stored in Git LFS")
    return RawDocument(
        source=source.name,
        key=file.key,
        path=path,
        content=content,
        url=file.url,
        tags=source.tags,
        metadata={VERSION: file.version} if file.version else {},
        metadata_keys=source.metadata,
        modified_elsewhere=file.modified,
        ocr=source.ocr,
        ocr_pages=source.ocr_pages,
    )
