"""The legend of an answer: what the numbers in the text stand for, for clients that show it alone.

OpenAI's clients send it back with the answer, and it says what a follow-up refers to.
"""

import re
from collections.abc import Sequence

from .conversation import Turn
from .events import CitedPassage
from .safe_text import disarm, disarm_address

_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")


def legend(cited: Sequence[CitedPassage]) -> str:
    """Return a line for each passage cited, below an empty one; nothing if none is."""
    titles = [" ".join(passage.title.split()) for passage in cited]
    lines = [
        f"[{passage.number}] {disarm(f'{title}:')} {disarm_address(passage.url)}"
        for passage, title in zip(cited, titles, strict=True)
    ]
    return "\n\n" + "\n".join(lines) if lines else ""


def read_legend(answer: str) -> Turn:
    """Return the answer as a turn: the text above its legend, and the titles in the legend.

    What the caller sends back is not trusted: the titles are searched for, and no more.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)
