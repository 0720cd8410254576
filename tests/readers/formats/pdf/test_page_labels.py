"""PDF: page labels as printed, in addition to page numbers, wherever a page is named.

`labelled.pdf` was written by reportlab, its labels by pypdf: i, ii, 1, 2 and A-1.
"""

import json
from pathlib import Path

import pytest
from conftest import CONFIG, MakeProject
from document_files import Text, pdf

from foundry.documents import Document, RawDocument
from foundry.readers import read

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_readers", "forked_servers")

LABELLED = (Path(__file__).parents[3] / "fixtures/labelled.pdf").read_bytes()


def labels(content: bytes) -> tuple[str, ...]:
    document = read(RawDocument("s", "a.pdf", "a.pdf", content), is_worker=True)
    assert isinstance(document, Document)
    return document.reading.page_labels


def test_results_and_inspection_show_page_numbers_and_labels(make_project: MakeProject) -> None:
    config = f'{CONFIG}\n[chunking]\nstrategy = "page"\n'
    project = make_project({"winch.pdf": LABELLED}, config=config)
    project.succeed("build")
    for query, page, label in (("rope", 2, "ii"), ("oil", 3, "1"), ("annex", 5, "A-1")):
        hit = project.ask(query)["results"][0]
        assert (hit["position"]["page"], hit["position"]["page_label"]) == (page, label)
        assert (
            f"winch.pdf, page {page} (printed {label})\n" in project.succeed("query", query).stdout
        )

    shown = project.succeed("inspect", "--document", "winch.pdf").stdout
    assert "1 (printed i)" in shown and "5 (printed A-1)" in shown
    described = json.loads(project.succeed("inspect", "--document", "winch.pdf", "--json").stdout)
    first = described["chunks"][0]["id"]
    assert "page 1 (printed i), characters 0" in project.succeed("inspect", "--chunk", first).stdout


def test_labels_equal_to_the_page_number_are_left_out() -> None:
    pages = [[Text(10, 700, "Some words")], [Text(10, 700, "Others")], [Text(10, 700, "More")]]
    assert labels(pdf(pages)) == ()
    kids = "/Pages 2 0 R/PageLabels<</Nums[0<</S/D>>{}]>>"
    for ranges, expected in (
        ("", ()),
        ("2<</S/D/P(B )/St 4>>", ("", "", "B 4")),
        # This label is only a prefix, has a line break, and is longer than any printed label.
        (f"1<</P(x\\ny{'z' * 4_000})>>", ("", "x y" + "z" * 27, "x y" + "z" * 27)),
    ):
        catalogue = f"<</Type/Catalog{kids.format(ranges)}>>".encode()
        assert labels(pdf(pages, objects={1: catalogue})) == expected
