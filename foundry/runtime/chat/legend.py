"""Writes the citations of an answer for OpenAI's clients: as annotations, and as a legend.

Clients that only show text show the legend, and send it back in later requests.
"""

import re
from collections.abc import Sequence
from typing import Any

from .answer import CitedPassage, Done
from .conversation import Turn
from .markdown_code import LINE_END, CodeTracker, Spans
from .text import MARKS

_CITATION = re.compile(r"\[([0-9]{1,3})\]")
_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")


def ending_of(done: Done) -> str:
    """Return the unsupported sentences, if the answer was checked, and the legend."""
    doubts = [" ".join(one["sentence"].split()) for one in done.to_json().get("unsupported", ())]
    lines = "".join(f"\n- {doubt}" for doubt in doubts)
    return (f"\n\nNot supported by the passages:{lines}" if lines else "") + legend(done.cited)


def legend(cited: Sequence[CitedPassage]) -> str:
    """Return a line for each cited passage."""
    text = "\n" if cited else ""
    for passage in cited:
        # A space after each character that would begin a link, an image or HTML; see CommonMark
        # 0.31, sections 4.6, 4.7 and 6.3 to 6.6.
        title = MARKS.sub(r"\g<0> ", " ".join(passage.title.split()) + ":")
        # Escaping Markdown and HTML characters does not change the meaning of the URL.
        url = MARKS.sub(lambda mark: f"%{ord(mark[0]):02X}", passage.url)
        text += f"\n[{passage.number}] {title} {url}"
    return text


def read_legend(answer: str) -> Turn:
    """Parse an earlier answer into a turn: its text, and the titles in its legend.

    Input from the caller is not trusted: the titles are only used in searches.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)


def annotations_of(text: str, cited: Sequence[CitedPassage]) -> list[dict[str, Any]]:
    """Return an annotation for each citation outside code: its character offsets, title and URL."""
    passages = {passage.number: passage for passage in cited}
    annotations, code = [], _code_spans(text)
    for match in _CITATION.finditer(text):
        passage = passages.get(int(match[1]))
        if passage and not any(start <= match.start() < end for start, end in code):
            place = {"start_index": match.start(), "end_index": match.end()}
            citation = {**place, "title": passage.title, "url": passage.url}
            annotations.append({"type": "url_citation", "url_citation": citation})
    return annotations


def _code_spans(text: str) -> Spans:
    """Return the spans of code in a complete text."""
    tracker = CodeTracker()
    spans: Spans = []
    start = 0
    for end in [*LINE_END.finditer(text), None]:
        line = text[start : end.start() if end else None]
        spans += [(start + a, start + b) for a, b in tracker.read(line, is_whole=True)[0]]
        tracker.end_line(line)
        start = end.end() if end else start
    return spans
