#!/usr/bin/env bash
# pysubs2 1.8.1, pysrt 1.1.2 and webvtt-py 0.6.0: "<" in subtitles.
# Expected: SubRip has the tags <i>, <b>, <u> and <font>; another "<" is a sign, as players show it. In WebVTT
#   "&lt;" is that sign.
# Seen: pysubs2 (`plaintext`) and pysrt (`text_without_tags`) take all from "<" to the next ">" for a tag: "if a < b and
#   c > d" becomes "if a  d". webvtt-py removes tags, but leaves references as they are: "5 &lt; 6 &amp; 7".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pysubs2==1.8.1 pysrt==1.1.2 webvtt-py==0.6.0
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import pysrt
import pysubs2
import webvtt

srt = "1\n00:00:01,000 --> 00:00:02,000\n<i>if a < b and c > d</i>\n"
vtt = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Anna>5 &lt; 6 &amp; 7</v>\n"
shown = {
    "pysubs2": pysubs2.SSAFile.from_string(srt)[0].plaintext,
    "pysrt": pysrt.from_string(srt)[0].text_without_tags,
    "webvtt-py": webvtt.from_string(vtt)[0].text,
}
for name, text in shown.items():
    print(name, version(name), repr(text))
assert shown["pysubs2"] == shown["pysrt"] == "if a  d"
assert shown["webvtt-py"] == "5 &lt; 6 &amp; 7"
PYTHON
