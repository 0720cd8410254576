#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of .pptx; the slide is by python-pptx 1.0.2.
# Expected: what a slide shows is read, or a warning tells what is not.
# Seen: text boxes are read, but those in a group (as "Group" in PowerPoint makes it) are not, nor are
#   the speaker's notes: exit code 0, no warning. A chart at least leaves a line "[Graphic: ...]".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17 python-pptx==1.0.2
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
"$folder/venv/bin/python" - <<'PYTHON'
from pptx import Presentation
from pptx.util import Cm

deck = Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Pumps"
slide.shapes.add_textbox(Cm(2), Cm(6), Cm(8), Cm(2)).text_frame.text = "a box alone"
group = slide.shapes.add_group_shape()
group.shapes.add_textbox(Cm(2), Cm(9), Cm(8), Cm(2)).text_frame.text = "a box in a group"
slide.notes_slide.notes_text_frame.text = "what the speaker says"
deck.save("deck.pptx")
PYTHON
"$pandoc" --verbose -f pptx -t plain deck.pptx 2>deck.err | tee deck.txt
echo "warnings: $(cat deck.err)"
grep -q 'a box alone' deck.txt
if grep -qE 'in a group|speaker' deck.txt; then exit 1; fi
if grep -q 'WARNING' deck.err; then exit 1; fi
