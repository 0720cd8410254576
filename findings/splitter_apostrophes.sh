#!/usr/bin/env bash
# semantic-text-splitter 0.33.1, MarkdownSplitter and TextSplitter.
# Expected: a paragraph that is too long is cut between sentences, or between words.
# Seen: MarkdownSplitter prefers apostrophes and quotation marks, since its parser reports each as an element
#   of its own. So a paragraph is cut within "owner's" where a sentence ends earlier; TextSplitter cuts it
#   between sentences.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet semantic-text-splitter==0.33.1
"$folder/venv/bin/python" - <<'PYTHON'
from semantic_text_splitter import MarkdownSplitter, TextSplitter

SENTENCE = "The owner's key isn't lost."
markdown = MarkdownSplitter(40).chunks(" ".join([SENTENCE] * 3))
plain = TextSplitter(40).chunks(" ".join([SENTENCE] * 3))
print(markdown, plain, sep="\n")
assert plain == [SENTENCE] * 3
assert markdown == [f"{SENTENCE} The owner'", "s key isn't lost. The owner's key isn'", "t lost."]
PYTHON
