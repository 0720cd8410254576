"""Prepared documents survive serialisation, and invalid entries are skipped."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from foundry.building.documents.answers import check_answer
from foundry.building.documents.encoding import (
    StoredDocument,
    decode,
    encode,
    signature_bytes,
)
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.signature import Signature, find_blocks
from foundry.config.file import ChunkingSection
from foundry.documents import RawDocument, Skipped
from foundry.documents.prepared import NamedHeading, PreparedDocument
from foundry.documents.reasons import Completed, Reason
from foundry.indexing.entries import IndexEntry

TEXT = "# Pumps\n\nReplace D40 seals.\n\n## Valves\n\n[Pumps](a.md), étanchéité.\n".encode()
RAW = RawDocument("manual", "pumps.md", "pumps.md", TEXT)
SPAN = {"start": 0, "end": 1, "line_start": 1, "line_end": 1}


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return Recipe("english", ChunkingSection(), {"title": 2, "headings": 3}, 256)


@pytest.fixture(scope="module")
def prepared(recipe: Recipe) -> PreparedDocument:
    return prepare(recipe)


def prepare(recipe: Recipe) -> PreparedDocument:
    result = Preparer(recipe).prepare(RAW)
    assert isinstance(result, PreparedDocument)
    assert len(result.chunks) > 1
    return result


def signature_of(prepared: PreparedDocument) -> bytes:
    blocks = [*find_blocks(prepared.document.reading)]
    return Signature.of(prepared.document, blocks).to_bytes()


@pytest.mark.parametrize("dimensions", [0, 256])
def test_a_document_survives_serialisation(recipe: Recipe, dimensions: int) -> None:
    recipe = replace(recipe, dimensions=dimensions)
    prepared = prepare(recipe)
    content = encode(prepared)
    for found in (decode(content), check_answer(content, RAW, recipe)):
        assert isinstance(found, StoredDocument)
        assert found.entry == IndexEntry.of(prepared)
        assert found.read() == (prepared.document, prepared.chunks)
        assert found.signature == signature_bytes(content) == signature_of(prepared)


def test_a_skipped_document_is_decoded_without_a_signature() -> None:
    skipped = Skipped("manual", "pumps.md", "no text")
    assert decode(encode(skipped)) == skipped
    assert signature_bytes(encode(skipped)) == b""


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.99])
def test_truncated_entries_are_refused(prepared: PreparedDocument, share: float) -> None:
    content = encode(prepared)
    with pytest.raises(ValueError, match=r"."):
        decode(content[: int(share * len(content))])


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("terms", {"lengths": b""}),
        ("terms", {"vocabulary": ("pump",)}),
        ("links", {"first": bytes(16)}),
        ("links", {"addresses": b"123"}),
        ("forms", {"counts": b""}),
        ("forms", {"forms": "Pumps\nReplace seals"}),
        ("heading", {"chunk": 99}),
        ("heading", {"term": 10_000}),
        ("heading", {"kind": 7}),
    ],
)
def test_inconsistent_parts_are_skipped(
    prepared: PreparedDocument, recipe: Recipe, part: str, fields: dict[str, Any]
) -> None:
    if part == "heading":
        heading = NamedHeading(**{**prepared.headings[0]._asdict(), **fields})
        wrong = replace(prepared, headings=(heading,))
    else:
        wrong = replace(prepared, **{part: getattr(prepared, part)._replace(**fields)})
    answer = check_answer(encode(wrong), RAW, recipe)
    assert isinstance(answer, Skipped)
    assert answer.reason == "reader failed"


@pytest.mark.parametrize(("part", "wrong"), [(b"\0", b"x"), (b"manual", b"others")])
def test_invalid_signatures_are_skipped(
    prepared: PreparedDocument, recipe: Recipe, part: bytes, wrong: bytes
) -> None:
    signature = signature_of(prepared)
    content = encode(prepared).replace(signature, signature.replace(part, wrong), 1)
    answer = check_answer(content, RAW, recipe)
    assert isinstance(answer, Skipped)
    assert answer.reason == "reader failed"


def test_workers_may_only_give_known_reasons(recipe: Recipe) -> None:
    said = Skipped("guide", "a.md", Reason.ENCRYPTED, "by a password")
    answer = check_answer(encode(said), RAW, recipe)
    assert answer == Skipped(RAW.source, RAW.path, Reason.ENCRYPTED, "by a password")
    said = Skipped("guide", "a.md", Completed("call this number"))
    answer = check_answer(encode(said), RAW, recipe)
    assert answer == Skipped(RAW.source, RAW.path, Reason.READER_FAILED, "ValueError")


@pytest.mark.parametrize("fields", [{"end": 10_000}, {"start": -5}])
def test_a_document_whose_chunks_are_not_in_its_text_cannot_be_read(
    prepared: PreparedDocument, recipe: Recipe, fields: dict[str, Any]
) -> None:
    first, *others = prepared.chunks
    wrong = encode(replace(prepared, chunks=(replace(first, **fields), *others)))
    answer = check_answer(wrong, RAW, recipe)
    assert isinstance(answer, StoredDocument)
    with pytest.raises(ValueError, match="outside"):
        answer.read()


def _with_records(entry: IndexEntry, **fields: object) -> IndexEntry:
    """The entry with other fields in its first record."""
    first, rest = entry.chunks.lines.split(b"\n", 1)
    changed = json.dumps({**json.loads(first), **fields}).encode()
    lengths = np.frombuffer(entry.chunks.lengths, dtype="<u8").copy()
    lengths[0] = len(changed) + 1
    chunks = entry.chunks._replace(lines=changed + b"\n" + rest, lengths=lengths.tobytes())
    return entry._replace(chunks=chunks)


def _with_chunks(entry: IndexEntry, **fields: bytes) -> IndexEntry:
    return entry._replace(chunks=entry.chunks._replace(**fields))


def _with_headings(entry: IndexEntry, **fields: bytes) -> IndexEntry:
    return entry._replace(headings=entry.headings._replace(**fields))


@pytest.mark.parametrize(
    "forge",
    [
        lambda entry: _with_records(entry, document_id="other"),
        lambda entry: _with_records(entry, source="others"),
        lambda entry: _with_records(entry, path="other.md"),
        lambda entry: _with_records(entry, text=None),
        lambda entry: _with_records(entry, more=1),
        lambda entry: _with_records(entry, position={**SPAN, "start": "1"}),
        lambda entry: _with_records(entry, position={**SPAN, "page_label": 1}),
        lambda entry: _with_records(entry, position={**SPAN, "parent_start": 0}),
        lambda entry: _with_records(entry, position={"start": 0, "end": 1}),
        lambda entry: _with_records(entry, position={**SPAN, "more": 0}),
        lambda entry: _with_records(
            entry,
            also_at=[{"document_id": "", "source": "", "path": "", "url": None, "title": ""}],
        ),
        lambda entry: _with_chunks(entry, lines=entry.chunks.lines.replace(b"{", b" ", 1)),
        lambda entry: _with_chunks(entry, lines=entry.chunks.lines.replace(b",", b"\n", 1)),
        lambda entry: _with_chunks(entry, lines=entry.chunks.lines[:-1] + b" "),
        lambda entry: _with_chunks(entry, lines=entry.chunks.lines.replace(b"D40", b"D\xff0")),
        lambda entry: _with_chunks(entry, lengths=entry.chunks.lengths[::-1]),
        lambda entry: _with_chunks(entry, ids=entry.chunks.ids[8:]),
        lambda entry: _with_chunks(entry, lines=b"", lengths=b"", ids=b""),
        lambda entry: _with_headings(entry, texts=b"\xff" * len(entry.headings.texts)),
        lambda entry: _with_headings(entry, lengths=bytes(len(entry.headings.lengths))),
        lambda entry: _with_headings(entry, hashes=entry.headings.hashes[8:]),
        lambda entry: entry._replace(record=entry.record.replace(b",", b",\n", 1)),
        lambda entry: entry._replace(record=entry.record.replace(b"pumps.md", b"valve.md")),
    ],
)
def test_foreign_records_and_rows_are_skipped(
    prepared: PreparedDocument,
    recipe: Recipe,
    forge: Callable[[IndexEntry], IndexEntry],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forged = forge(IndexEntry.of(prepared))
    monkeypatch.setattr(IndexEntry, "of", lambda _: forged)
    answer = check_answer(encode(prepared), RAW, recipe)
    assert isinstance(answer, Skipped)
    assert answer.reason == "reader failed"
