#!/usr/bin/env bash
# markdownify 1.2.3, HTML with a bar in a table cell, and with a fence inside `<pre>`, as pages about Markdown have.
# Expected: the bar is escaped, since it would end the cell, and the code has a longer fence; underscores and
#   asterisks are escaped by default, too.
# Seen: both are written as they are. The row has a cell more than its header, and GitHub's tables drop the last
#   one ("either" is lost); the code block is empty, and its text is prose.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet markdownify==1.2.3 markdown-it-py==4.0.0
"$folder/venv/bin/python" - <<'END'
from markdown_it import MarkdownIt
from markdownify import markdownify

table = "<table><tr><th>sign</th><th>means</th></tr><tr><td>a|b</td><td>either</td></tr></table>"
written = markdownify(table)
print(written)
assert "| a|b | either |" in written
assert "either" not in MarkdownIt("commonmark").enable("table").render(written.strip())
written = markdownify("<pre>```\ncode\n```</pre>")
print(written)
assert "<p>code" in MarkdownIt().render(written)
assert markdownify("<p>a_b*c</p>").strip() == r"a\_b\*c"
END
