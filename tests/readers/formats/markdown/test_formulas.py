"""Formulas and directives do not affect how the lines around them are read."""

import pytest

from foundry.readers.formats.markdown.reader import read


@pytest.mark.parametrize(
    "formula",
    [
        "$$\na\n=\nb\n$$",
        "Thus\n$$\na\n=\nb\n$$",
        "$$ a\n=\nb $$ (label)",
        "```{math}\na\n=\nb\n```",
    ],
)
def test_equals_signs_in_formulas_do_not_underline_headings(formula: str) -> None:
    reading = read(f"# One\n\n{formula}\n\n## Two\n\nIt costs $$ twice.\n\nThree\n=====\n")
    assert [heading.text for heading in reading.headings] == ["One", "Two", "Three"]


def test_unclosed_double_dollars_do_not_hide_headings() -> None:
    reading = read("$$\n\nOne\n===\n\n" + "$$ x\n" * 3_000 + "\nTwo\n===\n")
    assert [heading.text for heading in reading.headings] == ["One", "Two"]


@pytest.mark.parametrize("inner", ["```{note}\nIn.\n```", "```{r}\nIn\n```", "```\nIn\n```"])
def test_fences_in_directives_with_longer_fences_end_with_them(inner: str) -> None:
    text = f"# One\n\n````{{prf:example}} Rain\n:label: e\n\n{inner}\n\n````\n\n## Two\n\nEnd.\n"
    reading = read(text)
    assert [heading.text for heading in reading.headings] == ["One", "Two"]
    assert "````" not in reading.text
