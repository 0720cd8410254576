#!/usr/bin/env bash
# PDFium (pypdfium2 5.15.2) and fpdf2 2.8.9: brackets in text from right to left.
# Expected: fpdf2 with text shaping gives each glyph the character that was typed, PDFium puts the
#   characters into the order of reading, and so "(haifa)" in Hebrew letters comes back as typed.
# Seen: the letters are in the right order, but the brackets have changed places: ")haifa(". fpdf2 maps
#   the mirrored glyph to the character that it looks like, and PDFium does not mirror it back.
#   Each alone is defensible; pdftotext 22.12 gives the brackets as typed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypdfium2==5.15.2 fpdf2==2.8.9 uharfbuzz==0.57.0
# For its font alone, which has Hebrew letters.
"$folder/venv/bin/pip" install --quiet --no-deps matplotlib==3.10.7
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import fpdf
import pypdfium2

fonts = Path(find_spec("matplotlib").origin).parent / "mpl-data" / "fonts" / "ttf"
typed = "\u05d1\u05e2\u05d9\u05e8 (\u05d7\u05d9\u05e4\u05d4) \u05e0\u05d1\u05e0\u05d4"
document = fpdf.FPDF()
document.add_page()
document.set_text_shaping(True)
document.add_font("DejaVu", "", str(fonts / "DejaVuSans.ttf"))
document.set_font("DejaVu", size=14)
document.multi_cell(0, 10, typed)
text = pypdfium2.PdfDocument(bytes(document.output()))[0].get_textpage().get_text_range()
print("fpdf2", version("fpdf2"), "pypdfium2", version("pypdfium2"))
print("typed:", ascii(typed))
print("read: ", ascii(text.strip()))
mirrored = typed.translate(str.maketrans("()", ")("))
assert text.strip() == mirrored
PYTHON
