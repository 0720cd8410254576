"""Compares the words in a document's container with the words that its reader found."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from foundry.documents.left_out import LeftOut, WordCounts

MAX_JOINED_CHARS = 60
"""Maximum length of words that are compared with joined or split ones."""
MAX_JOINS = 2_000
"""Maximum number of words per document that are compared in this way."""

# Scripts without spaces between words: Thai to Khmer, Kana, Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
_UNSPACED += "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Maps bytes of UTF-8: letters to lower case, other signs of ASCII to spaces, the rest to itself.
_LOWERED = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 32
    for code in range(256)
)
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_LETTER = re.compile(rf"[^\W_{_UNSPACED}]+|(?=[^\W_])[{_UNSPACED}]")
_LETTER = re.compile(f"[{_UNSPACED}]")
_TARGET = re.compile(r"\]\((?:<[^<>\n]*+>|[^\s()<>]*+)\)")
_INSIDE = re.compile("[\u00ad\u034f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def count_words(text: str) -> Counter[str]:
    """Count the words: runs of letters and digits, ignoring case and width.

    In scripts without spaces between words, each letter is a word.
    """
    # Python splits at these separators, which are as invisible as a soft hyphen.
    text = text.replace("\u2028", "").replace("\u2029", "")
    lowered = text.encode("utf-8", "surrogatepass").translate(_LOWERED)
    words = Counter(lowered.decode("utf-8", "surrogatepass").split())
    others = [] if text.isascii() else [word for word in words if not word.isascii()]
    if not others:
        return words
    # Normalisation takes several times as long as everything else, so it is done once per distinct
    # word.
    counts = [words.pop(word) for word in others]
    joined = _normalise("\n".join(others))
    divided = _WORD_OR_LETTER if _LETTER.search(joined) else _WORD
    for normal, count in zip(joined.split("\n"), counts, strict=True):
        for word in divided.findall(normal):
            words[word] += count
    return words


def _normalise(text: str) -> str:
    text = _INSIDE.sub("", text).replace("\u00a0", " ").replace("\u2026", " ")
    return unicodedata.normalize("NFKC", text).casefold()


def account(
    source: Iterable[str],
    read: Iterable[str],
    left_out: Sequence[LeftOut],
    *,
    with_targets: bool = True,
) -> tuple[WordCounts, Counter[str]]:
    """Account for a container's words; also return the unaccounted words.

    `source` has the container's texts, `read` the texts of the reading. Words are compared as
    multisets: a word that occurs twice and was read once is unaccounted for once. Without
    `with_targets`, link targets are ignored: only the reading contains them, so their words would
    stand for lost ones.
    """
    whole, said = "\n".join(source), "\n".join(read)
    if not with_targets:
        whole, said = (_TARGET.sub("]", text) if "](" in text else text for text in (whole, said))
    held, found, shared = _differing(whole, said)
    missing = _more_often(held, found)
    reasons: dict[str, int] = {}
    if missing:
        by_reason: dict[str, list[str]] = {}
        for each in left_out:
            by_reason.setdefault(each.reason, []).append(each.text)
        told = {reason: count_words("\n".join(texts)) for reason, texts in by_reason.items()}
        # A number that a reader adds, as that of a list item, may equal a part of a joined word.
        numbers = frozenset(word for word in found if word.isdecimal() and word in held)
        missing = _without_joined(missing, _more_often(found, held), numbers)
        used = Counter[str]()
        for reason, words in sorted(told.items()):
            if known := missing & words:
                reasons[reason] = known.total()
                missing -= known
                used += known
                told[reason] = words - known
        for reason, words in sorted(told.items()):
            before = missing.total()
            missing = _without_joined(missing, words)
            if before > missing.total():
                reasons[reason] = reasons.get(reason, 0) + before - missing.total()
        if missing:
            # Left-out words may stand for words that the reading has as parts of longer ones.
            rest = sum(told.values(), found)
            missing = _without_joined(missing, _more_often(rest, held - used))
    total = max(held.total() + shared, missing.total() + sum(reasons.values()))
    lost = missing.total()
    counts = WordCounts(total, total - lost - sum(reasons.values()), reasons, lost)
    return counts, missing


def _differing(source: str, read: str) -> tuple[Counter[str], Counter[str], int]:
    """Return the words of lines that only one of two texts has, and the number of shared words.

    Most lines are in both texts, and their words need not be compared.
    """
    lines = source.split("\n")
    held, found = Counter(lines), Counter(read.split("\n"))
    lost = _more_often(held, found)
    if 2 * len(lost) > len(held):
        return count_words(source), count_words(read), 0
    if not lost:
        # The words are added up only if some are missing.
        return Counter(), Counter(), count_words(source).total()
    shared = [line for line in lines if line not in lost]
    shared += (line for line in lost for _ in range(found[line]))
    return (
        count_words("\n".join(lost.elements())),
        count_words("\n".join(_more_often(found, held).elements())),
        count_words("\n".join(shared)).total(),
    )


def _more_often(texts: Counter[str], others: Counter[str]) -> Counter[str]:
    """Return by how much each text is more frequent in `texts` than in `others`, if it is."""
    # Subtracting counters would visit each text in Python; most have equal counts.
    differing = {text for text, _ in texts.items() - others.items()}
    more = ((text, texts[text] - others[text]) for text in texts if text in differing)
    return Counter({text: count for text, count in more if count > 0})


def _without_joined(
    missing: Counter[str], extra: Counter[str], numbers: Set[str] = frozenset()
) -> Counter[str]:
    """Drop missing words that are part of an extra word, or that consist of extra words.

    A reader may join words that markup splits, and split words that the container joins.
    """
    if missing and extra:
        missing, extra = _match(missing, extra, numbers)
        extra, missing = _match(extra, missing)
    return missing


def _match(
    parts: Counter[str], wholes: Counter[str], numbers: Set[str] = frozenset()
) -> tuple[Counter[str], Counter[str]]:
    """Match `wholes` with `parts` that make them up; return the parts and wholes that are left.

    A whole may also contain `numbers`, which are not used up.
    """
    parts, wholes = Counter(parts), Counter(wholes)
    begins, ends = ({each[at] for each in (*parts, *numbers)} for at in (slice(2), slice(-2, None)))
    # Checking two letters first is faster: most words cannot begin or end with any of the parts.
    likely = [
        whole
        for whole in wholes
        if (whole[:2] in begins or whole[0] in begins) and (whole[-2:] in ends or whole[-1] in ends)
    ]
    for whole in sorted(likely, key=len, reverse=True)[:MAX_JOINS]:
        for _ in range(wholes[whole]):
            used = _divide(whole, parts, numbers)
            if used is None:
                break
            for word, count in [*used.items(), (whole, 1)]:
                counts = wholes if word is whole else parts
                counts[word] -= count
                if not counts[word]:
                    del counts[word]
    return parts, wholes


def _divide(whole: str, parts: Counter[str], numbers: Set[str]) -> Counter[str] | None:
    """Return the parts that make up a word, together with numbers; None if there are none."""
    length = len(whole)
    if length > MAX_JOINED_CHARS:
        return None
    # For each offset, parts that make up the word up to there, the last one as long as possible.
    made: list[tuple[str, ...] | None] = [(), *[None] * length]
    for start in range(length):
        before = made[start]
        if before is None:
            continue
        for end in range(start + 1, length + (start > 0)):
            part = whole[start:end]
            if made[end] is None and (part in parts or part in numbers):
                made[end] = (*before, part)
    used = Counter(part for part in made[length] or () if part in parts)
    return used if used and all(parts[part] >= count for part, count in used.items()) else None
