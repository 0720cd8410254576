#!/usr/bin/env bash
# inscriptis 2.7.6, HTML as text with its default style.
# Expected: terms and definitions of a definition list, and the summary of details, on lines of their own
#   as in a browser; a cell below one that spans two rows in its own column.
# Seen: `<dl>`, `<dt>`, `<dd>`, `<summary>`, `<option>` and `<legend>` are inline, so "Interval" and
#   "monthly" are one word, also with the text after the list. A row below a cell with rowspan begins in
#   the first column: "June" stands under "Part".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet inscriptis==2.7.6
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from inscriptis import get_text

print("inscriptis", version("inscriptis"))
terms = "<dl><dt>Interval</dt><dd>monthly</dd><dt>Pressure</dt><dd>4 bar</dd></dl>"
listed = get_text(terms)
more = get_text("<details><summary>Winter</summary>Drain it.</details>")
table = get_text(
    "<table><tr><th>Part</th><th>Month</th></tr>"
    "<tr><td rowspan=2>D40</td><td>May</td></tr><tr><td>June</td></tr></table>"
)
print(repr(listed), repr(more), table, sep="\n")
assert listed == "IntervalmonthlyPressure4 bar"
assert more == "WinterDrain it."
assert [line.split() for line in table.split("\n") if line.strip()] == [
    ["Part", "Month"],
    ["D40", "May"],
    ["June"],
]
assert table.split("\n")[2].startswith("June")
PYTHON
