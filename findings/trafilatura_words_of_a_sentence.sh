#!/usr/bin/env bash
# trafilatura 2.3.1, `extract` with its default settings.
# Expected: menus and the like are left out, but a sentence of the article is given whole.
# Seen: words of it are gone where HTML marks them: a date in <time>, a result in <output>, a formula in
#   <math>, a name in <button>. "Apply before <time>5 March</time> at noon" is given as "Apply before at noon".
#   What is struck out in <del> stays, without a sign: "It costs 100 80 euro".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet trafilatura==2.3.1 lxml_html_clean==0.4.6
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import trafilatura

prose = "<p>" + "The pump moves water from the basin to the tank and stops when it is full. " * 4 + "</p>"
sentences = {
    "Apply before <time datetime='2024-03-05'>5 March</time> at noon.": "Apply before at noon.",
    "It prints <output>42 errors</output> and ends.": "It prints and ends.",
    "Press <button>Reset</button> to begin.": "Press to begin.",
    "The area is <math><mi>a</mi><mo>=</mo><mn>5</mn></math> in all.": "The area is in all.",
    "It costs <del>100</del> 80 euro.": "It costs 100 80 euro.",
}
page = f"<html><body><main><h1>Pump</h1>{prose}"
page += "".join(f"<p>{sentence}</p>" for sentence in sentences) + f"{prose}</main></body></html>"
lines = trafilatura.extract(page).splitlines()
print("trafilatura", version("trafilatura"))
for written, expected in sentences.items():
    print(written, "->", expected if expected in lines else "as written, or otherwise")
assert all(expected in lines for expected in sentences.values())
PYTHON
