#!/usr/bin/env bash
# latex2mathml 3.81.1.
# Expected: `aligned`, in which amsmath sets most equations of several lines, is a table like `align`, or an error.
# Seen: `align` is a table, `aligned` is not known: each & is an identifier of its own, and stands in the
#   result as a bare "&", so that what is returned is no well-formed XML.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet latex2mathml==3.81.1
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version
from xml.etree import ElementTree

from latex2mathml.converter import convert

print("latex2mathml", version("latex2mathml"))
written = {
    name: convert(rf"\begin{{{name}}}a&=b\\c&=d\end{{{name}}}") for name in ("align", "aligned")
}
for name, mathml in written.items():
    print(name, mathml)
assert "<mtable" in written["align"] and "<mtable" not in written["aligned"]
assert "<mi>&</mi>" in written["aligned"]
ElementTree.fromstring(written["align"])
try:
    ElementTree.fromstring(written["aligned"])
except ElementTree.ParseError as error:
    print("aligned:", error)
else:
    raise SystemExit("aligned is well-formed now")
PYTHON
