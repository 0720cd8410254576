#!/usr/bin/env bash
# langchain-text-splitters 1.1.3, MarkdownHeaderTextSplitter.
# Expected: text is split at headings and otherwise kept, above all in code, where indentation is syntax.
# Seen: every line is stripped, within fences too, so Python code is no longer valid; nested lists become
#   flat, and indented code becomes prose.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet langchain-text-splitters==1.1.3
"$folder/venv/bin/python" - <<'PYTHON'
from langchain_text_splitters import MarkdownHeaderTextSplitter

FENCED = "```python\nfor pump in pumps:\n    if pump.on:\n        stop(pump)\n```"
MARKDOWN = f"# Stop\n\n{FENCED}\n\n- valves\n    - inlet\n\n# Run\n\nType:\n\n    make run\n"
splitter = MarkdownHeaderTextSplitter([("#", "title")])
stop, run = (part.page_content for part in splitter.split_text(MARKDOWN))
print(stop, run, sep="\n\n")
assert "for pump in pumps:\nif pump.on:\nstop(pump)\n" in stop
assert "- valves\n- inlet" in stop
assert run.split() == ["Type:", "make", "run"] and "    make" not in run
PYTHON
