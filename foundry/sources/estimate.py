"""How much a source holds, found without reading it: what progress is measured against."""

from foundry.config.git_sources import GitSource
from foundry.config.sources import FolderSource, Source
from foundry.config.web_sources import WebSource
from foundry.records import RawDocument, Skipped
from foundry.sources.fetched import FetchedRepository, FetchedSource, ReadySource
from foundry.sources.folder import Walk
from foundry.sources.ignoring import Selection

BLOCK = 1 << 20


def estimate(source: Source | ReadySource) -> int:
    """About how many documents `iterate` will deliver; 0 if the source cannot be read."""
    try:
        if isinstance(source, FolderSource):
            return sum(1 for _ in _Count(source, Selection(source)).walk())
        if isinstance(source, WebSource | GitSource):
            return 0
        if isinstance(source, FetchedSource):
            return len(source.pages)
        if isinstance(source, FetchedRepository):
            return len(source.files)
        with source.path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))
    except OSError:
        return 0


class _Count(Walk):
    def _read_file(
        self, folder: int, path: bytes, name: bytes  # noqa: ARG002
    ) -> RawDocument | Skipped:
        return self._skip(path, "counted")
