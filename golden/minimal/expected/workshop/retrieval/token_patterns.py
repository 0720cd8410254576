"""Regular expressions that cut texts into tokens, and tokens into parts.

What `TOKEN` matches may have a space or a bracket at its start or end: then it is a letter that
numbers something (`Appendix A`, `paragraph (a)`, `30 A`, `A 320`), not the article `a`.
"""

import re
from collections.abc import Iterable

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0df4\u0f71-\u0f84\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0"
)
_JOINT = r"(?:::|[-.:/@])"


# What is lettered, and what may be so but stands before an article or a pronoun as well.
_LETTERED = "annex appendix hepatitis subpart subsection vitamin".split()
_OFTEN_LETTERED = (
    "article attachment block category chapter class clause column division exhibit figure form"
    " gate grade group item level option paragraph part phase point room row rule schedule section"
    " stage step table team tier title type unit version volume zone".split()
)


def _after(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(rf'(?<={word}[ ])' for word in words)})"


_LETTER_ENDS = r"(?![\w'\u2019+#&])"
# Not `the part I know` and `in part a success`, but `part I of the act`.
_NO_SENTENCE = r"(?![ ]+(?!(?:and|for|from|in|is|of|or|through|to)\b)[a-z])"
_NUMBERING_LETTER = (
    rf"[ ](?=\(?[AaIi]{_LETTER_ENDS})(?:(?i:{_after(_LETTERED)}\(?[ai])"
    rf"|(?i:{_after(_OFTEN_LETTERED)})\(?(?:A|[aIi]{_NO_SENTENCE})|(?<=[0-9][ ])A)"
)
_SUFFIX = (
    r"(?:(?:\+\+|\#)(?![\w+#])"
    # Of a single letter: `A*`, but not the end of `*A*` or of `**plan A**`; `R&D`; `A 320`.
    r"|[*+](?<![\w*+][A-Za-z][*+])(?<=[A-Za-z][*+])(?![\w*+])"
    r"|&[A-Za-z](?<!\w[A-Za-z]&[A-Za-z])(?<=[A-Za-z]&[A-Za-z])(?!\w)"
    r"|[ ](?<=A[ ])(?<!\wA[ ])(?=[0-9]+(?![\w%-]|[.,][0-9]|[ ]+[a-z]))"
    # Of a number: paragraphs.
    r"|\((?<=[0-9]\()(?:(?:[A-Za-z]{1,2}|[ivx]{3,5}|[0-9]{1,3})\)\(?)+(?<=\))(?!\w))?"
)


def _token_pattern(word: str) -> str:
    return rf"{_NUMBERING_LETTER}|{word}+(?:{_JOINT}{word}+)*{_SUFFIX}"


ASCII_TOKEN = re.compile(_token_pattern(r"[A-Za-z0-9_]"))
TOKEN = re.compile(
    rf"(?P<spaceless>[{_SPACELESS}]+)|" + _token_pattern(rf"(?:[^\W{_SPACELESS}]|[{_MARKS}])")
)
JOINTS = re.compile(rf"{_JOINT}|_+|[+#*]+$|&")
PARAGRAPH = re.compile(r"\(\w+\)$")
WITH_DIGITS = re.compile(r"[A-Za-z]{2,}(?=[0-9])")
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")
CODE_JOINT = re.compile(r"::|(?<=\w)\.(?=\w)|(?<=\w)_(?=\w)|\+\+$|[#*)]$|(?<=\d)[-:/](?=\d)")
# Not `_word_`, which is how some texts write emphasis.
UNDERSCORED = re.compile(r"__\w+__|_+\w*[^\W_]")
DIGIT = re.compile(r"[0-9]")
LETTER = re.compile(r"[^\W\d_]")
