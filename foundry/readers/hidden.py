"""Take out what people do not see in a text, but a language model reads; count it.

Characters that show nothing, or change the order in which others show (Unicode Technical Standard
39; Boucher and Anderson 2021, Trojan Source), and elements that a page hides.
"""

import re

from foundry.readers.notes import note_hidden

_SUSPECT = re.compile("[\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
# Whatever a pattern captures only looks like a find, and stays.
_PATTERNS = {
    # Joiners and breaks without width are spelling in many scripts, but not in Latin.
    "zero-width characters": re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]\u200b)"
        "|(?<=[\\0-\u024f])[\u200b-\u200d]+|[\u180e\u200b\u2060-\u2064\ufeff]+"
    ),
    "bidirectional controls": re.compile("()[\u202a-\u202e\u2066-\u2069]+"),
    # The flags of England, Scotland and Wales are a black flag with tag characters.
    "tag characters": re.compile(
        "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
        "|[\U000e0000-\U000e007f]+"
    ),
}


def remove_hidden(text: str) -> str:
    """Return the text without hidden characters, which are noted."""
    if text.isascii() or not _SUSPECT.search(text):
        return text
    for kind, pattern in _PATTERNS.items():
        found = [match for match in pattern.finditer(text) if not match.group(1)]
        if found:
            line = text.count("\n", 0, found[0].start()) + 1
            note_hidden(kind, sum(len(match.group()) for match in found), line)
            text = pattern.sub(lambda match: match.group(1) or "", text)
    return text
