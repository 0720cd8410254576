"""The sources of an answer: numbered hits, within a budget of characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..index.records import ChunkRecord
from ..retrieval.results import Hit
from ..web.citations import document_url
from .events import SourceOfAnswer

PASSAGES_CHARACTERS = 16_000
"""Of all passages together: about 4,000 tokens of English."""

MIN_PASSAGE_CHARACTERS = 200
"""Less than this much of a passage says nothing."""

EXCERPT_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A hit under its number, from 1; `text` is as much of it as there is room for."""

    hit: Hit
    text: str
    source: SourceOfAnswer

    @property
    def heading(self) -> str:
        """The title and the headings above the passage, on one line."""
        return heading_of(self.hit)


def heading_of(chunk: ChunkRecord) -> str:
    """Return the title and the headings above a chunk, on one line."""
    return " > ".join(" ".join(part.split()) for part in chunk.titled_section())


def number_passages(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """Number the hits from the best on, as many as the budget holds; the last may be cut."""
    passages: list[NumberedPassage] = []
    left = PASSAGES_CHARACTERS
    for number, hit in enumerate(hits, start=1):
        whole = hit.text if hit.passage is None else hit.passage.text
        if left < min(MIN_PASSAGE_CHARACTERS, len(whole)):
            break
        source = SourceOfAnswer(
            number=number,
            id=hit.id,
            title=hit.title,
            url=document_url(hit),
            document_id=hit.document_id,
            section=hit.section,
            path=hit.path,
            position=hit.position,
            text=shorten(hit.text, EXCERPT_CHARACTERS),
            score=hit.score,
        )
        passages.append(NumberedPassage(hit, shorten(whole, left), source))
        left -= len(passages[-1].text)
    return passages


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a space and marked if it has more than `limit` characters."""
    if len(text) <= limit:
        return text
    mark = " ..."
    cut = text[: max(0, limit - len(mark))]
    return cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip() + mark
