"""Decides what an update makes of each file of an export.

Three texts decide: what was generated last, what is there, what would be generated now.
Untouched files are replaced and edited ones merged, at another path if their module moved; nothing
of the owner's is lost.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from foundry.export.checksums import is_owners
from foundry.export.existing import Existing
from foundry.export.merge import merge
from foundry.export.moves import Moves

BESIDE = ".new"
"""Appended to a file's name for the generated version, if the owner's could not be merged."""

ASIDE = ".orig"
"""Appended to a module's name for the owner's version, if its code was rewritten elsewhere."""

MAX_CONFLICT_LINES = 60
"""Lines of both sides of a conflict: as many as can be compared at a glance."""

MIN_KEPT_SHARE = 0.5
"""The least share of a moved module's lines that are still there. Below it, lines match by chance,
and an edit next to them would land anywhere."""

OWNERS_MODULE = "custom.py"
"""The module that is there for the owner's own code."""


@dataclass(slots=True)
class Update:
    """The outcome of an update: sorted relative paths by what becomes of the file.

    Attributes:
        replaced: Untouched, and different now.
        added: New.
        removed: Untouched, and no longer part of the export.
        merged: Edited, and brought together with what is new.
        conflicts: Edited where the generated text changed too; both are in the file, marked.
        beside: Edited, and not to be merged; what was generated is next to it as `.new`.
        kept: Edited, and as the owner left it, because nothing new concerns it.
        orphaned: Edited, and no longer part of the export; kept.
        deleted: Deleted by the owner; stays so.
        moved: Untouched, and at another path now: the path that it had -> the one that it has.
        carried: Edited, and merged with what is new at another path: the same.
        aside: Edited, at another path now and not to be merged there: the path that it had -> that
            of the owner's version, beside the generated one.
        gone: Orphaned modules whose code is nowhere now -> why.
        followed: The owner's own, whose imports now lead to where modules moved.
        unresolved: A line for each import that then leads nowhere: of a file, and what it imports;
            and for each file that is no Python, whose imports could not follow modules that moved.
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
    moved: dict[str, str] = field(default_factory=dict)
    carried: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    followed: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """True if nothing is left for the owner to decide."""
        return not (self.conflicts or self.beside or self.aside or self.unresolved)

    @property
    def left(self) -> set[str]:
        """The paths where nothing lies any more."""
        return {*self.removed, *self.moved, *self.carried, *self.aside}


def decide(
    target: Path, existing: Existing, files: Mapping[str, bytes], package: str
) -> tuple[Update, dict[str, bytes]]:
    """Return what becomes of each file, and the contents to write."""
    decisions = _Decisions(target, existing, files, package)
    decisions.decide_all()
    return decisions.update, decisions.contents


class _Decisions:
    """Collects decisions: the outcome of the update, and the contents to write."""

    def __init__(
        self, target: Path, existing: Existing, files: Mapping[str, bytes], package: str
    ) -> None:
        self.update = Update()
        self.contents: dict[str, bytes] = {}
        self._target, self._existing, self._files = target, existing, files
        self._base = existing.generated
        self._moves = Moves.between(package, self._base.digests, files)

    def decide_all(self) -> None:
        not_as_written = {*self._existing.edited, *self._existing.added}
        for name in sorted(self._files.keys() | self._base.digests.keys()):
            decide_one = self._edited if name in not_as_written else self._untouched
            content = decide_one(name, self._files.get(name))
            if content is not None:
                self.contents[name] = content
        if self._moves.modules or self._moves.gone:
            self._leave_old_places()
            self._carry_edits()
            self._follow_moves()

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
        """Return the content of a file that was edited; None to leave the file alone."""
        update, base, path = self.update, self._base, self._target / name
        if path.is_symlink():
            (update.orphaned if new is None else update.kept).append(name)
            return None
        yours, old = self._moves.follow(name, path.read_bytes()), base.texts.get(name)
        if new is None:
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
            base_text = self._moves.follow(name, old.encode()).decode()
            merged = merge(base_text, yours.decode(), new.decode())
        except ValueError:
            update.beside.append(name)
            self.contents[name + BESIDE] = new
            return yours
        (update.conflicts if merged.conflicts else update.merged).append(name)
        return merged.text.encode()

    def _leave_old_places(self) -> None:
        """Say of untouched modules where they are now; what of them its owner deleted stays so."""
        update = self.update
        sources: dict[str, set[str]] = {}
        for name in self._base.digests:
            if place := self._moves.place_of(name):
                sources.setdefault(place, set()).add(name)
        for place, names in sources.items():
            if place not in update.added:
                continue
            update.added.remove(place)
            if names <= set(self._existing.deleted):
                del self.contents[place]
                update.deleted.append(place)
            for name in sorted(names & set(update.removed)):
                update.removed.remove(name)
                update.moved[name] = place
        update.deleted.sort()

    def _carry_edits(self) -> None:
        """Merge edited modules that moved with what is new at their new places."""
        update, contents, moves = self.update, self.contents, self._moves
        for name in list(update.orphaned):
            place = moves.place_of(name)
            if reason := moves.gone.get(name):
                update.orphaned.remove(name)
                update.gone[name] = reason
            if place is None or name not in contents:
                continue
            update.orphaned.remove(name)
            yours = contents.pop(name)
            there = place + BESIDE if place in update.beside else place
            try:
                old = moves.follow(name, self._base.texts[name].encode()).decode()
                new = contents[there].decode()
                merged = merge(old, yours.decode(), new)
                if merged.longest > MAX_CONFLICT_LINES or _is_rewritten(old, new):
                    raise ValueError
            except (LookupError, ValueError):
                aside = (PurePosixPath(place).parent / PurePosixPath(name).name).as_posix() + ASIDE
                while aside in contents or aside in self._existing.added:
                    aside += ASIDE
                contents[aside] = yours
                update.aside[name] = aside
                continue
            contents[there] = merged.text.encode()
            update.carried[name] = there
            if merged.conflicts and there not in update.conflicts:
                update.conflicts.append(there)

    def _follow_moves(self) -> None:
        """Let the imports of what is the owner's own lead to where modules are now."""
        update, contents, added = self.update, self.contents, self._existing.added
        for name in added:
            path = self._target / name
            if name in contents or path.suffix != ".py" or path.is_symlink() or is_owners(name):
                continue
            yours = path.read_bytes()
            if (followed := self._moves.follow(name, yours)) != yours:
                contents[name] = followed
        owned = {*added, *update.kept, *update.orphaned, *update.gone} & contents.keys()
        for name in sorted(owned):
            if contents[name] != (self._target / name).read_bytes():
                update.followed.append(name)


def _is_rewritten(old: str, new: str) -> bool:
    """Is too little left of a module to tell where in it an edit belongs?"""
    lines = {line.strip() for line in old.splitlines()} - {""}
    kept = lines & {line.strip() for line in new.splitlines()}
    return len(kept) < MIN_KEPT_SHARE * len(lines)
