"""Copied tests are not formatted again if black would leave them unchanged."""

import ast
import re
from collections.abc import Iterator
from textwrap import dedent

import black
import pytest

from foundry.files import templates_folder
from foundry.rendering.copying import LINE_LENGTH, is_formatted

TESTS = sorted((templates_folder() / "server" / "tests").rglob("*.py"))


def naming(module: str, package: str) -> Iterator[str]:
    """Yield the statements that name a package, without their indentation."""
    lines = module.splitlines(keepends=True)
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            text = "".join(lines[node.lineno - 1 : node.end_lineno])
            if re.search(rf"\b{package}\b", text):
                yield dedent(text)


@pytest.mark.parametrize("package", ["kb", "a_very_long_name_of_a_server"])
def test_code_counts_as_formatted_if_black_does_not_change_it(package: str) -> None:
    texts = [path.read_text(encoding="utf-8").replace("foundry.runtime", package) for path in TESTS]
    formatted = [text for text in texts if is_formatted(text.encode(), package)]
    assert len(formatted) > len(TESTS) * 0.8
    mode = black.Mode(line_length=LINE_LENGTH)
    for statement in {each for text in formatted for each in naming(text, package)}:
        assert black.format_str(statement, mode=mode) == statement


@pytest.mark.parametrize(
    "lines",
    [
        f"from notes.{'a' * LINE_LENGTH} import b",
        'patch.setattr(\n    "notes.web.page", None\n)',
        'if patch("notes.web.page"):\n    pass',
    ],
)
def test_lines_that_may_be_too_long_or_short_are_formatted_again(lines: str) -> None:
    assert is_formatted(b'from notes.web import page\n\nload("notes.web")\n', "notes")
    assert not is_formatted(f"from notes.web import page\n\n{lines}\n".encode(), "notes")
