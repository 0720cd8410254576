#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its readers of RTF and .docx; the .docx is made by python-docx 1.2.0.
# Expected: a paragraph between two items of one list (\ls1 in RTF, one numId in Word) does not end the list: the item
#   after it has the next number, as in Word and LibreOffice. pandoc's own reader of .docx counts on.
# Seen: the reader of RTF starts again at the first number: step 5 of a procedure becomes step 3, and a reference to
#   "step 5" leads nowhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17 python-docx==1.2.0
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
cat >steps.rtf <<'RTF'
{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}
{\*\listtable{\list\listtemplateid1{\listlevel\levelnfc0\leveljc0\levelstartat3\levelfollow0{\leveltext\'02\'00.;}{\levelnumbers\'01;}\fi-360\li720}{\listname ;}\listid1}}
{\*\listoverridetable{\listoverride\listid1\listoverridecount0\ls1}}
\pard\ls1\ilvl0\fi-360\li720 Open the valve.\par
\pard\ls1\ilvl0\fi-360\li720 Wait.\par
\pard Then look.\par
\pard\ls1\ilvl0\fi-360\li720 Close it.\par}
RTF
"$folder/venv/bin/python" - <<'PYTHON'
from docx import Document

document = Document()
for text, style in (("Open", "List Number"), ("Look.", None), ("Close", "List Number")):
    document.add_paragraph(text, style=style)
document.save("steps.docx")
PYTHON
echo "RTF:"
"$pandoc" -f rtf -t plain steps.rtf | tee rtf.txt
echo ".docx:"
"$pandoc" -t plain steps.docx | tee docx.txt
grep -q '^3\. *Open' rtf.txt
grep -q '^3\. *Close' rtf.txt
grep -q '^2\. *Close' docx.txt
