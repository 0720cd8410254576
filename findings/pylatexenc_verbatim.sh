#!/usr/bin/env bash
# pylatexenc 2.11, `LatexNodes2Text().latex_to_text` with its default settings.
# Expected: what LaTeX prints as it is written is in the text, a `%` in it included, and a link has
#   its text.
# Seen: the text of `\verb` is missing, a listing of the package listings ends at its first `%`, and
#   `\href` raises IndexError, although it is in the library's own table of commands.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pylatexenc==2.11
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from pylatexenc.latex2text import LatexNodes2Text

print("pylatexenc", version("pylatexenc"))
convert = LatexNodes2Text().latex_to_text

verb = convert(r"Type \verb|100%| now.")
print("verb:", repr(verb))
assert "100" not in verb

listing = convert("\\begin{lstlisting}\nprint(\"%d plums\")\n\\end{lstlisting}\nAfter.")
print("lstlisting:", repr(listing))
assert "print(" in listing and "plums" not in listing

try:
    print("href:", repr(convert(r"See \href{https://example.org}{the manual}.")))
except IndexError as error:
    print("href: IndexError,", error)
else:
    raise SystemExit("\\href is read now")
PYTHON
