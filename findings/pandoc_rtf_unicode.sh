#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), its reader of RTF.
# Expected: after \uN a reader skips as many characters as \uc says (1), which stand there for programs
#   without Unicode: "\u8364?100" is the sign of the euro and 100.
# Seen: "€00". Where the control word is not ended by a space, the fallback and the character after it
#   are skipped, so that a digit is gone, and another price is in the text. With a space before the
#   fallback, or a fallback in hexadecimal (\'80), nothing is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c 'import pypandoc; print(pypandoc.get_pandoc_path())')
"$pandoc" --version | head -1
printf '%s' '{\rtf1\ansi\ansicpg1252\uc1 A \u8364?100, B \u8364 ?100, C \u8364\'"'"'80100\par}' >prices.rtf
cat prices.rtf
echo
"$pandoc" -f rtf -t plain prices.rtf | tee prices.txt
grep -qx 'A €00, B €100, C €100' prices.txt
