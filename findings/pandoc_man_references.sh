#!/usr/bin/env bash
# pandoc 3.9 (pypandoc_binary 1.17), reader of manual pages.
# Expected: `.MR ls 1 .`, the macro with which groff's own pages refer to others since groff 1.23, reads
#   "ls(1)."; `.MT address` with `.ME` shows the address, as `.UR` with `.UE` shows a text.
# Seen: the page that `.MR` refers to is nowhere, without a warning: "See also" is followed by nothing. An
#   address of `.MT` without a text between is a link without text, so as plain text it is lost too. The
#   text of `.UR` is kept as a link.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pypandoc_binary==1.17
cd "$folder"
pandoc=$("$folder/venv/bin/python" -c "import pypandoc; print(pypandoc.get_pandoc_path())")
cat > pump.1 <<'PAGE'
.TH PUMP 1 2026-01-01
.SH SEE ALSO
See also
.MR ls 1 .
.P
Write to
.MT pump@example.org
.ME .
.P
Look at
.UR https://example.org
the site
.UE .
PAGE
"$pandoc" --version | head -1
"$pandoc" -f man -t html pump.1 2> warnings | tee page.html
test ! -s warnings
grep -q '<p>See also</p>' page.html
if grep -qw 'ls' page.html; then exit 1; fi
grep -q '<a href="mailto:pump@example.org"></a>' page.html
"$pandoc" -f man -t plain pump.1 > page.txt
if grep -q 'pump@' page.txt; then exit 1; fi
grep -q '<a href="https://example.org">the site</a>' page.html
