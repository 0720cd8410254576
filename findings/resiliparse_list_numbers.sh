#!/usr/bin/env bash
# resiliparse 2.0.1, extract_plain_text of an ordered list that begins at 3, and of a closed block.
# Expected: the items have the numbers that a browser shows, 3 and 4, as the text may refer to "step 4"; the title
#   of the block and its text are two words.
# Seen: the items are numbered 1 and 2, also with `value` at an item. Title and text are one word.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet resiliparse==2.0.1
"$folder/venv/bin/python" - <<'END'
from resiliparse.extract.html2text import extract_plain_text

text = extract_plain_text(
    "<html><body><ol start=3><li>Open it.<li>Wait.</ol><ol><li value=7>Close it.</ol>"
    "<details><summary>More</summary>about it</details></body></html>"
)
print(text)
assert "1. Open it." in text and "2. Wait." in text and "1. Close it." in text
assert "Moreabout it" in text
END
