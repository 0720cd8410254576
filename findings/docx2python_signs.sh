#!/usr/bin/env bash
# docx2python 3.7.1, text of a .docx that python-docx 1.2.0 wrote.
# Expected: a no-break hyphen (`w:noBreakHyphen`, Ctrl+Shift+_ in Word) is a hyphen, as in python-docx's own
#   text; a sign of the font Symbol (`w:sym`, as Word's dialog of symbols writes it) is the sign, here an
#   alpha, or is left out.
# Seen: the hyphen vanishes and its words are one: "XK12", another part. The alpha is an "a" in a span of
#   HTML, in the middle of plain text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet docx2python==3.7.1 python-docx==1.2.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx2python import docx2python

document = docx.Document()
run = document.add_paragraph().add_run("Part XK")
run._r.append(OxmlElement("w:noBreakHyphen"))
run._r.add_t("12")
sign = OxmlElement("w:sym")
sign.set(qn("w:font"), "Symbol")
sign.set(qn("w:char"), "F061")
document.add_paragraph().add_run("Angle ")._r.append(sign)
document.save("a.docx")
first = docx.Document("a.docx").paragraphs[0].text
with docx2python("a.docx") as read:
    lines = [line for line in read.text.split("\n") if line]
print("docx2python", version("docx2python"), lines, "python-docx:", first)
assert first == "Part XK-12"
assert lines == ["Part XK12", "Angle <span style=font-family:Symbol>&#x0061;</span>"]
PYTHON
