#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of AsciiDoc.
# Expected: a title that is underlined (AsciiDoc's two-line form, which Asciidoctor reads, and in which
#   the manual of git is written) is a section, and a term with `::` below it is a list of terms.
# Seen: title, underline and text become one paragraph, and so do term and description. Exit code 0,
#   no warning. An `include::` of a file that is not there ends the conversion without any output,
#   where Asciidoctor goes on and says which file it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1

printf 'NAME\n----\npress - make juice\n\nOPTIONS\n-------\n-f::\n  Force.\n' >titles.adoc
"$pandoc" -f asciidoc -t native titles.adoc | tee titles.txt
if grep -q Header titles.txt; then exit 1; fi
if grep -q DefinitionList titles.txt; then exit 1; fi

printf '= T\n\nBefore.\n\ninclude::missing.adoc[]\n\nAfter.\n' >include.adoc
status=0
"$pandoc" -f asciidoc -t plain include.adoc >include.txt 2>/dev/null || status=$?
echo "include of a missing file: exit code $status, $(wc -c <include.txt) bytes of output"
[ "$status" -ne 0 ]
[ ! -s include.txt ]
