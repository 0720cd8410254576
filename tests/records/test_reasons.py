"""Every reason for which something is not in the index is a member, and its words stand once."""

import ast
from pathlib import Path

import pytest

from foundry.records.reasons import (
    Reason,
    answered,
    needs_extra,
    of_sitemap,
    parse_reason,
    unsupported,
)

FOUNDRY = Path(__file__).parents[2] / "foundry"
RAISED = {"Skipped": 2, "FetchError": 0, "refused": 0, "UnreadableError": 0, "UrlError": 0}
"""What takes a reason, and at which place."""


def test_no_module_writes_a_reason_out() -> None:
    for path in set(FOUNDRY.rglob("*.py")) - set((FOUNDRY / "runtime").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name in RAISED and len(node.args) > RAISED[name]:
                reason = node.args[RAISED[name]]
                assert not isinstance(reason, ast.Constant | ast.JoinedStr), f"{path}: {name}"


def test_a_reason_is_found_by_its_words() -> None:
    assert [parse_reason(str(reason)) for reason in Reason] == [*Reason]
    assert parse_reason("no text layer, needs OCR") is Reason.NEEDS_OCR
    for reason in (unsupported("Word 97"), needs_extra("office")):
        assert parse_reason(reason) == reason


@pytest.mark.parametrize("words", ["", "No text", "status 404", "a story of its own"])
def test_words_that_no_reader_has_are_no_reason(words: str) -> None:
    with pytest.raises(ValueError, match="is not a valid Reason"):
        parse_reason(words)


def test_reasons_that_name_something_have_its_name() -> None:
    assert unsupported("Word 97") == "Word 97 is not supported"
    assert needs_extra("office") == "to be read with pip install 'rag-foundry[office]'"
    assert answered(404) == "status 404"
    assert of_sitemap(Reason.TOO_SLOW) == "sitemap: too slow"
