"""Every reason for leaving something out of the index is an enum member, defined once."""

import ast
from pathlib import Path

import pytest

from foundry.documents.reasons import (
    Reason,
    answered,
    needs_extra,
    of_sitemap,
    unsupported,
)
from foundry.readers.formats import pictures
from foundry.readers.registry import FILE_READERS

FOUNDRY = Path(__file__).parents[2] / "foundry"
RAISED = {"Skipped": 2, "FetchError": 0, "refused": 0, "UnreadableError": 0, "UrlError": 0}
"""Functions and classes that take a reason, with the position of that argument."""


def test_no_module_passes_a_reason_as_a_literal() -> None:
    for path in set(FOUNDRY.rglob("*.py")) - set((FOUNDRY / "runtime").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name in RAISED and len(node.args) > RAISED[name]:
                reason = node.args[RAISED[name]]
                assert not isinstance(reason, ast.Constant | ast.JoinedStr), f"{path}: {name}"


def test_every_extra_with_a_reader_has_a_reason() -> None:
    readers = [*FILE_READERS, *(reader.with_ocr for reader in FILE_READERS), pictures.READER]
    extras = {reader.extra for reader in readers if reader is not None and reader.extra}
    found = {needs_extra(extra) for extra in extras}
    assert found == {reason for reason in Reason if reason.name.startswith("WITH_")}
    assert needs_extra("office") == "to be read with pip install 'rag-foundry[office]'"


@pytest.mark.parametrize("kind", ["", "WORD", "a story of its own"])
def test_unknown_formats_have_no_reason(kind: str) -> None:
    for find in (unsupported, needs_extra):
        with pytest.raises(ValueError, match="is not a valid Reason"):
            find(kind)


def test_completed_reasons_have_their_detail() -> None:
    assert answered(404) == "status 404"
    assert of_sitemap(Reason.TOO_SLOW) == "sitemap: too slow"
