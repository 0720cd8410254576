"""Resolves the names in questions to documents, and ranks the documents of a search.

A name is the id of a document, the id of a chunk (for the chunk's document), or a path (for every
document with that path). The id and path of an unindexed copy mean the indexed document. A document
gets the highest grade of its names.
"""

from collections.abc import Sequence

from ..index.documents import Documents
from ..index.reader import Index
from ..retrieval.results import Hit
from .questions import Question


def resolve(index: Index, questions: Sequence[Question]) -> tuple[list[Question], list[str]]:
    """Replace names in questions by document ids; also return the relevant names not found.

    Unresolved names are kept; they never match.
    """
    known: dict[str, list[str]] = {}
    wanted = {name for question in questions for name in question.relevant}
    for name in wanted:
        if document := index.part(Documents.open).find(name):
            known[name] = [document.id]
        elif chunk := index.find_chunk(name):
            known[name] = [chunk.document_id]
    wanted -= known.keys()
    for document in index.part(Documents.open).page(limit=index.document_count) if wanted else ():
        for path in wanted & {place.path for place in document.places()}:
            known.setdefault(path, []).append(document.id)
    resolved = []
    for question in questions:
        grades: dict[str, float] = {}
        for name, grade in question.relevant.items():
            for found in known.get(name, [name]):
                grades[found] = max(grade, grades.get(found, grade))
        resolved.append(Question(question.query, grades))
    relevant = {name for one in questions for name, grade in one.relevant.items() if grade > 0}
    return resolved, sorted(relevant - known.keys())


def rank_documents(index: Index, hits: Sequence[Hit]) -> list[str]:
    """Return the document ids of hits and their near-duplicates, each once."""
    documents: dict[str, None] = {}
    for hit in hits:
        documents[hit.document_id] = None
        for name in hit.near_duplicates:
            if chunk := index.find_chunk(name):
                documents[chunk.document_id] = None
    return list(documents)
