"""Numbers of documents, which are told apart by their types: those of one kind are no others."""

from typing import Generic, NamedTuple, NewType, TypeVar

InputNumber = NewType("InputNumber", int)
"""The number of an input of this build, in the order of the sources."""

PreviousDocument = NewType("PreviousDocument", int)
"""The number of a document in the index before."""

PreviousChunk = NewType("PreviousChunk", int)
"""The number of a chunk in the index before."""

DocumentNumber = NewType("DocumentNumber", int)
"""The number of a document in the index that is being written."""

Number = TypeVar("Number", InputNumber, PreviousDocument, PreviousChunk)


class Span(NamedTuple, Generic[Number]):
    """The numbers from `first` to `last`, which is the one after them."""

    first: Number
    last: Number
