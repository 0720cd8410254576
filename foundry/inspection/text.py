"""Formats an inspection for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foundry.runtime.index.records import page_of
from foundry.runtime.terminal import printable
from foundry.terminal import count_of, format_table


def show_index(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield facts about an index."""
    dense = facts["dense"]
    yield f"{facts['index']}  version {facts['version']}, format {facts['format']}"
    nouns = ("documents", "chunks", "terms", "postings", "tags", "bytes")
    *counts, size = (count_of(facts[noun], noun.removesuffix("s")) for noun in nouns)
    yield f"{', '.join(counts)}; {size}"
    yield f"language {facts['language']}, tokenizer {facts['tokenizer_version']}"
    if dense is None:
        yield "no vectors"
    else:
        yield (
            f"vectors by {dense['provider']} {dense['model']}, {dense['dimensions']} dimensions;"
            f" {count_of(dense['chunks_without_vector'], 'chunk')} without one"
        )
        yield f"queries: {dense['query']['encoder']}: {dense['query']['reason']}"
        recall = ", ".join(f"{shape} {share:.3f}" for shape, share in dense["recall_at_20"].items())
        yield f"recall@20 of {dense['candidates']:,} candidates: {recall or 'not measured'}"
    yield ""
    sources = [
        [entry["name"], f"{entry['documents']:,}", f"{entry['chunks']:,}"]
        for entry in facts["sources"]
    ]
    yield format_table([["source", "documents", "chunks"], *sources])
    yield ""
    files = [[name, f"{size:,}"] for name, size in facts["files"].items()]
    yield format_table([["file", "bytes"], *files])


def show_documents(documents: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each document, then their number."""
    count = 0
    for document in documents:
        count += 1
        also_at = document["also_at"]
        copies = f"  (and {count_of(len(also_at), 'other place')})" if also_at else ""
        chunks = count_of(document["chunks"], "chunk")
        yield printable(
            f"{document['id']}  {chunks:>12}  {document['source']}:"
            f" {document['path']}  {document['title']}{copies}"
        )
    yield count_of(count, "document")


def show_synonyms(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each group of synonyms, then their number."""
    for group in groups:
        forms = ", ".join(group["forms"])
        others = f" => {', '.join(group['searched_as'])}" if "searched_as" in group else ""
        where = f"documents, {group['times']} x" if "times" in group else "file"
        yield printable(f"{forms}{others}  ({where})")
    yield count_of(len(groups), "group")


def show_document(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield a document, and a line for each of its chunks."""
    for name in ("id", "title", "source", "path", "url", "media_type", "reader", "modified"):
        if document[name]:
            yield printable(f"{name:11}{document[name]}")
    if document["tags"]:
        yield printable(f"tags       {', '.join(document['tags'])}")
    for name, value in document["metadata"].items():
        yield printable(f"metadata   {name}: {value}")
    for place in document["also_at"]:
        yield printable(f"also at    {place['source']}: {place['path']}")
    yield ""
    rows = [["chunk", "characters", "from", "lines", "page", "terms", "vector"]]
    for chunk in document["chunks"]:
        position = chunk["position"]
        rows.append(
            [
                chunk["id"],
                f"{chunk['characters']:,}",
                f"{position['start']:,}",
                f"{position['line_start']}-{position['line_end']}",
                page_of(position) or "-",
                f"{chunk['terms']:,}",
                "yes" if chunk["has_vector"] else "no",
            ]
        )
    heading, *lines = format_table(rows).split("\n")
    yield f"{heading}  section"
    for line, chunk in zip(lines, document["chunks"], strict=True):
        yield printable(f"{line}  {' > '.join(chunk['section'])}")


def show_chunk(chunk: Mapping[str, Any]) -> Iterator[str]:
    """Yield a chunk with its text, its tokens and its terms."""
    position = chunk["position"]
    yield f"chunk {chunk['id']}, number {chunk['number']:,}"
    yield printable(f"{chunk['source']}: {chunk['path']}, document {chunk['document_id']}")
    yield printable(" > ".join([chunk["title"], *chunk["section"]]))
    page = page_of(position)
    yield printable(
        f"{f'page {page}, ' if page else ''}"
        f"characters {position['start']:,} to {position['end']:,},"
        f" lines {position['line_start']} to {position['line_end']};"
        f" {'has a' if chunk['has_vector'] else 'no'} vector"
    )
    yield ""
    yield from (printable(line) for line in chunk["text"].split("\n"))
    yield ""
    yield "tokens and their terms (none for a stop word):"
    for token in chunk["tokens"]:
        mark = "  identifier" if token["is_identifier"] else ""
        yield printable(f"  {token['text']}: {' '.join(token['terms']) or '-'}{mark}")
    yield ""
    yield "index terms, each with its weight (= marks a whole heading):"
    for term, impact in chunk["indexed"].items():
        yield printable(f"  {impact:8.4f}  {term}")
