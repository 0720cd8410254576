#!/usr/bin/env bash
# docx2txt 0.9, a text box as Word has written it since 2010: a drawing (mc:Choice) and, for older programs, the
#   same box as VML (mc:Fallback). The document is made by python-docx 1.2.0.
# Expected: the text of the box once, since of the two branches one is to be used (ECMA-376, part 3).
# Seen: it is there twice, so phrases of boxes count double in a keyword index.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet docx2txt==0.9 python-docx==1.2.0
cd "$folder"
venv/bin/python - <<'END'
import docx
import docx2txt
from docx.oxml import parse_xml

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
TEXT = "<w:txbxContent><w:p><w:r><w:t>Boxed words.</w:t></w:r></w:p></w:txbxContent>"
BOX = (
    f"<w:r {SPACES}><mc:AlternateContent>"
    f'<mc:Choice Requires="wps"><w:drawing><wps:txbx>{TEXT}</wps:txbx></w:drawing></mc:Choice>'
    f"<mc:Fallback><w:pict><v:textbox>{TEXT}</v:textbox></w:pict></mc:Fallback>"
    "</mc:AlternateContent></w:r>"
)
document = docx.Document()
document.add_paragraph()._p.append(parse_xml(BOX))
document.save("box.docx")
text = docx2txt.process("box.docx")
print(repr(text))
assert text.count("Boxed words.") == 2
END
