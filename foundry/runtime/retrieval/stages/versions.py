"""Versions of a page: results show the newest, or the version that the query names.

A version is a folder at the beginning of paths, and the rest of the path names the page: with
folders `v2` and `v1`, newest first, `v2/guide.md` and `v1/guide.md` are versions of `guide.md`.
Folders of one series are siblings: `en/v2` and `de/v1` belong to different series if both have
siblings.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path

from ...index.records import Place, count_of
from ...settings import SETTINGS_FILE, reading
from ..candidates import SCORE_DIGITS
from ..journal import Journal
from ..results import Hit

STAGE = "versions"
DEPTH = 10  # Hits to examine for versions, as a multiple of `count`
LEAST_YEAR = 1000  # Smaller integers in a query are not versions: `top 3`.

_AROUND = re.compile(r"[\s,;:!?()\"']+")
_PREFIX = re.compile(r"(?:v|version-|release-)(?=\d)")
# Ordinary words name a version only in phrases such as `in main`, `the next version`.
_ORDINARY = frozenset(("main", "master", "next", "current", "dev"))
_BEFORE = frozenset(("in", "of", "on", "version", "branch", "release"))
_AFTER = frozenset(("version", "branch", "release", "docs"))


@cache
def read_folders(file: Path = SETTINGS_FILE) -> tuple[str, ...]:
    """Return the folders in settings.json, newest first. Raises ConfigurationError.

    The folder "" contains the paths that are in no other folder.
    """
    with reading(file) as values:
        return tuple(str(folder).strip("/") for folder in values[STAGE]["folders"])


def find_named(query: str, folders: Sequence[str]) -> set[str]:
    """Return the folders that a query names; `version 2` also names the folder `v2`."""
    words = [word for word in _AROUND.split(query.casefold().rstrip(".")) if word]
    said = set[str]()
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if word not in _ORDINARY or before in _BEFORE or after in _AFTER:
            said.add(word)
        if before in ("version", "release", "v") and word[0].isdigit():
            said.add(f"v{word}")
    return {folder for folder in folders if said & _spellings(folder)}


def _spellings(folder: str) -> set[str]:
    name = folder.rpartition("/")[2].casefold()
    number = _PREFIX.sub("", name).removesuffix(".x")
    if not number[:1].isdigit():
        return {name}
    found = {name, number, f"v{number}", f"{number}.x", f"v{number}.x"}
    return found - {number} if number.isdigit() and int(number) < LEAST_YEAR else found


def forget_versions(journal: Journal, folders: Sequence[str]) -> None:
    """Remove the names of versions from the journal's unknown identifiers."""
    unknown = journal.unknown_identifiers
    journal.unknown_identifiers = tuple(one for one in unknown if not find_named(one, folders))


def prefer_version(
    hits: Iterable[Hit],
    count: int,
    query: str,
    folders: Sequence[str],
    journal: Journal,
    *,
    share: float,
) -> Iterator[Hit]:
    """Yield the hits, best first, without those from other versions of the same page.

    The version shown is the one that the query names, or the first in the order of `folders` whose
    best hit scores at least `share` of the page's best hit. It takes the position and score of that
    hit. The other versions found are in `also_at`.
    """
    named = find_named(query, folders)
    order = sorted(folders, key=lambda folder: folder not in named)
    series = _find_series(folders)
    hits = iter(hits)
    first = list(islice(hits, DEPTH * count))
    pages: dict[tuple[str, str, str], dict[str, Hit]] = defaultdict(dict)
    for hit in first:
        if place := _place(hit, series):
            pages[place[0]].setdefault(place[1], hit)
    shown: dict[tuple[str, str, str], str] = {}
    early: dict[str, Hit] = {}
    for page, versions in pages.items():
        best = next(iter(versions.values()))
        enough = [
            name
            for name, hit in versions.items()
            if name in named or hit.score >= share * best.score
        ]
        shown[page] = min(enough, key=order.index)
        early[best.id] = versions[shown[page]]
    moved = {hit.id for found, hit in early.items() if hit.id != found}
    left_out = 0
    for hit in chain(first, hits):
        place = _place(hit, series)
        is_shown = place is None or shown.get(place[0], place[1]) == place[1]
        if not is_shown:
            left_out += 1
            passages = count_of(left_out, "passage")
            sentence = f"Left out {passages} from other versions."
            journal.note(STAGE, sentence, left_out=left_out)
        if hit.id in early or (is_shown and hit.id not in moved):
            versions = pages.get(place[0], {}) if place else {}
            others = [versions[name] for name in folders if name in versions]
            yield _naming(others, _raised(early.get(hit.id, hit), hit.score))


def _raised(hit: Hit, score: float) -> Hit:
    if hit.score == score:
        return hit
    factor = round(score / hit.score, SCORE_DIGITS) if hit.score else 1.0
    return replace(hit, score=score, boosts={**hit.boosts, STAGE: factor})


def _naming(versions: Sequence[Hit], hit: Hit) -> Hit:
    """Return a hit with the places of the other versions of its page."""
    known = {hit.document_id, *(place.document_id for place in hit.also_at)}
    others = [other for other in versions if other.document_id not in known]
    if not others:
        return hit
    places = [Place(one.document_id, one.source, one.path, one.url, one.title) for one in others]
    return replace(hit, also_at=[*hit.also_at, *places])


def _find_series(folders: Sequence[str]) -> dict[str, str]:
    """Map each folder, longest first, to the parent folder of its series.

    A folder that contains others belongs to their series. Folders without siblings form one series.
    """
    around = {folder: folder.rpartition("/")[0] for folder in folders if folder}
    inside = Counter(around.values())
    series = {folder: folder if folder in inside else around.get(folder, "") for folder in folders}
    sizes = Counter(series.values())
    longest = sorted(folders, key=len, reverse=True)
    return {folder: series[folder] if sizes[series[folder]] > 1 else "" for folder in longest}


def _place(hit: Hit, series: dict[str, str]) -> tuple[tuple[str, str, str], str] | None:
    """Return the page of a hit (source, series and name) and its version, if it has one."""
    for folder, around in series.items():
        if not folder or hit.path.startswith(f"{folder}/"):
            return (hit.source, around, hit.path[len(folder) :].lstrip("/")), folder
    return None
