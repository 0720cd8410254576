"""Copied tests are not formatted again if black would leave them unchanged."""

import ast

import black
import pytest

from foundry.files import templates_folder
from foundry.rendering.copying import LINE_LENGTH, is_formatted

TESTS = sorted((templates_folder() / "server" / "tests").rglob("*.py"))


def imports_of(module: str) -> str:
    """Return the import statements of a module."""
    found = [
        node for node in ast.parse(module).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    lines = module.splitlines(keepends=True)
    return "".join("".join(lines[node.lineno - 1 : node.end_lineno]) for node in found)


@pytest.mark.parametrize("package", ["kb", "a_very_long_name_of_a_server"])
def test_what_counts_as_formatted_is_what_black_leaves_as_it_is(package: str) -> None:
    formatted = 0
    for path in TESTS:
        copied = path.read_text(encoding="utf-8").replace("foundry.runtime", package)
        if is_formatted(copied.encode(), package):
            imports = imports_of(copied)
            mode = black.Mode(line_length=LINE_LENGTH)
            assert black.format_str(imports, mode=mode) == imports, path
            formatted += 1
    assert formatted > len(TESTS) / 2


@pytest.mark.parametrize(
    "line",
    [
        f"from notes.{'a' * LINE_LENGTH} import b",
        'patch.setattr("notes.web.page", None)',
        "    from notes.web import page",
    ],
)
def test_what_may_be_too_long_or_short_is_formatted_again(line: str) -> None:
    assert is_formatted(b"from notes.web import page\n", "notes")
    assert not is_formatted(f"from notes.web import page\n\n{line}\n".encode(), "notes")
