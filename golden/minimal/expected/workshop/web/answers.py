"""Answers over HTTP that are made of records of the index."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any, Literal, NamedTuple

from ..index.reader import Index
from ..index.records import DocumentAnswer, Record, SourceSummary


@dataclass(frozen=True, slots=True)
class DocumentPage(Record):
    """Some of `total` documents, from `offset` on."""

    total: int
    offset: int
    documents: Sequence[DocumentAnswer]


@dataclass(frozen=True, slots=True)
class ChunkPlace(Record):
    """A chunk of a document, without its text."""

    id: str
    section: list[str]
    position: dict[str, int]


@dataclass(frozen=True, slots=True)
class DocumentContents(DocumentAnswer):
    """A document, with the places of its chunks in order, those of the page asked for."""

    contents: list[ChunkPlace]


@dataclass(frozen=True, slots=True)
class SourceList(Record):
    """Every source of the index."""

    sources: list[SourceSummary]


@dataclass(frozen=True, slots=True)
class Health(Record):
    """The process answers."""

    status: Literal["ok"]


@dataclass(frozen=True, slots=True)
class Readiness(Record):
    """The index is open, and searches are answered.

    `verified`: every file of the index has been compared with its hash. `problem` says what is not
    as it should be if `status` is `degraded`.
    """

    status: Literal["ok", "degraded"]
    problem: str | None
    verified: bool
    index_version: str
    chunks: int
    documents: int


class ReadinessPart(NamedTuple):
    """Something that a server needs beside its index: its key and form in the answer of /readyz.

    `describe` returns its state in the index that is served. What it says as `detail` makes the
    server degraded, and what it raises makes it unready.
    """

    name: str
    model: type[Record]
    describe: Callable[[Index], dict[str, Any]]


def readiness_of(*parts: ReadinessPart) -> type[Readiness]:
    """Return the answer of /readyz of a server that has these parts."""
    return make_dataclass(
        "Readiness",
        [(part.name, part.model) for part in parts],
        bases=(Readiness,),
        namespace={"__doc__": Readiness.__doc__},
        frozen=True,
        slots=True,
    )
