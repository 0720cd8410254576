"""All documents of a build, from the cache or newly prepared."""

import json
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.cache import DocumentCache, Entry, KnownTable
from foundry.building.documents.encoding import content_key
from foundry.building.documents.lines import HASH_BYTES, KnownLines, LinesBuilder, NotedRow
from foundry.building.documents.recipe import Keys
from foundry.building.documents.unchanged import (
    Known,
    KnownSource,
    Looked,
    join_digests,
    table_origin,
)
from foundry.building.documents.workers import Made, Preparing, Result
from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import RawDocument, Skipped
from foundry.documents.reasons import AnyReason, Reason
from foundry.progress import Progress
from foundry.readers import make_id
from foundry.sources import folder, records, stamp
from foundry.sources.fetched import ReadySource

FOR_NOW = {Reason.TOO_MUCH, Reason.READER_CRASHED, Reason.READER_FAILED}
"""Reasons that may not apply on a less busy machine, so the next build tries again."""


@dataclass(slots=True)
class Inputs:
    """The documents of all sources, in order, and counts of the work on them.

    `outdated` counts unchanged documents that were prepared with another recipe, `embedded` the
    embedded chunks; `digest` is as in `survey`. The other attributes have an entry for each source,
    by name: `seconds` is the wall time, `coverage` the outcome for each url, `traffic` the numbers
    of fetched and unchanged pages.
    """

    read: int = 0
    reused: int = 0
    outdated: int = 0
    embedded: int = 0
    digest: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    coverage: Mapping[str, object] = field(default_factory=dict)
    traffic: Mapping[str, dict[str, int]] = field(default_factory=dict)
    _numbers: "array[int]" = field(default_factory=lambda: array("q"))
    _contents: bytearray = field(default_factory=bytearray)
    _skipped: list[Skipped] = field(default_factory=list)
    _signatures: dict[int, bytes] = field(default_factory=dict)

    def result(self, place: int, cache: DocumentCache) -> Result:
        """Return the document at a position, prepared or skipped."""
        number = self._numbers[place]
        return cache.load(number) if number > 0 else self._skipped[-number - 1]

    def contents(self) -> NDArray[np.void]:
        """Return, by position, the hash of everything that decides how a document is prepared.

        The hash is all zeros for skipped inputs, and for inputs that another build may prepare
        differently.
        """
        return np.frombuffer(bytes(self._contents), f"V{HASH_BYTES}")

    def encode_lines(self, lines: LinesBuilder, origin: str) -> bytes:
        """Return the lines of a table, except those whose documents cannot be reused."""
        numbers = np.array(self._numbers, dtype=np.int64)
        return lines.encode(origin, numbers, self.contents())

    def take_signature(self, place: int, cache: DocumentCache) -> bytes:
        """Return the signature of the document at a position; empty if it was skipped.

        Signatures of new documents are only kept in memory until they are taken.
        """
        if (number := self._numbers[place]) <= 0:
            return b""
        known = self._signatures.pop(place, None)
        return cache.signature(number) if known is None else known

    def gone(self, cache: DocumentCache) -> list[int]:
        """Return the numbers of cached documents that no source delivers any longer."""
        return cache.others(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int, content: bytes) -> int:
        """Add a document by its number in the cache, 0 if it has none yet; return its position."""
        self._numbers.append(number)
        self._contents += content
        return len(self._numbers) - 1

    def add_skipped(self, skipped: Skipped) -> None:
        """Add an input that a source left out."""
        self._skipped.append(skipped)
        self._numbers.append(-len(self._skipped))
        self._contents += bytes(HASH_BYTES)

    def settle(self, place: int, number: int, signature: bytes, *, is_for_now: bool) -> None:
        """Set the cache number and the signature of the document at a position.

        With `is_for_now`, its content hash is set to zero, so the next build does not reuse it.
        """
        self._numbers[place] = number
        self._signatures[place] = signature
        if is_for_now:
            self._contents[place * HASH_BYTES : (place + 1) * HASH_BYTES] = bytes(HASH_BYTES)


def collect_inputs(
    sources: Sequence[ReadySource],
    found: Mapping[str, Sequence[Looked]],
    coverage: Mapping[str, object],
    keys: Keys,
    cache: DocumentCache,
    pool: AbstractContextManager[Preparing],
    progress: Progress,
) -> Inputs:
    """Update the cache from the sources; `pool` prepares new and changed documents.

    `found` is the survey's result for folders. Prepared documents are kept even after an interrupt.
    """
    collector = _Collector(keys, cache, progress)
    try:
        with pool as preparing:
            for (place, raw), made in preparing.prepare(collector.changed(sources, found)):
                collector.store(place, raw, made)
    finally:
        cache.commit()
    return collector.finish(coverage)


class _Collector:
    def __init__(self, keys: Keys, cache: DocumentCache, progress: Progress) -> None:
        self.inputs = Inputs()
        self._keys = keys
        self._current = keys.current()
        self._cache = cache
        self._progress = progress
        self._entries: dict[int, Entry] = {}
        self._digests: list[bytes] = []
        self._failures: list[tuple[int, str, str]] = []
        # The keys are table name and origin.
        self._lines: dict[tuple[str, str], LinesBuilder] = {}

    def changed(
        self, sources: Sequence[ReadySource], looked: Mapping[str, Sequence[Looked]]
    ) -> Iterator[tuple[int, RawDocument]]:
        """Yield the documents that must be prepared, with their positions."""
        lines = self._cache.take_lines()
        for source in sources:
            started = time.monotonic()
            known, found = KnownSource(self._cache, source, self._keys), stamp(source)
            if isinstance(source, FolderSource):
                items = _read_unknown(source, looked[source.name])
            elif isinstance(source, RecordsSource):
                items = self._read_rows(source, lines.get(source.name))
            else:
                items = iter(source)
            is_cached = next(self._cache.entries(source.name), None) is not None
            yield from self._changed_of(items, known, is_cached=is_cached)
            self.inputs.seconds[source.name] = round(time.monotonic() - started, 3)
            self._digests.append(known.digest())
            if isinstance(source, RecordsSource):
                origin = table_origin(source, self._keys)
                table = KnownTable(origin, found, known.digest(), known.documents)
                self._cache.keep_table(source.name, table)

    def finish(self, coverage: Mapping[str, object]) -> Inputs:
        """Return the inputs, once all prepared documents are stored."""
        self._keep_lines()
        self.inputs.coverage = coverage
        others = [sorted(self._failures), coverage] if self._failures or coverage else ""
        told = json.dumps(others, sort_keys=True).encode() if others else b""
        self.inputs.digest = join_digests([*self._digests, told])
        return self.inputs

    def _read_rows(
        self, source: RecordsSource, noted: bytes | None
    ) -> Iterator[RawDocument | Known | Skipped]:
        origin = table_origin(source, self._keys)
        lines = self._lines.setdefault((source.name, origin), LinesBuilder())
        for document, row in records.look(source, KnownLines(noted, origin).find):
            if row is not None:
                lines.add(row, len(self.inputs))
            if isinstance(row, NotedRow):
                yield Known(row.key, row.number, row.content)
            elif document is not None:
                yield document

    def _keep_lines(self) -> None:
        for (source, origin), lines in self._lines.items():
            self._cache.keep_lines(source, self.inputs.encode_lines(lines, origin))

    def _changed_of(
        self,
        items: Iterable[RawDocument | Known | Skipped],
        known: KnownSource,
        *,
        is_cached: bool,
    ) -> Iterator[tuple[int, RawDocument]]:
        seen: set[str] = set()
        for item in items:
            if isinstance(item, Skipped):
                known.add_skipped(item)
                self.inputs.add_skipped(item)
            elif isinstance(item, Known):
                known.add_document(item.key, item.content)
                self._reuse(item)
            else:
                content = content_key(item)
                known.add_document(item.key, content)
                if item.key in seen:
                    same = f"id {item.id or make_id(item)}"
                    skipped = Skipped(item.source, item.path, Reason.DUPLICATE_ID, same)
                    self.inputs.add_skipped(skipped)
                else:
                    seen.add(item.key)
                    before = self._cache.find(item.source, item.key) if is_cached else None
                    number = before.number if before else 0
                    kept = before.recipe if before else ""
                    entry = Entry(kept, known.origin, content, item.stamp, number)
                    if not self._is_reused(item, entry, before):
                        place = self.inputs.add(0, content)
                        self._entries[place] = entry
                        yield place, item
                        continue
            self._progress.advance()

    def _is_reused(self, raw: RawDocument, entry: Entry, before: Entry | None) -> bool:
        """Use a cached document if prepared from the same input; return whether it is used."""
        is_same = before is not None and before.content == entry.content
        if before is None or not is_same or before.recipe not in self._current:
            self.inputs.outdated += is_same
            return False
        if before != entry:
            self._cache.restamp(raw.source, raw.key, entry)
        self._reuse(before)
        return True

    def _reuse(self, known: Entry | Known) -> None:
        self.inputs.add(known.number, known.content)
        self.inputs.reused += 1

    def store(self, place: int, raw: RawDocument, made: Made) -> None:
        """Store a prepared document."""
        entry, result = self._entries.pop(place), made.result
        problem = _problem_for_now(result)
        reader, signature = None, b""
        if not isinstance(result, Skipped):
            reader, signature = result.reader, result.signature
        entry = entry._replace(recipe="" if problem else self._keys.of(reader))
        if problem is not None:
            self._failures.append((place, *problem))
        number = self._cache.store(raw.source, raw.key, entry, made.content)
        self.inputs.settle(place, number, signature, is_for_now=problem is not None)
        self.inputs.read += 1
        if not isinstance(result, Skipped):
            if result.facts.has_seen:
                # Reading a page takes seconds, so the next commit may be far away.
                self._cache.commit()
            self.inputs.embedded += result.embedded
        self._progress.advance()


def _problem_for_now(result: Result) -> tuple[AnyReason, str] | None:
    """Return why a document was not read in full, if another build may read more of it."""
    if isinstance(result, Skipped):
        return (result.reason, result.detail) if result.reason in FOR_NOW else None
    hurried = result.facts.hurried
    return None if hurried < 0 else (Reason.TOO_MUCH, str(hurried))


def _read_unknown(
    source: FolderSource, looked: Iterable[Looked]
) -> Iterator[RawDocument | Known | Skipped]:
    with closing(folder.FileReader(source)) as reader:
        for each in looked:
            yield reader.read(each.key) if isinstance(each, folder.Found) else each
