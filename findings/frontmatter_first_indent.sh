#!/usr/bin/env bash
# python-frontmatter 1.3.0, a page whose text begins with indented code.
# Expected: `content` is the page below its front matter, byte for byte, as `dumps` writes it back.
# Seen: white space at both ends is stripped, so the first line of the code is no longer indented: the code is a
#   paragraph for any reader of Markdown, and Python's first line no longer fits the next ones.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet python-frontmatter==1.3.0 markdown-it-py==4.0.0
"$folder/venv/bin/python" - <<'END'
import frontmatter
from markdown_it import MarkdownIt

body = "    pip install a\n    pip install b\n\nText.\n"
page = frontmatter.loads(f"---\ntitle: A\n---\n{body}")
print(repr(page.content))
assert page.content == "pip install a\n    pip install b\n\nText."
assert "<pre>" in MarkdownIt().render(body)
assert "<pre>" not in MarkdownIt().render(page.content)
END
