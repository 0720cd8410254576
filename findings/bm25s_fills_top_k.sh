#!/usr/bin/env bash
# bm25s 0.3.16.
# Expected: a query of which no document has a word returns nothing, as in Lucene, whose scores it reproduces.
# Seen: `retrieve` always returns k documents; those without a single word of the query follow with score
#   0.0, here from the last one backwards. One-letter words are not indexed by default, so "C" finds what a
#   word that does not exist finds.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bm25s==0.3.16
"$folder/venv/bin/python" - <<'PYTHON'
import bm25s

TEXTS = ["the pump stopped", "a valve opened", "birds fly high", "C is a language"]
quiet = {"show_progress": False}
index = bm25s.BM25()
index.index(bm25s.tokenize(TEXTS, **quiet), **quiet)
seen = {}
for query in ("pump", "zebra", "C"):
    found = index.retrieve(bm25s.tokenize(query, **quiet), k=3, **quiet)
    seen[query] = found.documents[0].tolist(), found.scores[0].tolist()
    print(f"{query}: {seen[query]}")
assert seen["pump"][0][0] == 0 and seen["pump"][1][0] > 0 and seen["pump"][1][1:] == [0, 0]
assert seen["zebra"] == seen["C"] == ([3, 2, 1], [0, 0, 0])
PYTHON
