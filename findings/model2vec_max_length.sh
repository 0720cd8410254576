#!/usr/bin/env bash
# model2vec 0.10.0, `encode` of a static model with a vocabulary of words.
# Expected: a static model has no positions, so every word of a text counts; or, with the default
#   `max_length` of 512 tokens, a text of 101 tokens is whole.
# Seen: a text is cut to 512 times the median length of a token in the vocabulary, in characters, before
#   tokens are counted. Where the words are long, the 101st token is not reached: the vector has nothing of
#   it, without a warning. With max_length=None all words count.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet model2vec==0.10.0 tokenizers==0.22.1 numpy==2.3.4
cd "$folder"
"$folder/venv/bin/python" -W error - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

print("model2vec", version("model2vec"))
words = ["[UNK]", "pump", "seal", "counterclockwiserotation"]
tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = Whitespace()
vectors = np.array([[0, 0], [0, 1], [0, 1], [1, 0]], dtype=np.float32)
model = StaticModel(vectors, tokenizer, normalize=False)
text = f"{words[3]} " * 100 + "pump"
tokens = len(tokenizer.encode(text).ids)
by_default, whole = model.encode(text), model.encode(text, max_length=None)
print(tokens, "tokens,", len(text), "characters; median", model.median_token_length)
print("by default:", by_default, "without a limit:", whole)
assert tokens == 101
assert by_default[1] == 0 and whole[1] > 0
PYTHON
