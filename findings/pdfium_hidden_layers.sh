#!/usr/bin/env bash
# PDFium (pypdfium2 5.15.2) and pypdf 7.1.1, text of a page; the page is made by pikepdf 10.18.0.
# Expected: what a layer has (optional content) that is off and not shown is not in the text of the page, as it
#   is not in the picture that PDFium draws. pdftotext 22.12 leaves it out.
# Seen: both give the words of the hidden layer between the others, and neither marks them: a drawing with a layer for
#   each language has all languages in its text, and a form what is for another case.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypdfium2==5.15.2 pypdf==7.1.1 pikepdf==10.18.0 numpy pillow
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io
from importlib.metadata import version

import pikepdf
import pypdf
import pypdfium2
from pikepdf import Array, Dictionary, Name, String

pdf = pikepdf.new()
page = pdf.add_blank_page(page_size=(300, 300))
font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("draft")))
pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))
page.Resources = Dictionary(Font=Dictionary(F1=font), Properties=Dictionary(L=layer))
page.contents_add(b"BT /F1 12 Tf 20 250 Td (The limit is 6 bar.) Tj ET")
page.contents_add(b"/OC /L BDC BT /F1 12 Tf 20 150 Td (The limit is 4 bar.) Tj ET EMC")
written = io.BytesIO()
pdf.save(written)

drawn = pypdfium2.PdfDocument(written.getvalue())[0]
texts = {
    "PDFium": drawn.get_textpage().get_text_range(),
    "pypdf": pypdf.PdfReader(written).pages[0].extract_text(),
}
pixels = drawn.render(grayscale=True).to_numpy().squeeze()
ink = [int((half < 128).sum()) for half in (pixels[:100], pixels[100:])]
print("pypdfium2", version("pypdfium2"), "pypdf", version("pypdf"), texts)
print("dark pixels around the shown line and around the hidden one:", ink)
assert all("6 bar" in text and "4 bar" in text for text in texts.values())
assert ink[0] > 0 and ink[1] == 0
PYTHON
