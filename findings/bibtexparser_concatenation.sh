#!/usr/bin/env bash
# bibtexparser 2.1.0, `parse_string` with its default layers.
# Expected: as BibTeX does: `"Part " # one` joins a string with a macro; `month = jan` is January, since the
#   standard styles define the months; an entry whose key was seen before is reported.
# Seen: the value is the source, with quotes and `#` in it: '"Part " # one', although a macro that stands
#   alone is replaced. A month is the text "jan". The second entry with a key and the one that has a field
#   twice are not in `entries`: no error or warning, only `failed_blocks` has them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bibtexparser==2.1.0
cd "$folder"
"$folder/venv/bin/python" -W error - <<'PYTHON'
from importlib.metadata import version

import bibtexparser

print("bibtexparser", version("bibtexparser"))
library = bibtexparser.parse_string(
    """@string{one = "One"}
@book{alone, title = one, month = jan}
@book{joined, title = "Part " # one}
@book{joined, title = "The same key"}
@book{twice, title = "First", title = "Second"}
"""
)
found = {entry.key: {field.key: field.value for field in entry.fields} for entry in library.entries}
failed = [type(block).__name__ for block in library.failed_blocks]
print(found, failed, sep="\n")
assert found["alone"] == {"title": "One", "month": "jan"}
assert found["joined"] == {"title": '"Part " # one'}
assert "twice" not in found
assert failed == ["DuplicateBlockKeyBlock", "DuplicateFieldKeyBlock"]
PYTHON
