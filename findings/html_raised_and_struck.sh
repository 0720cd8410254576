#!/usr/bin/env bash
# Resiliparse 2.0.1, html2text 2025.4.15, markdownify 1.2.3, html-to-markdown 3.21.2: HTML as text.
# Expected: a power stays one, and a corrected number is not joined with the one it replaced.
# Seen: all four write 10<sup>6</sup> as 106 by default. Resiliparse writes <del>10</del><ins>5</ins> as 105;
#   the others mark what is struck.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet Resiliparse==2.0.1 html2text==2025.4.15 markdownify==1.2.3 \
  html-to-markdown==3.21.2
"$folder/venv/bin/python" - <<'PYTHON'
import html2text
import html_to_markdown
import markdownify
from resiliparse.extract.html2text import extract_plain_text

HTML = "<p>At most 10<sup>6</sup> cycles.</p><p>Torque: <del>10</del><ins>5</ins> Nm.</p>"
converted = html_to_markdown.convert(HTML)
seen = {
    "resiliparse": extract_plain_text(HTML),
    "html2text": html2text.html2text(HTML),
    "markdownify": markdownify.markdownify(HTML),
    "html-to-markdown": getattr(converted, "content", converted),
}
for name, text in seen.items():
    print(f"{name}: {text.split(chr(10), 1)}")
assert all("At most 106 cycles" in text for text in seen.values())
assert "Torque: 105 Nm" in seen["resiliparse"]
assert all("~~10~~" in seen[name] for name in list(seen)[1:])
PYTHON
