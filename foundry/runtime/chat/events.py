"""What an answer is made from and consists of: numbered passages, and its events in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..index.records import ChunkRecord, Record
from ..retrieval.match import Match
from ..retrieval.results import Hit, Mode, Reason
from ..web.citations import document_url

PASSAGES_CHARACTERS = 16_000
MIN_PASSAGE_CHARACTERS = 200
EXCERPT_CHARACTERS = 400

AnswerReason = Literal[
    "default", "no_model", "model_failed", "budget_spent", "nothing_found", "acknowledgement"
]
QueryOrigin = Literal["question", "conversation", "model", "none"]


@dataclass(frozen=True, slots=True)
class CitedPassage(Record):
    """A passage that an answer cites as `[number]`."""

    number: int
    id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class SourceOfAnswer(CitedPassage):
    """A passage that an answer may cite; `text` is how it begins."""

    document_id: str
    section: list[str]
    path: str
    position: dict[str, int]
    text: str
    score: float

    def cited(self) -> CitedPassage:
        """Return what `Done` says of the passage."""
        return CitedPassage(self.number, self.id, self.title, self.url)


@dataclass(frozen=True, slots=True)
class Sources(Record):
    """First: the passages that the answer may cite, and how POST /search finds the same.

    A message that asks nothing has no query. `query_notice` says why the model did not word it.
    """

    event: ClassVar = "sources"
    query: str | None
    query_from: QueryOrigin
    query_notice: str | None
    mode: Mode | None
    reason: Reason | None
    degraded: bool
    match: Match | None
    unknown_identifiers: list[str]
    stages: dict[str, dict[str, Any]]
    sources: list[SourceOfAnswer]


@dataclass(frozen=True, slots=True)
class Delta(Record):
    """Then: the text of the answer, piece by piece."""

    event: ClassVar = "delta"
    text: str


@dataclass(frozen=True, slots=True)
class Done(Record):
    """Last: how the answer came about, which passages it cites, and the tokens that it took."""

    event: ClassVar = "done"
    mode: Literal["model", "extractive"]
    reason: AnswerReason
    notice: str | None
    cited: list[CitedPassage]
    truncated: bool
    usage: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class Failed(Record):
    """Last, instead of `Done`: why the answer broke off."""

    event: ClassVar = "error"
    message: str


ChatEvent = Sources | Delta | Done | Failed


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A hit that may be cited as `source`; `text` is as much of it as fits into the prompt."""

    source: SourceOfAnswer
    hit: Hit
    text: str


def number_passages(hits: Sequence[Hit]) -> list[NumberedPassage]:
    """Number the hits from 1, best first, as long as there is room; the last may be cut."""
    passages: list[NumberedPassage] = []
    left = PASSAGES_CHARACTERS
    for number, hit in enumerate(hits, start=1):
        whole = hit.text if hit.passage is None else hit.passage.text
        if left < min(MIN_PASSAGE_CHARACTERS, len(whole)):
            break
        excerpt, url = shorten(hit.text, EXCERPT_CHARACTERS), document_url(hit)
        place = (hit.document_id, hit.section, hit.path, hit.position)
        source = SourceOfAnswer(number, hit.id, hit.title, url, *place, excerpt, hit.score)
        passages.append(NumberedPassage(source, hit, shorten(whole, left)))
        left -= len(passages[-1].text)
    return passages


def heading_of(chunk: ChunkRecord) -> str:
    """Return the title and the headings above a chunk, on one line."""
    return " > ".join(" ".join(part.split()) for part in chunk.titled_section())


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a space and marked with dots if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    mark = " ..."
    cut = text[: max(0, limit - len(mark))]
    return cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip() + mark
