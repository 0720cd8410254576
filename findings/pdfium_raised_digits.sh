#!/usr/bin/env bash
# PDFium (pypdfium2 5.15.2), text of a page; the page is drawn by reportlab 4.4.4.
# Expected: "10", a raised "6" in smaller type and " units" on one line are one line, in which a reader
#   can tell that 6 is raised; pdftotext and people see one line.
# Seen: the raised digit follows the number without a mark ("106", another number), and the line ends
#   behind it: what stands on the same base line to its right is a line of its own. The place and the
#   size of each character still tell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypdfium2==5.15.2 reportlab==4.4.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io

import pypdfium2
from pypdfium2 import raw
from reportlab.pdfgen import canvas

written = io.BytesIO()
sheet = canvas.Canvas(written)
line = sheet.beginText(60, 740)
line.setFont("Helvetica", 11)
line.textOut("It made 10")
line.setFont("Helvetica", 7)
line.setRise(5)
line.textOut("6")
line.setFont("Helvetica", 11)
line.setRise(0)
line.textOut(" units.")
sheet.drawText(line)
sheet.save()
page = pypdfium2.PdfDocument(written.getvalue())[0].get_textpage()
text = page.get_text_range()
print("pypdfium2", pypdfium2.PYPDFIUM_INFO.version, "PDFium", pypdfium2.PDFIUM_INFO.build)
print(repr(text))
sizes = {sign: raw.FPDFText_GetFontSize(page, place) for place, sign in enumerate(text)}
print("sizes of 0 and 6:", sizes["0"], sizes["6"])
assert "106\r\n" in text and text.endswith(" units.")
assert sizes["0"] > sizes["6"]
PYTHON
