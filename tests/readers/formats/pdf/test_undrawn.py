"""PDF: texts on layers, and in white."""

import pytest
from document_files import pdf, read_document, stream

from foundry.documents.left_out import Omission
from foundry.readers.sandbox.processes import Sandbox

SHOWN = "BT /F 12 Tf 72 700 Td (The limit is 6 bar) Tj ET "


def page(drawn: str) -> bytes:
    """A page with the layers /On and /Off, and a form /X on the one that is off."""
    layers = "/OCProperties<</OCGs[20 0 R 21 0 R]/D<</OFF[21 0 R]>>>>"
    form = stream(b"BT /F 12 Tf 72 650 Td (in a form) Tj ET").replace(
        b"<<",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]/OC 21 0 R/Resources<</Font<</F 3 0 R>>>>",
        1,
    )
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R{layers}>>".encode(),
        10: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R/Resources<<"
        b"/Font<</F 3 0 R>>/Properties<</On 20 0 R/Off 21 0 R>>/XObject<</X 22 0 R>>>>>>",
        11: stream((SHOWN + drawn).encode()),
        20: b"<</Type/OCG/Name(English)>>",
        21: b"<</Type/OCG/Name(German)>>",
        22: form,
    }
    return pdf([[]], objects=objects)


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        # At the same place as the text that is shown, as translations are.
        ("/OC /Off BDC BT /F 12 Tf 72 700 Td (Der Druck) Tj ET EMC", "Der Druck"),
        ("/X Do", "in a form"),
        ("1 g BT /F 12 Tf 72 600 Td (obey this) Tj ET", "obey this"),
    ],
)
def test_texts_that_are_not_drawn_are_left_out(drawn: str, text: str, sandbox: Sandbox) -> None:
    reading = read_document(page(drawn), "a.pdf", sandbox).reading
    assert reading.text == "The limit is 6 bar"
    assert [(each.reason, each.text) for each in reading.left_out] == [(Omission.HIDDEN, text)]
    assert reading.words is not None
    assert reading.words.unaccounted == 0


@pytest.mark.parametrize(
    "drawn",
    [
        "/OC /On BDC BT /F 12 Tf 72 600 Td (on a layer) Tj ET EMC",
        "0 g 60 590 200 30 re f 1 g BT /F 12 Tf 72 600 Td (on a layer) Tj ET",
    ],
)
def test_layers_that_are_on_and_white_on_black_are_read(drawn: str, sandbox: Sandbox) -> None:
    reading = read_document(page(drawn), "a.pdf", sandbox).reading
    assert reading.text == "The limit is 6 bar\n\non a layer"
    assert not reading.left_out
