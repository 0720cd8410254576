"""Finds secrets in a text: keys of known services, and random values assigned to names.

Values are never kept, only their lines. `secret_formats.toml` has the formats.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from foundry.documents import Finding
from foundry.files import read_beside

MAX_FINDINGS = 100
"""Maximum number of findings kept per document."""

MIN_ENTROPY = 3.5
"""Shannon entropy in bits per character; words and paths have less."""


_FORMATS = [
    (form["kind"], form["marker"], re.compile(form["pattern"]))
    for form in read_beside(__file__, "secret_formats.toml")["format"]
]
_ASSIGNED = re.compile(r"[:=]>?\s{0,3}[\"']?([A-Za-z0-9+/_-]{20,200}={0,2})(?![\w.(\[])")
_NAME = re.compile(r"(?i)(?:key|secret|token|passwd|password|credentials?)[\"']?\s{0,3}:?$")
_PLACEHOLDER = re.compile(
    r"(?i)example|sample|dummy|your|xxxx|changeme|placeholder|redacted|1234567"
)


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Return the first MAX_FINDINGS places that look like a secret, not a placeholder, in order."""
    found = {
        match.start(): kind
        for kind, marker, pattern in _FORMATS
        if marker in text
        for match in pattern.finditer(text)
        if not _PLACEHOLDER.search(match.group())
    }
    for match in _ASSIGNED.finditer(text):
        name = text[max(0, match.start() - 20) : match.start()]
        if _NAME.search(name) and _looks_random(match.group(1)):
            found.setdefault(match.start(1), "random value")
    return tuple(_locate(text, sorted(found.items())[:MAX_FINDINGS]))


def _looks_random(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    if not 2 <= digits <= len(value) - 2 or _PLACEHOLDER.search(value):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= MIN_ENTROPY


def _locate(text: str, found: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    line, position = 1, 0
    for start, kind in found:
        line += text.count("\n", position, start)
        position = start
        yield Finding(kind, line)
