"""A first file of questions, made from headings, for somebody to rewrite."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from foundry.errors import FoundryError
from foundry.evaluation.known_items import sample, unique_headings
from foundry.runtime.index.reader import Index

QUESTIONS = 20
"""As many as somebody rewrites in half an hour."""


def write_draft(index: Index, file: Path) -> int:
    """Write a line for each of some headings and the document that has it; returns how many.

    Raises FoundryError if the file is there already, or no heading is the only one of its words.
    """
    lines = [
        json.dumps({"query": heading, "relevant": [document]}, ensure_ascii=False)
        for heading, document in _choose(index)
    ]
    if not lines:
        raise FoundryError(
            "the index has no headings to draft questions from",
            hint='write lines like {"query": "...", "relevant": ["path or id"]} yourself',
        )
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
    except FileExistsError:
        raise FoundryError(
            f"{file}: exists already", hint="name another file, or remove this one"
        ) from None
    return len(lines)


def _choose(index: Index) -> Iterator[tuple[str, str]]:
    """Yield headings, one of each document before the second of any, and documents by path."""
    paths = Counter(document.path for document in index.documents())
    headings: dict[str, str] = {}
    for number in sample(index.chunk_count):
        chunk = index.chunk(number)
        document = chunk.path if paths[chunk.path] == 1 else chunk.document_id
        for heading in unique_headings(index, chunk):
            headings.setdefault(heading, document)
    rounds: Counter[str] = Counter()
    ranked = []
    for place, (heading, document) in enumerate(headings.items()):
        ranked.append((rounds[document], place, heading, document))
        rounds[document] += 1
    for _, _, heading, document in sorted(ranked)[:QUESTIONS]:
        yield heading, document
