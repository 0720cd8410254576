"""Versions of a page: results show the newest, or the one that the query names.

A version is a folder in which paths begin, and what follows it names the page: with the folders
`v2` and `v1`, newest first, `v2/guide.md` and `v1/guide.md` are versions of `guide.md`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from ..candidates import SCORE_DIGITS
from ..journal import Journal
from ..results import Hit
from ..settings import reading

STAGE = "versions"


def read_folders() -> tuple[str, ...]:
    """Return the folders in settings.json, newest first; "" is for paths in none of the others."""
    with reading() as values:
        return tuple(str(folder).strip("/") for folder in values[STAGE]["folders"])


def prefer_version(
    hits: Iterable[Hit],
    query: str,
    journal: Journal,
    folders: Sequence[str],
    *,
    depth: int,
    share: float,
) -> Iterator[Hit]:
    """Yield the hits, best first, without those of other versions of the same page.

    Shown is the first version in the order of `folders`, those that the query names before all
    others, whose best hit among the first `depth` scores at least `share` of the page's best. That
    hit takes the place and the score of the page's best.
    """
    words = set(re.split(r"[\s,;:!?()\"']+", query.casefold())) - {""}
    order = sorted(folders, key=lambda folder: folder.rpartition("/")[2].casefold() not in words)
    longest = sorted(folders, key=len, reverse=True)
    hits = iter(hits)
    first = list(islice(hits, depth))
    pages: dict[tuple[str, str], dict[str, Hit]] = defaultdict(dict)
    for hit in first:
        if place := _place(hit, longest):
            pages[place[0]].setdefault(place[1], hit)
    shown: dict[tuple[str, str], str] = {}
    early: dict[str, Hit] = {}
    for page, versions in pages.items():
        best = next(iter(versions.values()))
        enough = [name for name, hit in versions.items() if hit.score >= share * best.score]
        shown[page] = min(enough, key=order.index)
        early[best.id] = versions[shown[page]]
    moved = {hit.id for found, hit in early.items() if hit.id != found}
    left_out = 0
    for hit in chain(first, hits):
        place = _place(hit, longest)
        is_shown = place is None or shown.get(place[0], place[1]) == place[1]
        if not is_shown:
            left_out += 1
            journal.note(STAGE, left_out=left_out)
        if hit.id in early:
            yield _raised(early[hit.id], hit.score)
        elif is_shown and hit.id not in moved:
            yield hit


def _raised(hit: Hit, score: float) -> Hit:
    if hit.score == score:
        return hit
    factor = round(score / hit.score, SCORE_DIGITS) if hit.score else 1.0
    return replace(hit, score=score, boosts={**hit.boosts, STAGE: factor})


def _place(hit: Hit, folders: Sequence[str]) -> tuple[tuple[str, str], str] | None:
    """Return a hit's page, by source and name, and its version; `folders` are longest first."""
    for folder in folders:
        if not folder or hit.path.startswith(f"{folder}/"):
            return (hit.source, hit.path[len(folder) :].lstrip("/")), folder
    return None
