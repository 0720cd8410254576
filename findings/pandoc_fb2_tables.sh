#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of FictionBook 2.
# Expected: a table of a section (its schema has <table> beside <p>, <poem> and <cite>) is read.
# Seen: it is not in the output, and no warning tells; what stands before and after it is joined.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
cat >book.fb2 <<'XML'
<?xml version="1.0" encoding="utf-8"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">
  <description><title-info><book-title>Pumps</book-title></title-info></description>
  <body><section><title><p>Limits</p></title><p>Before the table.</p>
    <table><tr><th>pressure</th><td>4 bar</td></tr></table>
    <p>After the table.</p></section></body>
</FictionBook>
XML
"$pandoc" --verbose -f fb2 -t plain book.fb2 2>book.err | tee book.txt
grep -q 'Before the table' book.txt
grep -q 'After the table' book.txt
if grep -q 'bar' book.txt; then exit 1; fi
if grep -q 'WARNING' book.err; then exit 1; fi
