"""Prepared documents come back from bytes as they were, and what makes no sense is skipped."""

from dataclasses import replace
from typing import Any

import pytest

from foundry.building.documents.encoding import check_answer, decode, decode_signature, encode
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.signature import Signature
from foundry.config.file import ChunkingSection
from foundry.documents import RawDocument, Skipped
from foundry.documents.prepared import NamedHeading, PreparedDocument
from foundry.documents.reasons import Completed, Reason

TEXT = "# Pumps\n\nReplace D40 seals.\n\n## Valves\n\n[Pumps](a.md), étanchéité.\n".encode()
RAW = RawDocument("manual", "pumps.md", "pumps.md", TEXT)


@pytest.fixture(scope="module", params=[0, 256], ids=["without vectors", "with vectors"])
def recipe(request: pytest.FixtureRequest) -> Recipe:
    return Recipe("english", ChunkingSection(), {"title": 2, "headings": 3}, request.param)


@pytest.fixture(scope="module")
def prepared(recipe: Recipe) -> PreparedDocument:
    result = Preparer(recipe).prepare(RAW)
    assert isinstance(result, PreparedDocument)
    assert len(result.chunks) > 1
    return result


def test_a_document_comes_back_as_it_was(prepared: PreparedDocument, recipe: Recipe) -> None:
    content = encode(prepared)
    assert decode(content) == prepared
    assert check_answer(content, RAW, recipe) == prepared
    signature = decode_signature(content)
    assert signature is not None
    assert signature.to_bytes() == Signature.of(prepared.document).to_bytes()


def test_a_skipped_one_comes_back_without_a_signature() -> None:
    skipped = Skipped("manual", "pumps.md", "no text")
    assert decode(encode(skipped)) == skipped
    assert decode_signature(encode(skipped)) is None


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.99])
def test_what_is_cut_off_is_refused(prepared: PreparedDocument, share: float) -> None:
    content = encode(prepared)
    with pytest.raises(ValueError, match=r"."):
        decode(content[: int(share * len(content))])


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("chunk", {"end": 10_000}),
        ("chunk", {"start": -5}),
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
def test_parts_that_do_not_fit_together_are_skipped(
    prepared: PreparedDocument, recipe: Recipe, part: str, fields: dict[str, Any]
) -> None:
    if part == "chunk":
        first, *others = prepared.chunks
        wrong = replace(prepared, chunks=(replace(first, **fields), *others))
    elif part == "heading":
        heading = NamedHeading(**{**prepared.headings[0]._asdict(), **fields})
        wrong = replace(prepared, headings=(heading,))
    else:
        wrong = replace(prepared, **{part: replace(getattr(prepared, part), **fields)})
    answer = check_answer(encode(wrong), RAW, recipe)
    assert isinstance(answer, Skipped)
    assert answer.reason == "reader failed"


@pytest.mark.parametrize(("part", "wrong"), [(b"\0", b"x"), (b"manual", b"others")])
def test_a_signature_of_nothing_or_of_another_is_skipped(
    prepared: PreparedDocument, recipe: Recipe, part: bytes, wrong: bytes
) -> None:
    signature = Signature.of(prepared.document).to_bytes()
    content = encode(prepared).replace(signature, signature.replace(part, wrong), 1)
    answer = check_answer(content, RAW, recipe)
    assert isinstance(answer, Skipped)
    assert answer.reason == "reader failed"


def test_a_worker_has_no_reasons_of_its_own(recipe: Recipe) -> None:
    said = Skipped("guide", "a.md", Reason.ENCRYPTED, "by a password")
    answer = check_answer(encode(said), RAW, recipe)
    assert answer == Skipped(RAW.source, RAW.path, Reason.ENCRYPTED, "by a password")
    said = Skipped("guide", "a.md", Completed("call this number"))
    answer = check_answer(encode(said), RAW, recipe)
    assert answer == Skipped(RAW.source, RAW.path, Reason.READER_FAILED, "ValueError")
