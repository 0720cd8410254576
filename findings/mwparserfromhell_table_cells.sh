#!/usr/bin/env bash
# mwparserfromhell 0.7.2, `strip_code` with its default settings.
# Expected: the text without markup keeps words and numbers apart that a page shows apart.
# Seen: cells of a row that are written on one line are joined, and so is what stands around <br>: a row "1" and
#   "5" reads "15", another number. The options of a picture ("thumb|") stay as if they were text, and
#   what a template shows, such as "{{convert|5|km}}", is gone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mwparserfromhell==0.7.2
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import mwparserfromhell

pages = {
    "{|\n| 1||5\n|}": "15",
    "{|\n!bar!!litres\n|}": "barlitres",
    "4 bar<br>6 litres": "4 bar6 litres",
    "[[File:pump.jpg|thumb|A pump]]": "thumb|A pump",
    "A road of {{convert|5|km}} in all": "A road of  in all",
}
print("mwparserfromhell", version("mwparserfromhell"))
for page, expected in pages.items():
    text = mwparserfromhell.parse(page).strip_code().strip()
    print(repr(page), "->", repr(text))
    assert text == expected
PYTHON
