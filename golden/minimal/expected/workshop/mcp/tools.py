"""The tools, and their results as sent to clients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import InvalidRequestError
from ..index.documents import DocumentRecord, Documents, SourceList, join_chunks
from ..index.reader import Index, current_index
from ..index.records import ChunkRecord, Position, Record
from ..retrieval.passages import find_passages
from ..retrieval.results import HEDGES, Hit, LaneRanks, SearchResponse, notices_of
from ..web.citations import document_url

MAX_FETCHED_LENGTH = 100_000  # Characters of a document; few models can read more.
_LEFT_OUT = {"exclude": True}


@dataclass(slots=True)
class FoundPassage(Hit):
    """A passage; `url` is its address, and `near_duplicates` are the ids of similar ones."""

    url: str = field(metadata={"min_length": 1})
    position: Position = field(metadata=_LEFT_OUT)
    tags: list[str] = field(metadata=_LEFT_OUT)
    ranks: LaneRanks = field(metadata=_LEFT_OUT)
    snippet: None = field(default=None, metadata=_LEFT_OUT)
    highlights: None = field(default=None, metadata=_LEFT_OUT)
    snippet_code: tuple[()] = field(default=(), metadata=_LEFT_OUT)
    more: tuple[()] = field(default=(), metadata=_LEFT_OUT)


@dataclass(frozen=True, slots=True)
class FoundPassages(SearchResponse):
    """The hits, best first; `match` is `none` if hardly anything suggests that they answer.

    `unknown_identifiers` are those that no document contains; `stages` reports what stages changed;
    `notice` warns that the documents may not answer, unless the match is strong.
    """

    query: str = field(metadata=_LEFT_OUT)
    took_ms: float = field(metadata=_LEFT_OUT)
    hits: tuple[FoundPassage, ...] = field(metadata={"alias": "results"})
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class FetchedText(Record):
    """A passage or a whole document, verbatim; `url` is its address for readers, or its path."""

    id: str
    title: str
    text: str
    url: str = field(metadata={"min_length": 1})
    metadata: dict[str, Any]


def _find(response: SearchResponse) -> FoundPassages:
    hits = tuple(FoundPassage(**_values(hit, url=document_url(hit))) for hit in response.hits)
    hedge = HEDGES.get(response.match) if hits else None
    nearest = [f"{hedge}; these passages are the closest."] if hedge else []
    notice = " ".join([*notices_of(response.stages), *nearest]) or None
    return FoundPassages(**_values(response, hits=hits, notice=notice))


def _values(record: Hit | SearchResponse, **changed: object) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)} | changed


def _fetch(asked: Mapping[str, Any]) -> FetchedText:
    index = current_index()
    record = index.find_chunk(asked["id"]) or index.part(Documents.open).find(asked["id"])
    if record is None:
        raise InvalidRequestError("there is no passage or document with this id", field="id")
    values = record.to_json()
    metadata = {name: values[name] for name in ("source", "path", "tags", "modified", "also_at")}
    if isinstance(record, ChunkRecord):
        text, section = record.text, record.section
        for passage in filter(None, find_passages(index, [record])):
            text, section = passage.text, passage.section
        metadata |= {"document_id": record.document_id, "section": section}
    else:
        text, is_truncated = read_beginning(index, record)
        # Metadata of a document must not override fields of the index.
        metadata = {**record.metadata, **metadata, "truncated": is_truncated}
    return FetchedText(record.id, record.title, text, document_url(record), metadata)


def read_beginning(index: Index, document: DocumentRecord) -> tuple[str, bool]:
    """Return the first MAX_FETCHED_LENGTH characters of a document, and whether it is longer."""
    text = ""
    for piece in join_chunks(index.part(Documents.open).chunks_of(document)):
        text += piece
        if len(text) > MAX_FETCHED_LENGTH:
            break
    return text[:MAX_FETCHED_LENGTH], len(text) > MAX_FETCHED_LENGTH


def _list_sources(_asked: Mapping[str, Any]) -> SourceList:
    return SourceList(current_index().part(Documents.open).sources())


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `{title}` in its texts is replaced by the server's title.

    `answer` is called with the arguments or, if `searches` is set, with the response to them.
    """

    name: str
    title: str
    description: str
    result: type[Record]
    answer: Callable[[Any], Record]
    searches: bool = False


_TOOLS = (
    Tool(
        "search",
        "Search {title}",
        "Find the passages of {title} that answer a question, best first. Identifiers such as"
        " article numbers, names of settings and error codes are found as written.",
        FoundPassages,
        _find,
        searches=True,
    ),
    Tool(
        "fetch",
        "Read from {title}",
        "Read one passage by its id, or a whole document by its document_id, verbatim.",
        FetchedText,
        _fetch,
    ),
    Tool(
        "list_sources",
        "List the sources of {title}",
        "List where the documents come from, with the number of documents and passages of"
        " each. The names can be used as the source filter of search.",
        SourceList,
        _list_sources,
    ),
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}
"""The tools by name."""
