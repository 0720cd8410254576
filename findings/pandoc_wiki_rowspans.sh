#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), readers of DokuWiki and Textile, written as HTML.
# Expected: cells that span rows in the syntax of each (`:::` below a cell in DokuWiki, `|/2.` in Textile)
#   span rows, as pandoc's tables can since 2.10; or the cell below is empty.
# Seen: DokuWiki's `:::` is the text of the cell below. In Textile the cell spans nothing and the next row
#   moves one column to the left, so "June" is a part and its month is empty.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c "import pypandoc; print(pypandoc.get_pandoc_path())")
"$pandoc" --version | head -1
printf '^ Part ^ Month ^\n| D40 | May |\n| ::: | June |\n' > page.txt
printf '|_. Part|_. Month|\n|/2. D40|May|\n|June|\n' > page.textile
"$pandoc" -f dokuwiki -t html page.txt | tee wiki.html
"$pandoc" -f textile -t html page.textile | tee textile.html
grep -q '>:::</td>' wiki.html
if grep -q 'rowspan' wiki.html textile.html; then exit 1; fi
tr -d '\n' < textile.html | grep -qE '<td[^>]*>June</td><td[^>]*></td>'
