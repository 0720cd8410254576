"""Selects the files of a folder: include and exclude patterns, and .gitignore as in git."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

import pathspec

from foundry.config.git_sources import GitSource
from foundry.config.sources import FolderSource
from foundry.documents.reasons import Reason
from foundry.errors import SourceError
from foundry.sources.names import (
    NO_DOCUMENTS,
    how_to_include,
    how_to_include_ending,
    looks_secret,
)
from foundry.state.folder import STATE
from foundry.state.user_cache import SECRET_NAME

_NEVER = frozenset({".git", STATE, SECRET_NAME})
_EVERYTHING = ("**/*",)
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one .gitignore; `prefix` is its folder's path, "" or ending with a slash."""

    prefix: str
    patterns: pathspec.GitIgnoreSpec

    @classmethod
    def parse(cls, prefix: str, lines: Iterable[str]) -> Self:
        """Compile the patterns of the file, leaving out malformed ones."""
        usable = [line for line in lines if _is_pattern(line)]
        return cls(prefix, pathspec.GitIgnoreSpec.from_lines(usable))


class Selection:
    """A source's include and exclude patterns, and the rule for hidden names."""

    def __init__(self, source: FolderSource | GitSource) -> None:
        # Matching tens of thousands of paths against patterns that match everything is slow.
        self._takes_all = source.include == _EVERYTHING
        self._include = _compile(source, source.include)
        self._exclude = _compile(source, source.exclude) if source.exclude else None
        self._spelled_out = tuple(
            part
            for pattern in source.include
            for part in pattern.split("/")
            if part.startswith(".")
        )
        self._names = [
            (_ESCAPED.sub(r"\1", pattern.rpartition("/")[2]), _compile(source, (pattern,)))
            for pattern in source.include
        ]

    def wants_file(self, path: str) -> bool:
        """Return whether the patterns select this file; `path` is relative to the source's root."""
        return (self._takes_all or self._include.match_file(path)) and not self._excludes(path)

    def enters(self, path: str) -> bool:
        """Return whether a folder may contain wanted files; `path` ends with a slash."""
        return not self.hides(path[:-1].rpartition("/")[2]) and not self._excludes(path)

    def hides(self, name: str) -> bool:
        """Return whether a name is hidden.

        Names that begin with a dot are, unless a part of an include pattern that begins with a dot
        matches them. `.git` and Foundry's own files are always hidden.
        """
        if name in _NEVER:
            return True
        return name.startswith(".") and not any(
            fnmatchcase(name, pattern) for pattern in self._spelled_out
        )

    def spells_out(self, path: str) -> bool:
        """Return whether an include pattern selects this file and contains its name literally."""
        name = path.rpartition("/")[2]
        return any(name == written and pattern.match_file(path) for written, pattern in self._names)

    def leaves_out(self, path: str) -> tuple[Reason, str] | None:
        """Return why a wanted file is not read, and how to include it; None if it is read."""
        if looks_secret(path) and not self.spells_out(path):
            return Reason.LOOKS_SECRET, how_to_include(path)
        is_other = path.lower().endswith(NO_DOCUMENTS) and not self._names_ending(path)
        if is_other and not self.hides(path.rpartition("/")[2]):
            return Reason.NO_DOCUMENT, how_to_include_ending(path)
        return None

    def _names_ending(self, path: str) -> bool:
        ending = path[path.rindex(".") :].lower()
        return any(
            written.lower().endswith(ending) and pattern.match_file(path)
            for written, pattern in self._names
        )

    def _excludes(self, path: str) -> bool:
        return self._exclude is not None and self._exclude.match_file(path)


def is_ignored(path: str, ignore_files: tuple[IgnoreFile, ...]) -> bool:
    """Return whether .gitignore files, outermost first, ignore a path; folders end with a slash.

    As in git, the innermost file with a matching pattern decides.
    """
    for ignore_file in reversed(ignore_files):
        ignored = ignore_file.patterns.check_file(path[len(ignore_file.prefix) :]).include
        if ignored is not None:
            return ignored
    return False


def _compile(source: FolderSource | GitSource, patterns: tuple[str, ...]) -> pathspec.GitIgnoreSpec:
    for pattern in patterns:
        if not _is_pattern(pattern):
            raise SourceError(
                f"source {source.name}: {pattern!r} is not a glob pattern",
                hint="write patterns as in .gitignore, for example docs/**/*.md",
            )
    return pathspec.GitIgnoreSpec.from_lines(patterns)


def _is_pattern(line: str) -> bool:
    try:
        pathspec.GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def concerns_any(sources: Sequence[FolderSource]) -> Callable[[str], bool]:
    """Return a function that checks whether a path may affect what one of the folders delivers.

    Excluded and hidden names do not; .gitignore files do.
    """
    selections = [(os.path.realpath(source.path), Selection(source)) for source in sources]

    def judge(path: str) -> bool:
        return any(_concerns(root, selection, path) for root, selection in selections)

    return judge


def _concerns(root: str, selection: Selection, path: str) -> bool:
    relative = os.path.relpath(path, root)
    if relative == ".":
        return True
    parts = Path(relative).parts
    if parts[0] == os.pardir:
        return False
    *folders, name = parts
    above = ""
    for folder in folders:
        above += folder + "/"
        if not selection.enters(above):
            return False
    if name == ".gitignore":
        return True
    # If a folder was moved in or out, all of its content may have changed.
    is_wanted = selection.wants_file(relative) or not os.path.isfile(path)  # noqa: PTH113
    return is_wanted and selection.enters(relative + "/")
