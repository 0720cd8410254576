"""By what names a heading is found."""

import pytest
from conftest import CONFIG, MakeProject

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


CODE = {
    f"{module}.py": f"class Zone{n}:\n    def size(self):\n        return {n}\n"
    for n, module in enumerate(("yard", "zoo"))
}


@pytest.mark.parametrize(
    "options", ["", "[search.fields]\ntitle = 0\nheadings = 0\n"], ids=["counted", "not-counted"]
)
def test_a_name_sorts_after_every_word_of_the_texts(
    options: str, make_project: MakeProject
) -> None:
    project = make_project(CODE, config=CONFIG + options)
    project.succeed("build")
    for name in ("Zone1.size", "zoo.Zone1.size", "zoo.Zone1"):
        assert project.ask(name)["results"][0]["path"] == "zoo.py"
