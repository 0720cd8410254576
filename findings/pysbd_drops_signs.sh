#!/usr/bin/env bash
# pysbd 0.3.4, sentences of English text that has one of the signs ♭, ♨ or ∯.
# Expected: all of the text is in the sentences, as `clean=False` promises.
# Seen: the sentence with the sign is in no segment. The signs are among those that pysbd itself writes in
#   place of full stops while it looks for sentences.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysbd==0.3.4
"$folder/venv/bin/python" - <<'END'
import warnings

warnings.simplefilter("ignore")
import pysbd

split = pysbd.Segmenter(language="en", clean=False).segment
for text in (
    "E♭ is a note. D is another.",
    "Springs are marked ♨ on the map. Go there.",
    "The flux is ∯ F dA. It is 4.",
):
    found = split(text)
    print(found)
    assert len(found) == 1 and text.endswith(found[0])
assert split("E flat is a note. D is another.") == ["E flat is a note. ", "D is another."]
END
