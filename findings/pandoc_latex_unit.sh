#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of LaTeX.
# Expected: a document that calls `\unit` without loading siunitx, because another file of the same
#   book defines that name, is read like one that calls any other unknown command: without it.
# Seen: `\unit` always belongs to siunitx. What follows on the next line is parsed as a unit, and if
#   that is an environment the conversion ends: exit code 64, "not a unit command", no output.
#   The same text with another name converts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1

for name in unit yunit; do
  printf 'The neutral element is \\%s\n\n\\begin{itemize}\\item one\\end{itemize}\n' "$name" >"$name.tex"
  status=0
  "$pandoc" -f latex -t plain "$name.tex" >"$name.txt" 2>"$name.err" || status=$?
  echo "\\$name: exit code $status, $(wc -c <"$name.txt") bytes of output; $(head -2 "$name.err" | tr '\n' ' ')"
  echo "$status" >"$name.status"
done
[ "$(cat unit.status)" -eq 64 ]
grep -q 'not a unit command' unit.err
[ ! -s unit.txt ]
[ "$(cat yunit.status)" -eq 0 ]
grep -q 'one' yunit.txt
