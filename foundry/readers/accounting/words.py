"""Compares the words in a document's container with those that its reader found."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from foundry.documents.left_out import LeftOut, WordCounts

MAX_JOINED_CHARS = 60
"""Longest word that is compared with joined or divided ones."""
MAX_JOINS = 2_000
"""Words of a document for which that is done."""

# Scripts without spaces between words: Thai to Khmer, Kana, Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
_UNSPACED += "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# For ASCII text: several times as fast as a regular expression.
_ASCII = str.maketrans(
    {chr(code): chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
)
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_LETTER = re.compile(rf"[^\W_{_UNSPACED}]+|(?=[^\W_])[{_UNSPACED}]")
_LETTER = re.compile(f"[{_UNSPACED}]")
_INSIDE = re.compile("[\u00ad\u034f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def count_words(text: str) -> Counter[str]:
    """Count the words: runs of letters and digits, ignoring case and width.

    In scripts without spaces between words, each letter is a word.
    """
    return Counter(_divide_into_words(text))


def _divide_into_words(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_ASCII).split()
    # Normalisation dominates, unless there is nothing to compose.
    text = _INSIDE.sub("", text).replace("\u00a0", " ").replace("\u2026", " ")
    text = unicodedata.normalize("NFKC", text).casefold()
    return (_WORD_OR_LETTER if _LETTER.search(text) else _WORD).findall(text)


def account(
    source: Iterable[str], read: Iterable[str], left_out: Sequence[LeftOut]
) -> tuple[WordCounts, Counter[str]]:
    """Account for a container's words; also return those that are unaccounted.

    `source` are the container's texts, `read` those of the reading. Words are compared as
    multisets: a word that occurs twice and was read once is unaccounted once.
    """
    whole = "\n".join(source)
    held, found = _differing(whole, "\n".join(read))
    missing = held - found
    reasons: dict[str, int] = {}
    if missing:
        by_reason: dict[str, list[str]] = {}
        for each in left_out:
            by_reason.setdefault(each.reason, []).append(each.text)
        told = {reason: count_words("\n".join(texts)) for reason, texts in by_reason.items()}
        missing = _without_joined(missing, found - held)
        for reason, words in sorted(told.items()):
            if known := missing & words:
                reasons[reason] = known.total()
                missing -= known
                told[reason] = words - known
        for reason, words in sorted(told.items()):
            before = missing.total()
            missing = _without_joined(missing, words)
            if before > missing.total():
                reasons[reason] = reasons.get(reason, 0) + before - missing.total()
    total = max(len(_divide_into_words(whole)), missing.total() + sum(reasons.values()))
    lost = missing.total()
    counts = WordCounts(total, total - lost - sum(reasons.values()), reasons, lost)
    return counts, missing


def _differing(source: str, read: str) -> tuple[Counter[str], Counter[str]]:
    """Return the words of lines that are in only one of two texts.

    Most lines are in both, and their words need no counting.
    """
    held, found = Counter(source.split("\n")), Counter(read.split("\n"))
    only_held = _more_often(held, found)
    # Extra words matter only if words are missing.
    only_found = _more_often(found, held) if only_held else ""
    return count_words(only_held), count_words(only_found)


def _more_often(lines: Counter[str], others: Counter[str]) -> str:
    """Return the lines that are more frequent in `lines` than in `others`, in order."""
    # Subtracting counters would visit each line in Python; most lines are equal.
    differing = {line for line, _ in lines.items() - others.items()}
    if not differing:
        return ""
    more = ((line, lines[line] - others[line]) for line in lines if line in differing)
    return "\n".join("\n".join([line] * count) for line, count in more if count > 0)


def _without_joined(missing: Counter[str], extra: Counter[str]) -> Counter[str]:
    """Return the missing words that are no part of a word that was read, nor made of such ones.

    A reader joins what markup or a line's end divides, and sets apart what a container joins.
    """
    if missing and extra:
        missing, extra = _match(missing, extra)
        extra, missing = _match(extra, missing)
    return missing


def _match(parts: Counter[str], wholes: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    """Return parts and wholes without the matched ones, and these."""
    parts, wholes = Counter(parts), Counter(wholes)
    for whole in sorted(wholes, key=len, reverse=True)[:MAX_JOINS]:
        for _ in range(wholes[whole]):
            used = _divide(whole, parts)
            if used is None:
                break
            for word, count in [*used.items(), (whole, 1)]:
                counts = wholes if word is whole else parts
                counts[word] -= count
                if not counts[word]:
                    del counts[word]
    return parts, wholes


def _divide(whole: str, parts: Counter[str]) -> Counter[str] | None:
    """Return consecutive parts that make up a word; None if there are none."""
    length = len(whole)
    if length > MAX_JOINED_CHARS:
        return None
    # The longest part that ends at each offset.
    made: list[tuple[str, ...] | None] = [(), *[None] * length]
    for start in range(length):
        before = made[start]
        if before is None:
            continue
        for end in range(start + 1, length + (start > 0)):
            if made[end] is None and whole[start:end] in parts:
                made[end] = (*before, whole[start:end])
    used = Counter(made[length] or ())
    return used if used and all(parts[part] >= count for part, count in used.items()) else None
