#!/usr/bin/env bash
# markdownify 1.2.3 (with which markitdown 0.1.9 writes Markdown), html2text 2025.4.15; read by markdown-it-py 4.3.0.
# Expected: a page that explains "&lt;table&gt;" in a sentence says "<table>" as Markdown too, so the sign is
#   written as "\<" or "&lt;".
# Seen: both write "the <table> element", which every reader of Markdown takes for a tag: the word is gone
#   from what is shown or indexed, and so is what stands in the angle brackets of "List<String>".
#   markdownify also leaves "-" and "1986." at the start of a paragraph as they are: "- 5 °C" loses its minus.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet markitdown==0.1.9 markdownify==1.2.3 html2text==2025.4.15 \
  markdown-it-py==4.3.0 beautifulsoup4==4.15.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import io
from importlib.metadata import version

import html2text
import markdownify
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markitdown import MarkItDown

page = "<p>Use the &lt;table&gt; element, or List&lt;String&gt;.</p><p>- 5 °C at night</p>"
written = {
    "markdownify": markdownify.markdownify(page),
    "markitdown": MarkItDown().convert_stream(io.BytesIO(page.encode()), file_extension=".html").markdown,
    "html2text": html2text.html2text(page),
}
shown = {}
for name, text in written.items():
    shown[name] = BeautifulSoup(MarkdownIt().render(text), "html.parser").get_text(" ", strip=True)
    print(name, version(name), repr(text), "->", repr(shown[name]))
for text in shown.values():
    assert "table" not in text and "String" not in text
assert "- 5" not in shown["markdownify"] and "- 5" not in shown["markitdown"]
assert "- 5" in shown["html2text"]
PYTHON
