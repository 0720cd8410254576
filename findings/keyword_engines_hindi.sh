#!/usr/bin/env bash
# bm25s 0.3.16, SQLite FTS5 3.51.1 (pysqlite3-binary 0.5.4.post2) and Whoosh-Reloaded 2.7.5: words in Hindi.
# Expected: a word of letters and vowel signs is a word.
# Seen: none of them counts vowel signs (Unicode categories Mc and Mn) as part of a word. bm25s, by its
#   pattern \b\w\w+\b, has no token at all of "हिन्दी": the word is in no index and in no query, and a
#   search for it gives no match. FTS5 cuts words at their vowels, so that "की", "का" and "के" are one term "क",
#   and each finds all documents that have another of them. Whoosh's StandardAnalyzer drops the pieces of
#   one letter, as bm25s does. All without a warning; the same holds for Bengali, Tamil and others.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet bm25s==0.3.16 pysqlite3-binary==0.5.4.post2 Whoosh-Reloaded==2.7.5
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import bm25s
import pysqlite3
from whoosh.analysis import StandardAnalyzer

word, ki, ka = "हिन्दी", "की", "का"
print("bm25s", version("bm25s"), "SQLite", pysqlite3.sqlite_version, end=" ")
print("Whoosh-Reloaded", version("Whoosh-Reloaded"))
[tokens] = bm25s.tokenize([word], stopwords=None, return_ids=False, show_progress=False)
print("bm25s:", word, "->", tokens)
assert tokens == []

connection = pysqlite3.connect(":memory:")
connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'row')")
connection.execute("INSERT INTO texts VALUES (?)", (ka,))
terms = [term for term, *_ in connection.execute("SELECT term FROM terms")]
found = connection.execute("SELECT text FROM texts WHERE texts MATCH ?", (f'"{ki}"',)).fetchall()
print("FTS5:", ka, "->", terms, "and", ki, "finds", found)
assert terms == ["क"] and found == [(ka,)]

pieces = [token.text for token in StandardAnalyzer()(word)]
print("Whoosh:", word, "->", pieces)
assert pieces == []
PYTHON
