"""The steps of a trial of a Qdrant server."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from index_answers import DifferError, compare
from qdrant_client import QdrantClient, models
from qdrant_wire import Wire

from foundry import pipeline
from foundry.config.project import load_config
from foundry.errors import BusyError
from foundry.indexing.versions import built_index
from foundry.progress import Reporter
from foundry.runtime.store.qdrant.client import open_client
from foundry.runtime.store.qdrant.engine import open_engine
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import Engine, StoreError, VersionMissingError
from foundry.stores.checking import Outcome
from foundry.stores.content import Content
from foundry.stores.options import PublishOptions
from foundry.stores.qdrant.points import Points
from foundry.stores.qdrant.publishing import publish

QUIET = Reporter(quiet=True)
TIMEOUT = 10.0
CONFIG = """\
[project]
name = "trial"
[[sources]]
type = "records"
path = "pumps.jsonl"
metadata = ["team"]
[[sources]]
type = "records"
path = "valves.jsonl"
metadata = ["team"]
[search]
filterable = ["team"]
[store]
engine = "qdrant"
"""
WORDS = (
    "valve pump seal rotor filter hose gauge motor spring bearing shaft flange gasket lever nozzle"
    " piston sensor switch tank thread washer wheel wire coupling"
).split()


class Trial:
    """All steps in order, on one server."""

    def __init__(self, folder: Path, documents: int, wire: Wire) -> None:
        self.name = f"foundry_trial_{uuid4().hex[:8]}"
        self.wire = wire
        self._folder, self._documents = folder, documents
        self._contents: list[Content] = []

    @property
    def steps(self) -> tuple[tuple[str, Callable[[], str]], ...]:
        """Return the steps with their names; each returns its result, or raises an error."""
        return (
            ("indexes are built, here", self.build),
            ("a first version is published", self.publish_first),
            ("searches are as in the index", self.search),
            ("so are searches with filters", self.search_filtered),
            ("a changed document is published", self.publish_step),
            ("the version before is published again", self.go_back),
            ("an interrupted publication is continued", self.interrupt),
            ("of two publications one stops", self.overtake),
            ("a version is loaded again while it is searched", self.load_again),
            ("a graph finds what is near", self.link),
            ("old versions and their rows are removed", self.remove),
            ("what is not there is said", self.miss),
        )

    def build(self) -> str:
        """Build three indexes, the second with one changed document, the third with new ones."""
        (self._folder / "foundry.toml").write_text(CONFIG, encoding="utf-8")
        for number, changed in enumerate(({}, {3: "second"}, None)):
            for place, source in enumerate(("pumps", "valves")):
                rows = [
                    json.dumps(_row(row, "third" if changed is None else changed.get(row, "first")))
                    for row in range(place, self._documents, 2)
                ]
                written = "\n".join(rows)
                (self._folder / f"{source}.jsonl").write_text(written, encoding="utf-8")
            pipeline.build(self._folder, QUIET)
            built = built_index(load_config(self._folder)).folder
            kept = self._folder / f"version{number}"
            shutil.copytree(built, kept)
            self._contents.append(Content.open(kept))
        return f"{len(self._contents[0].scales):,} chunks each"

    def publish_first(self) -> str:
        """Publish to an empty server."""
        found = self._publish(0)
        self._expect(found.loaded, "it was said to be there already")
        return f"scores differ by {found.agreement.difference:.1e} at the most"

    def search(self) -> str:
        """Search by vectors, by terms, and by both."""
        with self._engine() as engine:
            return compare(engine, self._contents[0], are_filtered=False)

    def search_filtered(self) -> str:
        """Search under filters of every kind."""
        with self._engine() as engine:
            return compare(engine, self._contents[0], are_filtered=True)

    def publish_step(self) -> str:
        """Publish another version, with one new document."""
        before = self.wire.rows
        self._publish(1)
        sent = self.wire.rows - before
        with self._engine() as engine:
            for content in self._contents[:2]:
                compare(engine, content, are_filtered=True)
        changed = len(self._contents[1].scales) // self._documents
        self._expect(0 < sent <= 2 * changed, f"{sent} rows were sent for one document")
        return f"rows sent: {sent}"

    def go_back(self) -> str:
        """Publish a version that still exists."""
        before = self.wire.rows
        self._expect(not self._publish(0).loaded, "it was loaded again")
        self._expect(self.wire.rows == before, "rows were sent")
        self._expect(self._current() == self._contents[0].version, "it is not the current one")
        return "rows sent: none"

    def interrupt(self) -> str:
        """Interrupt a publication; check that searches do not notice, and continue it."""
        before, make = self.wire.rows, Points.make

        def stop(points: Points, *asked: Any) -> Iterator[Any]:
            yield next(make(points, *asked))
            raise KeyboardInterrupt

        try:
            with patch.object(Points, "make", stop):
                self._publish(2)
        except KeyboardInterrupt:
            pass
        first = self.wire.rows - before
        self._expect(self._current() == self._contents[0].version, "it is the current one already")
        with self._engine() as engine:
            compare(engine, self._contents[0], are_filtered=True)
        self._publish(2)
        sent, count = self.wire.rows - before, len(self._contents[2].scales)
        self._expect(sent == count, f"{sent:,} rows were sent for {count:,} chunks")
        with self._engine() as engine:
            for content in self._contents:
                compare(engine, content, are_filtered=True)
        return f"rows sent: {first:,}, then the other {sent - first:,}"

    def overtake(self) -> str:
        """Start a publication during another."""
        make = Points.make

        def overtaken(points: Points, *asked: Any) -> Iterator[Any]:
            for batch in make(points, *asked):
                with patch.object(Points, "make", make):
                    self._publish(0)
                yield batch

        try:
            with patch.object(Points, "make", overtaken):
                self._publish(1, again=True)
        except BusyError:
            return "the one that began first"
        raise DifferError("neither did")

    def load_again(self) -> str:
        """Load a version again: its rows change, but the results do not."""
        with self._engine() as engine:
            compare(engine, self._contents[1], are_filtered=False)
            self._publish(1, again=True)
            compare(engine, self._contents[1], are_filtered=True)
        return ""

    def link(self) -> str:
        """Build a graph, and search in it."""
        found = self._publish(1, exact=False)
        with self._engine(exact=False) as engine:
            for are_filtered in (True, False):
                compare(engine, self._contents[1], are_filtered=are_filtered, exact=False)
        with self.client() as client:
            info = client.get_collection(self.name)
        linked = info.indexed_vectors_count or 0
        self._expect(found.agreement.recall > 0.9, f"recall@100 is {found.agreement.recall:.3f}")
        return f"{linked:,} vectors in graphs or postings; recall@100 {found.agreement.recall:.3f}"

    def remove(self) -> str:
        """Drop the replaced versions, and their rows."""
        dropped = self._publish(1, grace=0.0).dropped
        # The leftovers of an interrupted publication are removed when something is loaded.
        self._publish(1, again=True, grace=0.0)
        self._publish(1, grace=0.0)
        count = len(self._contents[1].scales)
        with self.client() as client:
            points = client.count(self.name, exact=True).count
        self._expect(points == count + 1, f"{points:,} points are left of {count:,} chunks")
        with self._engine() as engine:
            compare(engine, self._contents[1], are_filtered=True)
            try:
                engine.check(self._contents[2].edition)
            except VersionMissingError:
                return f"versions dropped: {len(dropped)}"
        raise DifferError("a version that was dropped is still found")

    def miss(self) -> str:
        """Use a collection that does not exist, and a wrong key."""
        with self._engine(name=f"{self.name}_none") as engine:
            try:
                engine.check(self._contents[0].edition)
            except VersionMissingError:
                pass
            else:
                raise DifferError("a collection is found that is not there")
        if not os.environ.get("QDRANT_API_KEY"):
            return "no key was set, so a wrong one was not tried"
        with patch.dict(os.environ, QDRANT_API_KEY="wrong"), self._engine() as engine:
            try:
                engine.check(self._contents[0].edition)
            except StoreError as error:
                return f"a wrong key: {error.message}"
        raise DifferError("a wrong key is good enough")

    def clear(self) -> str:
        """Delete the collection."""
        with self.client() as client:
            client.delete_collection(self.name)
            self._expect(not client.collection_exists(self.name), "the collection is still there")
        return ""

    def _publish(self, number: int, *, exact: bool = True, **options: Any) -> Outcome:
        settings = StoreSettings(self.name, exact, TIMEOUT)
        return publish(self._contents[number], settings, QUIET, PublishOptions(**options))

    @contextmanager
    def _engine(self, *, exact: bool = True, name: str | None = None) -> Iterator[Engine]:
        engine = open_engine(StoreSettings(name or self.name, exact, TIMEOUT))
        try:
            yield engine
        finally:
            engine.close()

    @contextmanager
    def client(self) -> Iterator[QdrantClient]:
        """Yield a client, and close it."""
        client = open_client(StoreSettings(self.name, True, TIMEOUT))
        try:
            yield client
        finally:
            client.close()

    def _current(self) -> str:
        number = models.FieldCondition(key="number", range=models.Range(gte=1))
        with self.client() as client:
            found, _ = client.scroll(self.name, models.Filter(must=[number]), limit=100)
        return str(
            max((each.payload or {} for each in found), key=lambda p: p["switched"])["version"]
        )

    @staticmethod
    def _expect(is_so: bool, otherwise: str) -> None:
        if not is_so:
            raise DifferError(otherwise)


def _row(number: int, edition: str) -> dict[str, Any]:
    """Return a document with values for every filter; some documents lack some of them."""
    first, second, third = (WORDS[(number * step + step) % len(WORDS)] for step in (1, 5, 7))
    return {
        "id": f"{first}/{number}",
        "title": f"Note {number} on the {first}",
        "text": f"The {edition} {first} and its {second} are checked every {number % 7 + 2} weeks."
        f" Replace the {third} with part D{number % 60}0 when it leaks.",
        "modified": f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}" if number % 5 else "",
        "tags": [("shop",), ("field", "shop"), ()][number % 3],
        "team": ("core", "Ödland", "50%", "")[number % 4],
    }
