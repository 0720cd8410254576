"""Forms: words as texts spell them, and their frequencies."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

import numpy as np

from foundry.documents.prepared import FormCounts, pack

SEPARATOR = "\n"
MAX_COUNTED = 2_000_000
"""Maximum number of distinct forms in memory; above it, forms seen once are dropped."""

_WORD = re.compile(r"(?<!\w)[^\W\d]+(?!\w)")


def find_forms(text: str) -> list[str]:
    """Return the words of a text in their original spelling, in order."""
    return _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


def count_forms(texts: Iterable[str]) -> Counter[str]:
    """Return the words of texts in their original spelling, with their frequencies."""
    forms: Counter[str] = Counter()
    for text in texts:
        forms.update(find_forms(text))
        if len(forms) > MAX_COUNTED:
            forms = Counter({form: count for form, count in forms.items() if count > 1})
    return forms


def forms_of(texts: Iterable[str]) -> FormCounts:
    """Return the forms in a document's texts, with their frequencies."""
    forms: Counter[str] = Counter()
    for text in texts:
        forms.update(find_forms(text))
    return FormCounts(SEPARATOR.join(forms), pack(np.array([*forms.values()], dtype=np.uint32)))
