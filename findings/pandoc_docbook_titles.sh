#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of DocBook.
# Expected: the title of an element is text that readers see: a heading, a caption, or the book's name in a
#   bibliography.
# Seen: titles of <biblioentry>, <equation> and <task> are gone without a warning, so a bibliography lists
#   authors and years of books without names. Titles of tables, <example> and <sidebar> stay.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
cat >manual.xml <<'XML'
<article><title>Manual</title><sect1><title>Use</title>
<task><title>Replacing the seal</title><procedure><step><para>Close it.</para></step></procedure></task>
<equation><title>Flow by pressure</title><mathphrase>q = 2 p</mathphrase></equation>
<example><title>An example</title><para>Shown.</para></example></sect1>
<bibliography><title>Reading</title><biblioentry><author><surname>Kim</surname></author>
<title>Pumps in practice</title><pubdate>1999</pubdate></biblioentry></bibliography></article>
XML
"$pandoc" --verbose -f docbook -t plain manual.xml 2>warnings | tee manual.txt
grep -q 'Close it' manual.txt
grep -q 'Kim' manual.txt
grep -q '1999' manual.txt
grep -q 'An example' manual.txt
grep -q 'Reading' manual.txt
if grep -q 'seal\|Flow by\|Pumps in practice' manual.txt; then exit 1; fi
if grep -q 'WARNING' warnings; then exit 1; fi
