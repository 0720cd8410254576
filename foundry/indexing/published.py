"""The published index of a project, and how the next version of it is begun."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from foundry.config.changes import find_changes
from foundry.config.project import Config
from foundry.config.sources import CONFIG_NAME
from foundry.errors import BuildError, FoundryError, IndexUnusableError, StaleIndexError
from foundry.indexing.publish import begin_version, discard_version
from foundry.runtime.index.errors import ServerError
from foundry.runtime.index.layout import IndexFiles, IndexLayout, Manifest, resolve_version
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.encoder import open_encoder
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.tokens import VERSION as TOKENIZER_VERSION


def index_folder(config: Config) -> Path:
    """Return the folder of all versions of the index."""
    return config.state / "index"


def built_index(config: Config) -> Path:
    """Return the folder of the current version. Raises IndexUnusableError if there is none to be
    used."""
    folder = index_folder(config)
    if not (folder / "CURRENT").exists():
        raise IndexUnusableError(
            f"{config.root}: has no index yet", hint=f"build it: {config.build_command}"
        )
    index = resolve_version(folder)
    built_with = Manifest.read(index / "manifest.json").tokenizer_version
    if built_with != TOKENIZER_VERSION:
        raise IndexUnusableError(
            f"{index}: built with tokenizer {built_with}, this Foundry has {TOKENIZER_VERSION}",
            hint=f"build it again: {config.build_command}",
        )
    return index


def describe_staleness(config: Config, manifest: Manifest) -> str | None:
    """Return what foundry.toml has otherwise than the index; None if nothing that the index
    depends on."""
    changes = find_changes(config, manifest)
    if not changes:
        return None
    listed = "".join(f"\n  {change}" for change in changes)
    return f"{config.root / CONFIG_NAME}: has changed since the index was built:{listed}"


def refuse_stale(config: Config, manifest: Manifest) -> None:
    """Refuse an index that another configuration would not give. Raises StaleIndexError."""
    if said := describe_staleness(config, manifest):
        raise StaleIndexError(
            said,
            hint=f"build it again: {config.build_command}; or pass --stale to take it as it is",
        )


def check_index(index: Path, project: Path) -> Manifest:
    """Return the manifest, if every file is what it says. Raises IndexUnusableError."""
    manifest = Manifest.read(index / "manifest.json")
    if findings := IndexFiles(IndexLayout(index), manifest).verify():
        raise IndexUnusableError(
            f"{index}: damaged: {'; '.join(findings)}", hint=f"foundry build {quote(str(project))}"
        )
    return manifest


def open_index(directory: Path, *, vectors: bool = False) -> Index:
    """Open an index as a server does, whose lanes are embedded; with `vectors`, also its table.

    Raises IndexUnusableError of the runtime.
    """
    files = IndexFiles.open(directory)
    if not vectors:
        return Index(files, KeywordLane.open(files))
    return Index(files, KeywordLane.open(files), DenseLane.open(files), open_encoder(files))


def intact_manifest(config: Config) -> Manifest | None:
    """Return that of the current version; None if there is none, or it is damaged and to be
    replaced."""
    try:
        return check_index(built_index(config), config.root)
    except (FoundryError, ServerError, OSError):
        return None


@contextmanager
def begun_version(config: Config) -> Iterator[Path]:
    """A folder for a new version, which is gone afterwards unless it was published.

    Raises BuildError when it cannot be written.
    """
    try:
        folder = begin_version(index_folder(config))
        try:
            yield folder
        finally:
            discard_version(folder)
    except OSError as error:
        raise BuildError(
            f"{error.filename or index_folder(config)}: cannot be written:"
            f" {error.strerror or error}; the index that was published last still stands",
            hint="check the free space and the permissions of the folder",
        ) from None
