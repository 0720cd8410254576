#!/usr/bin/env bash
# PDFium (pypdfium2 5.15.2), text of a page; the page is drawn by reportlab 4.4.4.
# Expected: a hyphen at the end of a line is a hyphen and a line break, as pdftotext and pdfminer give it;
#   or the same sign for it from both functions that return text.
# Seen: hyphen and line break become one sign, so that lines end in the middle of the text: U+FFFE from
#   get_text_range, U+0002 from get_text_bounded. The hyphen of "well-known" is treated as that of
#   "re-ceived", and removing the sign gives "wellknown" and "JeanPaul". Behind a digit ("10-", "20") the
#   hyphen and the line break stay.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypdfium2==5.15.2 reportlab==4.4.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io

import pypdfium2
from reportlab.pdfgen import canvas

written = io.BytesIO()
sheet = canvas.Canvas(written)
lines = sheet.beginText(72, 700)
for line in ("It was re-", "ceived by the well-", "known Jean-", "Paul in 10-", "20 parts"):
    lines.textLine(line)
sheet.drawText(lines)
sheet.save()
page = pypdfium2.PdfDocument(written.getvalue())[0].get_textpage()
print("pypdfium2", pypdfium2.PYPDFIUM_INFO.version, "PDFium", pypdfium2.PDFIUM_INFO.build)
of_range, of_bounds = page.get_text_range(), page.get_text_bounded()
print(ascii(of_range))
print(ascii(of_bounds))
said = "It was re{0}ceived by the well{0}known Jean{0}Paul in 10-\r\n20 parts"
assert of_range == said.format("\ufffe")
assert of_bounds == said.format("\x02")
PYTHON
