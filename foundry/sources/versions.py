"""Recognises folders of documentation versions by their names and contents.

`v1/guide.md` and `v2/guide.md` are versions of a page if their texts are similar. Years of a blog,
chapters of a course and numbers of standards have similar folder names, but other paths or texts.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from statistics import median

from foundry.config.sources import FolderSource
from foundry.documents import RawDocument
from foundry.features.stages.results import MAX_FOLDERS
from foundry.sources import folder

SHARED_PAGES = 0.5
"""Share of the smaller folder's pages that the other folder must have."""

ALIKE = 0.2
"""Share of the shorter page's word pairs that the other page must have (median over pages)."""

PAIRS_READ = 8
MAX_BYTES = 200_000
"""Bytes of each page that are read."""

_RELEASED = ("latest", "stable", "current")
_UNRELEASED = ("main", "master", "next", "dev", "nightly", "unreleased", "draft")
_NUMBERED = re.compile(
    r"(?:v|version-|release-)?(\d+(?:[.-]\d+)*(?:\.x)?)(?:[-.]?((?:alpha|beta|rc)[-.]?\d*))?"
)
_GENERIC = {"index", "readme", "license", "changelog", "_index"}
"""File names that any two folders may share."""

_WORD = re.compile(r"\w+")

ReadText = Callable[[str], str | None]
"""Returns the text of a page by path; None if it is not text."""


def is_version(name: str) -> bool:
    """Return whether a folder's name may be a version, such as `v2`, `1.x` or `latest`."""
    lowered = name.casefold()
    is_word = lowered in (*_RELEASED, *_UNRELEASED)
    return is_word or _NUMBERED.fullmatch(lowered) is not None


def recognise_versions(source: FolderSource, paths: Iterable[str] | None = None) -> list[str]:
    """Return the folders of a source that contain versions of the same pages, newest first.

    `paths` are the paths of its files, if known. The folder "" stands for pages that are in none of
    the others. If any name is not printable, no folders are returned. Raises SourceError.
    """
    if paths is None:
        paths = (each.key for each in folder.look(source) if isinstance(each, folder.Found))
    found = find_versions(paths, lambda path: _read_text(source, path))
    # Servers compare the paths in printable form.
    return found if all(map(str.isprintable, found)) else []


def describe_versions(versions: Sequence[str]) -> str:
    """Return a clause about the recognised folders, newest first."""
    names = ", ".join(name or "pages outside the others" for name in versions)
    return f"versions of the same pages, newest first: {names}"


def find_versions(paths: Iterable[str], read: ReadText) -> list[str]:
    """Return the folders that contain versions of the same pages, newest first.

    Names of releases come first, then the parent folder if it has the same pages, then numbers and
    dates in descending order, then names of unreleased versions.
    """
    found = [name for folders in _candidates(paths).values() for name in _related(folders, read)]
    return sorted(sorted(found), key=_age)[:MAX_FOLDERS]


def find_unlisted(paths: Iterable[str], listed: Collection[str]) -> list[str]:
    """Return siblings of `listed` versions that share their pages, newest first."""
    unlisted = []
    for around, folders in _candidates(paths).items():
        known = {page for name, pages in folders.items() if name in listed for page in pages}
        beside = [name for name in folders if name not in listed and name != around]
        if any(name in listed and name != around for name in folders):
            unlisted += [name for name in beside if _share(folders[name], known) >= SHARED_PAGES]
    return sorted(sorted(unlisted), key=_age)


def _candidates(paths: Iterable[str]) -> dict[str, dict[str, set[str]]]:
    """Return folders named like versions, with their pages, by parent folder.

    The parent counts as a version too, with the pages that are in none of the folders.
    """
    named: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    paths = [*paths]
    for path in paths:
        parts = path.split("/")
        for place, part in enumerate(parts[:-1]):
            if is_version(part):
                around = "/".join(parts[:place])
                named[around]["/".join(parts[: place + 1])].add("/".join(parts[place + 1 :]))
    found = {
        around: dict(folders) for around, folders in named.items() if len(folders) <= MAX_FOLDERS
    }
    for path in paths:
        parts = path.split("/")
        for place in range(len(parts)):
            around, name = "/".join(parts[:place]), "/".join(parts[: place + 1])
            if around in found and name not in named[around]:
                found[around].setdefault(around, set()).add("/".join(parts[place:]))
    return found


def _related(folders: Mapping[str, set[str]], read: ReadText) -> Iterator[str]:
    """Yield each folder that shares enough pages with another one, if their texts are similar."""
    related: set[str] = set()
    for name, pages in folders.items():
        others = sorted(
            (other for other in folders if other != name),
            key=lambda other: -_share(pages, folders[other]),
        )
        for other in others[:2]:
            if name in related and other in related:
                continue
            if _share(pages, folders[other]) >= SHARED_PAGES:
                shared = sorted(page for page in pages & folders[other] if not _is_generic(page))
                if _says_the_same(name, other, shared, read):
                    related |= {name, other}
    yield from related


def _share(pages: set[str], others: set[str]) -> float:
    """Return the share of the smaller folder's pages that the other folder has too."""
    own, their = ({page for page in each if not _is_generic(page)} for each in (pages, others))
    return len(own & their) / max(1, min(len(own), len(their)))


def _is_generic(page: str) -> bool:
    return "/" not in page and PurePosixPath(page).stem.casefold() in _GENERIC


def _says_the_same(one: str, other: str, pages: Sequence[str], read: ReadText) -> bool:
    step = max(1, len(pages) // PAIRS_READ)
    shares = []
    for page in pages[::step][:PAIRS_READ]:
        texts = [read(f"{folder}/{page}".lstrip("/")) for folder in (one, other)]
        if all(texts):
            first, second = map(_word_pairs, filter(None, texts))
            shares.append(len(first & second) / max(1, min(len(first), len(second))))
    return bool(shares) and median(shares) >= ALIKE


def _word_pairs(text: str) -> set[tuple[str, str]]:
    return {*pairwise(["", *_WORD.findall(text.casefold()), ""])}


def _read_text(source: FolderSource, path: str) -> str | None:
    raw = folder.read_file(source, path)
    if not isinstance(raw, RawDocument) or b"\0" in raw.content[:MAX_BYTES]:
        return None
    return raw.content[:MAX_BYTES].decode(errors="replace")


def _age(folder: str) -> tuple[int, list[float], bool]:
    """Return the sort key of a version's folder; the newest version has the smallest."""
    name = folder.rpartition("/")[2].casefold()
    if name in _RELEASED:
        return 0, [_RELEASED.index(name)], False
    if name in _UNRELEASED:
        return 3, [_UNRELEASED.index(name)], False
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None:
        return 1, [], False
    numbers: list[float] = [
        math.inf if part == "x" else int(part) for part in re.split(r"[.-]", numbered[1])
    ]
    return 2, [-number for number in numbers] + [math.inf], numbered[2] is not None
