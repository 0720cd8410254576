#!/usr/bin/env bash
# tantivy 0.27.0 (Python's tantivy): words of 40 bytes or more.
# Expected: a word that a document has is found by it, at least with the tokenizer named "default".
# Seen: "default" and "en_stem" leave out words of 40 bytes and more when a document is added, and when it is
#   asked for, without a warning. A Git commit has exactly 40 characters: its SHA-1 is never found, though
#   that of 39 is. In bytes, so that Greek or Russian words end at 20 letters. "raw" and
#   "whitespace" keep them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tantivy==0.27.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import tantivy

NAMES = ("default", "en_stem", "whitespace", "raw")
commit = "0123456789abcdef0123456789abcdef01234567"
greek = "ηλεκτροεγκεφαλογραφήματα"
assert len(commit) == 40 and len(greek) > 20
words = {"39 characters": commit[:39], "a commit's SHA-1": commit, "a Greek word": greek}
builder = tantivy.SchemaBuilder()
for name in NAMES:
    builder.add_text_field(name, tokenizer_name=name)
index = tantivy.Index(builder.build())
writer = index.writer()
for word in words.values():
    writer.add_document(tantivy.Document(**dict.fromkeys(NAMES, word)))
writer.commit()
index.reload()
searcher = index.searcher()
print("tantivy", version("tantivy"))
found = {}
for said, word in words.items():
    hits = (searcher.search(index.parse_query(word, [name]), 5).hits for name in NAMES)
    found[said] = [len(each) for each in hits]
    print(f"{said}:", ", ".join(f"{name} {n}" for name, n in zip(NAMES, found[said])))
assert found["39 characters"] == [1, 1, 1, 1]
assert found["a commit's SHA-1"] == found["a Greek word"] == [0, 0, 1, 1]
PYTHON
