"""Merges hits with equal text, title and headings."""

from collections.abc import Iterator

from .results import Hit


def merge_equal_texts(hits: Iterator[Hit], count: int) -> Iterator[Hit]:
    """Merge hits, given best first, with equal text, title and headings.

    White space is ignored. Among equal hits with the best score, the newest is shown. A hit after
    the first `count` different ones is dropped if it equals an earlier one.
    """
    groups: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        groups.setdefault(_what_is_read(hit), []).append(hit)
        if len(groups) > count:
            break
    for group in groups.values():
        best = [hit for hit in group if hit.score == group[0].score]
        best = [hit for hit in best if hit.pinned] or best
        shown = max(best, key=lambda hit: hit.modified or "")
        yield shown.standing_for([hit for hit in group if hit is not shown])
    for hit in hits:
        if groups.setdefault(_what_is_read(hit), [hit])[0] is hit:
            yield hit


def _what_is_read(hit: Hit) -> tuple[object, ...]:
    # Translating takes a fifth of the time of splitting.
    text = hit.text.encode(errors="replace").translate(None, b" \t\n\r")
    return text, hit.title, *hit.section
