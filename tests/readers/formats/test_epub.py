"""E-books: chapters, their names in the navigation, notes, dates."""

from collections.abc import Mapping

import pytest

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.formats import epub
from foundry.readers.notes import taking_notes
from tests.document_files import pack

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="o/content.opf"/></rootfiles></container>'
)
NAVIGATION = (
    '<!DOCTYPE html><html xmlns:epub="http://www.idpf.org/2007/ops"><body>'
    '<nav epub:type="toc"><ol>{}</ol></nav></body></html>'
)
NCX = (
    '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{}</navMap></ncx>'
)


def read(chapters: Mapping[str, str], navigation: str = "", metadata: str = "") -> Reading:
    kind = (
        'media-type="application/x-dtbncx+xml"'
        if "navMap" in navigation
        else 'media-type="application/xhtml+xml" properties="nav"'
    )
    items = "".join(
        f'<item id="{name}" href="t/{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in chapters
    )
    items += f'<item id="nav" href="nav.xml" {kind}/>' if navigation else ""
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title>'
        f"{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    pages = {
        f"o/t/{name}.xhtml": '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"'
        f"><head><title>Book</title></head><body>{body}</body></html>"
        for name, body in chapters.items()
        if name != "missing"
    }
    members = {"META-INF/container.xml": CONTAINER, "o/content.opf": book, **pages}
    return epub.read(pack({**members, **({"o/nav.xml": navigation} if navigation else {})}))


def outline(reading: Reading) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in reading.headings]


def test_files_outside_the_navigation_continue_a_chapter() -> None:
    navigation = NAVIGATION.format(
        '<li><a href="t/a.xhtml">One</a></li><li><a href="t/c.xhtml">Two: Wasps</a></li>'
    )
    chapters = {"a": "<h1>One</h1><p>x</p>", "b": "<p>y</p>", "c": "<p>z</p>"}
    assert read(chapters, navigation).text == "# One\n\nx\n\ny\n\n# Two: Wasps\n\nz"


def test_missing_files_are_reported() -> None:
    with taking_notes() as notes:
        assert read({"a": "<p>x</p>", "missing": "", "c": "<p>z</p>"}).text == "x\n\nz"
    assert [*notes.damaged] == ["o/t/missing.xhtml"]


def test_chapters_have_their_level_in_the_navigation() -> None:
    chapters = {"a": "<h1>Part</h1>", "b": "<h1>Chapter</h1><h2>Section</h2>", "c": "<h3>End</h3>"}
    points = (
        '<navPoint><navLabel><text>Part</text></navLabel><content src="t/a.xhtml"/><navPoint>'
        '<navLabel><text>Chapter</text></navLabel><content src="t/b.xhtml"/></navPoint></navPoint>'
        '<navPoint><navLabel><text>End</text></navLabel><content src="t/c.xhtml"/></navPoint>'
    )
    expected = [(1, "Part"), (2, "Chapter"), (3, "Section"), (1, "End")]
    assert outline(read(chapters, NCX.format(points))) == expected
    assert outline(read(chapters)) == [(1, "Part"), (1, "Chapter"), (2, "Section"), (1, "End")]


def test_the_navigation_names_sections_within_a_file() -> None:
    navigation = NAVIGATION.format(
        '<li><a href="t/a.xhtml#one">One</a><ol><li><a href="t/a.xhtml#two">Two</a></li></ol></li>'
    )
    body = '<div id="one"><p>x</p></div><p id="two">y</p>'
    assert read({"a": body}, navigation).text == "# One\n\nx\n\n## Two\n\ny"
    titled = '<h1 id="one">One</h1><p>x</p><a id="two"/><h2>Two</h2><p>y</p>'
    assert read({"a": titled}, navigation).text == "# One\n\nx\n\n## Two\n\ny"


def test_notes_and_headers_of_chapters_are_read() -> None:
    body = (
        '<section><header><h2>Graft</h2><p>Patience.</p></header><p>Old<a epub:type="noteref"'
        ' href="#n">1</a>.<span epub:type="pagebreak">12</span></p>'
        '<aside epub:type="footnote" id="n"><p>By monks.</p></aside></section><iframe src="x"/>'
    )
    reading = read({"a": body, "b": "<p>Last.</p>"})
    assert reading.text == "# Graft\n\nPatience.\n\nOld [1].\n\nBy monks.\n\nLast."


@pytest.mark.parametrize(
    ("metadata", "modified"),
    [
        (
            '<dc:date>1890-01-01</dc:date><meta property="dcterms:modified">2024-05-03T10:00:00Z'
            "</meta>",
            "2024-05-03T10:00:00Z",
        ),
        ("<dc:date>1890-01-01</dc:date>", "1890-01-01"),
    ],
)
def test_date_of_change_is_preferred_to_publication(metadata: str, modified: str) -> None:
    assert read({"a": "<p>x</p>"}, "", metadata).modified == modified


def test_text_before_a_named_section_belongs_to_its_chapter() -> None:
    navigation = NAVIGATION.format(
        '<li><a href="t/a.xhtml">One</a></li><li><a href="t/b.xhtml">Two</a>'
        '<ol><li><a href="t/b.xhtml#s">Wasps</a></li></ol></li>'
    )
    chapters = {"a": "<h1>One</h1><p>x</p>", "b": "<p>y</p><div id='s'><p>z</p></div>"}
    assert read(chapters, navigation).text == "# One\n\nx\n\n# Two\n\ny\n\n## Wasps\n\nz"
    named = {**chapters, "b": "<p>y</p><h2>Two</h2><div id='s'><p>z</p></div>"}
    assert outline(read(named, navigation))[1:] == [(1, "Two"), (2, "Wasps")]


def test_separate_navigation_is_reported_as_duplicate() -> None:
    navigation = NAVIGATION.format('<li><a href="t/a.xhtml">One</a></li>')
    with taking_notes() as notes:
        read({"a": "<h1>One</h1><p>x</p>"}, navigation)
    assert (Omission.DUPLICATE, "One", "o/nav.xml") in {
        (each.reason, each.text.strip(), each.place) for each in notes.left_out
    }


def test_parts_without_a_page_are_headings_of_their_chapters() -> None:
    navigation = NAVIGATION.format(
        '<li><span>Part I</span><ol><li><a href="t/a.xhtml">One</a></li></ol>'
        '</li><li><span>Part II</span><ol><li><a href="t/b.xhtml">Two</a></li></ol></li>'
    )
    reading = read({"a": "<h1>One</h1><p>x</p>", "b": "<p>y</p>"}, navigation)
    assert outline(reading) == [(1, "Part I"), (2, "One"), (1, "Part II"), (2, "Two")]
