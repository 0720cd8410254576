"""By what names a heading is found."""

import pytest

from foundry.indexing.terms import heading_names


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Aboleth", ["Aboleth"]),
        ("Aboleth (aberration)", ["Aboleth (aberration)", "Aboleth"]),
        ("strtol, wcstol (CRT)", ["strtol, wcstol (CRT)", "strtol, wcstol", "strtol", "wcstol"]),
        ("/Fd (Program database)", ["/Fd (Program database)", "/Fd"]),
        # Commas of a sentence stand between words, not names.
        ("Gas, dust and water", ["Gas, dust and water"]),
        ("(appendix)", ["(appendix)"]),
        ("open()", ["open()"]),
        ("a,,b", ["a,,b"]),
    ],
)
def test_names_of_a_heading(heading: str, names: list[str]) -> None:
    assert heading_names(heading) == names
