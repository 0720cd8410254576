#!/usr/bin/env bash
# typst 0.15.2, a formula in a PDF, read by PDFium (pypdfium2 5.15.2).
# Expected: the letters of a formula as they are typed, `E_k` and `x`, which is how a PDF by LaTeX reads.
# Seen: they are letters of the block Mathematical Alphanumeric Symbols, U+1D438 instead of E, so who looks for
#   "x" in a viewer or in an index without NFKC finds no formula. Upright text in them ("max") stays as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet typst==0.15.2 pypdfium2==5.15.2
cd "$folder"
venv/bin/python - <<'END'
import unicodedata

import pypdfium2
import typst

with open("a.typ", "w", encoding="utf-8") as file:
    file.write("The energy $E = max(x, y)$ grows.\n")
typst.compile("a.typ", output="a.pdf")
text = pypdfium2.PdfDocument("a.pdf")[0].get_textpage().get_text_bounded()
print(repr(text))
assert "\U0001d438 = max(\U0001d465" in text
assert "E =" not in text
assert "E = max(x" in unicodedata.normalize("NFKC", text)
END
