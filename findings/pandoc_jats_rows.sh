#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of JATS.
# Expected: a table without <tbody> is read. The tag set takes its model from XHTML 1.1: rows may stand
#   directly in <table>.
# Seen: all rows are gone, without a warning; label, caption and foot stay, so that the text goes on as if
#   there had been a table without content. With <tbody> around the same rows they are read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
for name in bare body; do
  rows='<tr><td>pressure</td><td>4 bar</td></tr>'
  [ "$name" = bare ] || rows="<tbody>$rows</tbody>"
  printf '%s' '<article><body><sec><title>Limits</title><table-wrap><caption><p>What it stands</p></caption>' \
    "<table>$rows</table></table-wrap></sec></body></article>" >"$name.xml"
  echo "$name:"
  "$pandoc" --verbose -f jats -t plain "$name.xml" 2>"$name.err" | tee "$name.txt"
done
grep -q 'What it stands' bare.txt
if grep -q 'bar' bare.txt; then exit 1; fi
if grep -q 'WARNING' bare.err; then exit 1; fi
grep -q '4 bar' body.txt
