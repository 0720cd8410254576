"""Decides how an update treats each file of an export.

The decision depends on three texts: the last one generated, the current one, and the newly
generated one. Untouched files are replaced, edited ones merged; the owner's changes are never lost.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from foundry.export.existing import Existing
from foundry.export.merge import merge
from foundry.runtime.index.tree import LINK

BESIDE = ".new"
"""Suffix of the generated version next to a file that could not be merged."""

WENT: dict[str, str] = {
    "chat/comparing/comparison.py": "in chat/comparing/evidence.py",
    "chat/comparing/contrasts.py": "in chat/comparing/words.py",
    "evaluation.py": (
        "in evaluation/: measure() in metrics.py; read_questions(), compare(), describe() and"
        " add_eval() in command.py; judge_hits() became rank_documents() in judging.py"
    ),
    "language_model.py": "in model/client.py",
    "model_events.py": "in model/events.py",
    "model_reply.py": "in model/replies.py",
    "retrieval/calls.py": (
        "in retrieval/circuit_breaker.py; call_within() is in retrieval/deadlines.py"
    ),
    "retrieval/hosts.py": "in hosts.py",
    "retrieval/settings.py": "in settings.py",
    "store/pgvector.py": "in store/pgvector/engine.py",
    "store/pgvector_connections.py": "in store/pgvector/connections.py",
    "store/pgvector_filters.py": "in store/pgvector/filters.py",
    "store/pgvector_queries.py": "in store/pgvector/queries.py",
    "store/qdrant.py": "in store/qdrant/engine.py",
    "store/qdrant_client.py": "in store/qdrant/client.py",
    "store/qdrant_filters.py": "in store/qdrant/filters.py",
    "store/qdrant_requests.py": "in store/qdrant/requests.py",
    "store/qdrant_rows.py": "in store/qdrant/rows.py",
}
"""Where the code of modules of earlier versions is now, in words for owners who edited them.

Keys are paths in the package. Every module that is moved or split needs an entry.
"""

OWNERS_MODULE = "custom.py"
"""The module for the owner's own code."""


def where_code_went(name: str, package: str) -> str | None:
    """Describe where the code of a module is now; None if it was removed."""
    place = PurePosixPath(name)
    return WENT.get(str(place.relative_to(package))) if package in place.parts[:1] else None


@dataclass(slots=True)
class Update:
    """The outcome of an update: sorted relative paths, by what happens to the file.

    Attributes:
        replaced: Untouched by the owner, and now different.
        added: New.
        removed: Untouched, and no longer part of the export.
        merged: Edited, and merged with the changes.
        conflicts: Edited where the generated text changed too; both are in the file, marked.
        beside: Edited, and not mergeable; the generated file is next to it as `.new`.
        kept: Edited, and left alone: `custom.py`, links, and files whose generated text did not
            change.
        orphaned: Edited, and no longer part of the export; kept.
        deleted: Deleted by the owner, and not restored.
        went: Edited modules that are no longer part of the export, but whose code has moved: path
            -> a description of the new place.
        unresolved: A line for each import that no longer works: the file, and what it imports.
    """

    replaced: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    went: dict[str, str] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """True if the owner has nothing left to decide."""
        return not (self.conflicts or self.beside or self.unresolved)


def decide(
    target: Path, existing: Existing, files: Mapping[str, bytes], package: str
) -> tuple[Update, dict[str, bytes]]:
    """Decide about each file; return the update and the contents to write."""
    decisions = _Decisions(target, existing, files, package)
    decisions.decide_all()
    return decisions.update, decisions.contents


class _Decisions:
    """Collects the decisions of an update, and the contents to write."""

    def __init__(
        self, target: Path, existing: Existing, files: Mapping[str, bytes], package: str
    ) -> None:
        self.update = Update()
        self.contents: dict[str, bytes] = {}
        self._target, self._existing, self._files = target, existing, files
        self._base = existing.generated
        self._package = package

    def decide_all(self) -> None:
        not_as_written = {*self._existing.edited, *self._existing.added}
        for name in sorted(self._files.keys() | self._base.digests.keys()):
            decide_one = self._edited if name in not_as_written else self._untouched
            content = decide_one(name, self._files.get(name))
            if content is not None:
                self.contents[name] = content

    def _untouched(self, name: str, new: bytes | None) -> bytes | None:
        update, is_deleted = self.update, name in self._existing.deleted
        if new is None or is_deleted:
            if new is not None:
                update.deleted.append(name)
            elif not is_deleted:
                update.removed.append(name)
            return None
        if name not in self._base.digests:
            update.added.append(name)
        elif (self._target / name).read_bytes() != new:
            update.replaced.append(name)
        return new

    def _edited(self, name: str, new: bytes | None) -> bytes | None:
        """Return the content for an edited file; None to leave the file alone."""
        update, base, path = self.update, self._base, self._target / name
        if self._existing.present[name].kind == LINK:
            (update.orphaned if new is None else update.kept).append(name)
            return None
        yours, old = path.read_bytes(), base.texts.get(name)
        if new is None:
            if place := where_code_went(name, self._package):
                update.went[name] = place
            else:
                update.orphaned.append(name)
            return yours
        is_owners_module = path.name == OWNERS_MODULE and name in base.digests
        is_as_before = base.digests.get(name) == hashlib.sha256(new).hexdigest()
        if yours == new or is_owners_module or is_as_before:
            update.kept.append(name)
            return yours
        try:
            if old is None:
                raise ValueError
            merged = merge(old, yours.decode(), new.decode())
        except ValueError:
            update.beside.append(name)
            self.contents[name + BESIDE] = new
            return yours
        (update.conflicts if merged.conflicts else update.merged).append(name)
        return merged.text.encode()
