"""Writes the synonyms of an index: those in the project's file, and acronyms in documents.

Documents explain acronyms as `forward kinematics (FK)` or `FK (forward kinematics)`, or have a
title such as `Simultaneous localisation and mapping` and then use SLAM. The letters of the short
form must occur in the long form in order, the first at the start of a word (Schwartz and Hearst
2003, A simple algorithm for identifying abbreviation definitions in biomedical text). More than
half of them must start words, and every word except stop words must start with one. A long form has
two terms or more: `N/A (not applicable)` would expand every query that contains `applicant`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from foundry.indexing.files import encode_json
from foundry.runtime.index.tokens import ENGLISH_STOP_WORDS, Tokenizer
from foundry.runtime.retrieval.stages.synonyms import MAX_FORM_TERMS, SynonymsLayout, form_key

MAX_ACRONYMS = 20_000
MIN_LONG_TERMS = 2
MIN_INITIALS = 3
MAX_LONG_FORMS = 3
"""Maximum number of long forms per acronym; the most frequent are kept."""

_BRACKETS = re.compile(r"(?<=\s)\(([^()\n]{2,100})\)")
_SHORT = re.compile(r"(?=(?:.*[A-Z]){2})[A-Za-z][A-Za-z0-9&/-]{1,9}")
_MARKS = re.compile(r"[*_`\"\u201c\u201d]+")
_LAST_WORDS = re.compile(r"[^\n.;:!?()|]*$")
_WORD = re.compile(r"[^\W_]+")


def write_synonyms(
    root: Path,
    groups: Sequence[tuple[Sequence[str], Sequence[str]]],
    texts: Iterable[str],
    tokenizer: Tokenizer,
) -> None:
    """Write the synonyms of `groups`, and the acronyms that `texts` explain."""
    forms: dict[str, dict[str, str]] = defaultdict(dict)
    described: list[dict[str, object]] = []
    for left, right in groups:
        described.append({"forms": list(left), "found_in": "file"})
        if left != right:
            described[-1]["searched_as"] = list(right)
        _add_group(forms, left, right, tokenizer)
    for short, long, count in find_acronyms(texts, tokenizer):
        described.append({"forms": [short, long], "found_in": "documents", "times": count})
        _add_group(forms, (short, long), (short, long), tokenizer)
    layout = SynonymsLayout(root)
    root.mkdir()
    written = {key: list(forms[key].values()) for key in sorted(forms)}
    layout.forms.write_bytes(encode_json(written))
    layout.groups.write_bytes(encode_json(described))


def _add_group(
    forms: dict[str, dict[str, str]],
    left: Sequence[str],
    right: Sequence[str],
    tokenizer: Tokenizer,
) -> None:
    keys = {form: form_key(tokenizer.tokenize(form)) for form in (*left, *right)}
    for form in left:
        for other in right:
            if keys[other] != keys[form]:
                forms[keys[form]].setdefault(keys[other], other)


def find_acronyms(texts: Iterable[str], tokenizer: Tokenizer) -> list[tuple[str, str, int]]:
    """Return acronyms, each with a long form and its frequency; sorted."""
    times: Counter[tuple[str, str]] = Counter()
    written: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for text in texts:
        for short, long in _explained(text):
            key = form_key(tokenizer.tokenize(short)), form_key(tokenizer.tokenize(long))
            is_long = MIN_LONG_TERMS <= len(key[1].split()) <= MAX_FORM_TERMS
            if key[0] and key[0] != key[1] and is_long:
                times[key] += 1
                written[key][short, long] += 1
    found: list[tuple[str, str, int]] = []
    given: Counter[str] = Counter()
    for key, count in sorted(times.items(), key=lambda item: (-item[1], item[0])):
        given[key[0]] += 1
        if given[key[0]] <= MAX_LONG_FORMS:
            short, long = min(written[key], key=lambda forms: (-written[key][forms], forms))
            found.append((short, long, count))
    return sorted(found[:MAX_ACRONYMS])


def explained_by_title(title: str, text: str) -> Iterator[str]:
    """Yield a title with its initials in brackets if the text below it uses them as a word."""
    words = _WORD.findall(title)
    telling = [word for word in words if word.lower() not in ENGLISH_STOP_WORDS]
    for named in (words, telling) if len(telling) < len(words) else (words,):
        initials = "".join(word[0] for word in named).upper()
        is_short = MIN_INITIALS <= len(initials) <= MAX_FORM_TERMS
        if is_short and initials in text and re.search(rf"(?<!\w){initials}(?!\w)", text):
            yield f"{title} ({initials})"


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """Yield the short and the long form of each acronym that a text explains."""
    plain = _MARKS.sub("", text)
    for match in _BRACKETS.finditer(plain):
        inside = " ".join(match[1].split())
        before = _LAST_WORDS.search(plain[: match.start()])
        words = before[0].split() if before else []
        if _SHORT.fullmatch(inside):
            most = min(len(inside) + 5, 2 * len(inside))
            long = _long_form(inside, " ".join(words[-most:]))
            if long:
                yield inside, long
        elif words and _SHORT.fullmatch(words[-1]):
            long = _long_form(words[-1], inside)
            if long == inside:
                yield words[-1], long


def _long_form(short: str, text: str) -> str | None:
    """Return an acronym's long form at the end of a text; None if there is none.

    It consists of the words whose initials are exactly the acronym's letters; otherwise, it is the
    shortest ending that contains the letters in order.
    """
    whole = text.split()
    for start, first in enumerate(whole):
        telling = [word for word in whole[start:] if word.lower() not in ENGLISH_STOP_WORDS]
        begins = telling[:1] == [first]
        if begins and "".join(word[0] for word in telling).lower() == short.lower():
            return " ".join(whole[start:])
    place = len(text)
    for number in range(len(short) - 1, -1, -1):
        letter = short[number].lower()
        if not letter.isalnum():
            continue
        place = text.lower().rfind(letter, 0, place)
        while number == 0 and place > 0 and text[place - 1].isalnum():
            place = text.lower().rfind(letter, 0, place)
        if place < 0:
            return None
    long = text[place:]
    words = _WORD.findall(long)
    letters = [letter for letter in short.lower() if letter.isalnum()]
    initials = Counter(word[0].lower() for word in words)
    beginning = sum((initials & Counter(letters)).values())
    others = Counter(word[0].lower() for word in words if word.lower() not in ENGLISH_STOP_WORDS)
    is_explained = 2 * beginning > len(letters) and others <= Counter(letters)
    return long if is_explained and len(long) > len(short) and short not in words else None
