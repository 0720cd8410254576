"""PDF: texts that only the drawings of annotations have."""

import pytest
from document_files import pdf, read_document, stream

from foundry.readers.sandbox.processes import Sandbox


def page_with(annotation: str) -> bytes:
    """A page with an annotation that is drawn by object 20."""
    page = (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
        "/Resources<</Font<</F 3 0 R>>>>/Annots[<</Type/Annot/Rect[300 400 500 430]"
        f"/AP<</N 20 0 R>>{annotation}>>]>>"
    )
    shown = b"BT /F 20 Tf 5 8 Td (Approved by Quincy) Tj ET"
    drawing = stream(shown).replace(
        b"<<",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 200 30]/Resources<</Font<</F 3 0 R>>>>",
        1,
    )
    text = stream(b"BT /F 12 Tf 72 700 Td (The lease of hall 4) Tj ET")
    return pdf([[]], objects={10: page.encode(), 11: text, 20: drawing})


@pytest.mark.parametrize(
    "kind", ["/Subtype/Stamp", "/Subtype/FreeText", "/Subtype/Widget/FT/Sig/T(signature)"]
)
def test_stamps_and_signatures_are_read(kind: str, sandbox: Sandbox) -> None:
    reading = read_document(page_with(f"{kind}/F 4"), "a.pdf", sandbox).reading
    assert reading.text == "The lease of hall 4\n\nApproved by Quincy"


@pytest.mark.parametrize("kind", ["/Subtype/Stamp/F 2", "/Subtype/Highlight/F 4"])
def test_hidden_stamps_and_marks_are_not(kind: str, sandbox: Sandbox) -> None:
    reading = read_document(page_with(kind), "a.pdf", sandbox).reading
    assert reading.text == "The lease of hall 4"


def test_links_beside_a_stamp_are_kept(sandbox: Sandbox) -> None:
    link = (
        ">><</Type/Annot/Subtype/Link/Rect[72 695 200 715]/A<</S/URI/URI(https://example.org/a)>>"
    )
    reading = read_document(page_with(f"/Subtype/Stamp/F 4{link}"), "a.pdf", sandbox).reading
    assert [each.target for each in reading.links] == ["https://example.org/a"]
