"""Types for the different numbers of documents and chunks, so that they cannot be confused."""

from typing import Generic, NamedTuple, NewType, TypeVar

InputNumber = NewType("InputNumber", int)
"""The number of an input of this build, in the order of the sources."""

PreviousDocument = NewType("PreviousDocument", int)
"""The number of a document in the previous index."""

PreviousChunk = NewType("PreviousChunk", int)
"""The number of a chunk in the previous index."""

DocumentNumber = NewType("DocumentNumber", int)
"""The number of a document in the index that is being written."""

Number = TypeVar("Number", InputNumber, PreviousDocument, PreviousChunk)


class Span(NamedTuple, Generic[Number]):
    """A range of numbers from `first` up to, but excluding, `last`."""

    first: Number
    last: Number
