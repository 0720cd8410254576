"""Finds the terms that a text defines: `SLAM is ...`, `"Consumer" means ...`, glossary entries.

A query for a name first finds chunks with that name, then the text that defines it. `is` only
counts at the beginning of a chunk's first sentence, since later sentences are about a subject that
is already defined.
"""

import re
from collections.abc import Iterator, Sequence

from foundry.runtime.index.tokens import ENGLISH_STOP_WORDS

_CONNECTORS = frozenset("and for in of on or to".split())
_POINTERS = ENGLISH_STOP_WORDS - _CONNECTORS | frozenset(
    "another any because below both ce cela das der dies diese dieser each ein eine el ella es esta"
    " este esto every following here il no one other said sie since some the un una une"
    " whose".split()
)
"""Words of several languages that no defined name contains."""

_MARKS = r"[*_`\"'\u2018\u2019\u201c-\u201e\u00ab\u00bb\u00a0]*"
_NAME = (
    rf"{_MARKS}(?P<name>\w[\w\u2019'&/+#.-]*(?: [\w\u2019'&/+#.-]+){{0,5}}?)"
    rf"{_MARKS}(?: \({_MARKS}(?P<short>\w[\w&/+#.-]*){_MARKS}\))?{_MARKS}"
)
_IS = re.compile(
    rf"(?!The [^.]*? is the )(?:(?:An?|The|Ein|Eine|Une?|Una?) )?{_NAME} "
    r"(?:(?:is|are) (?:an?|the|one of)|(?:ist|sind) (?:ein|eine|der|die|das)|est (?:une?|l[ae])"
    r"|es (?:una?|el|la)) "
)
_MEANING = re.compile(" (?:means|refers to|bedeutet|signifie|significa) ")
_MEANS = re.compile(rf"(?:[-*+] |\(?\w{{1,4}}[.)] )*{_NAME}{_MEANING.pattern}")
_ENTRY = re.compile(rf"(?:[-*+;] |\| *)?{_NAME}(?: ?:+{_MARKS}(?=\s|$)| +(?:[-\u2013\u2014] |\|))")
_GLOSSARY = re.compile(
    r"\b(?:abbreviations|abkürzungen|acronyms|begriffe|definiciones|definitionen|definitions"
    r"|définitions|glosario|glossaire|glossar|glossary|terminology|terms|términos|vocabulary)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_NO_SENTENCE = ("#", "|", "!", "<", "[")


def defined_names(text: str, headings: Sequence[str]) -> Iterator[str]:
    """Yield the names that a chunk's text defines, given its title and headings."""
    lines = [line.strip() for line in _FENCE.sub("", text).splitlines()]
    first = next((line for line in lines if line and not line.startswith(_NO_SENTENCE)), "")
    patterns = [_MEANS] if _MEANING.search(text) else []
    patterns += [_ENTRY] if any(map(_GLOSSARY.search, headings)) else []
    found = [pattern.match(line) for line in lines for pattern in patterns]
    for match in (_IS.match(first), *found):
        for name in filter(None, match.groups()) if match else ():
            words = name.casefold().split()
            if _POINTERS.isdisjoint(words) and not _CONNECTORS.intersection(words[:1] + words[-1:]):
                yield name
