"""Token patterns: words, identifiers such as `std::vector`, runs of scripts without spaces."""

import re
from functools import cache

SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0df4\u0f71-\u0f84\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0"
)

# Words that may be followed by a letter instead of a number, even by a stop word (`part I`). After
# the words of the second list, the next word decides: the `I` of `part I of the act` is a number,
# but not the `I` of `the part I know`, nor the `a` of `in part a success`.
_LETTERED = "annex appendix hepatitis subpart subsection vitamin".split()
_OFTEN_LETTERED = (
    "article attachment block category chapter class clause column division exhibit figure form"
    " gate grade group item level option paragraph part phase point room row rule schedule section"
    " stage step table team tier title type unit version volume zone".split()
)
_AFTER_LETTERED, _AFTER_OFTEN_LETTERED = (
    f"(?:{'|'.join(rf'(?<={word}[ ])' for word in words)})"
    for words in (_LETTERED, _OFTEN_LETTERED)
)
_NO_SENTENCE = r"(?![ ]+(?!(?:and|for|from|in|is|of|or|through|to)\b)[a-z])"
_NUMBERING_LETTER = (
    rf"[ ](?=\(?[AaIi](?![\w'\u2019+#&]))(?:(?i:{_AFTER_LETTERED}\(?[ai])"
    rf"|(?i:{_AFTER_OFTEN_LETTERED})\(?(?:A|[aIi]{_NO_SENTENCE})|(?<=[0-9][ ])A)"
)
_SUFFIX = (
    r"(?:\+\+(?![A-Za-z_+#])|\#(?![\w+#])|\#(?<=[A-Za-z]\#)(?<!\w[A-Za-z]\#)(?=[0-9])"
    # After a single letter: `A*`, but not the end of `*A*` or of `**plan A**`; `R&D`; `A 320`.
    r"|[*+](?<![\w*+][A-Za-z][*+])(?<=[A-Za-z][*+])(?![\w*+])"
    r"|&[A-Za-z](?<!\w[A-Za-z]&[A-Za-z])(?<=[A-Za-z]&[A-Za-z])(?!\w)"
    r"|[ ](?<=A[ ])(?<!\wA[ ])(?=[0-9]+(?![\w%-]|[.,][0-9]|[ ]+[a-z]))"
    # After a number: paragraphs, as in citations.
    r"|\((?<=[0-9]\()(?:(?:[A-Za-z]{1,2}|[ivx]{3,5}|[0-9]{1,3})\)\(?)+(?<=\))(?!\w))?"
)
_THOUSANDS = r",(?<=[0-9],)(?=[0-9]{3}(?![0-9]))"  # `1,250`
JOINT = rf"(?:::|[-.:/@]|{_THOUSANDS})"
# English apostrophes: `customer's`, `don't`, `O'Brien`.
_OR_APOSTROPHE = (
    rf"(?:::|[-.:/@]|{_THOUSANDS}|'(?:(?=(?i:s|t|d|m|ll|re|ve)(?![\w']))"
    r"|(?<=[A-Z]')(?<!\w[A-Z]')(?=[A-Z][a-z])))"
)
DASHES = "\u2013\u2212-"  # Typesetting may turn the hyphen of an option into a dash or a minus.
# As in `.NET`, `.env`, and in options of one letter: `-v`.
_LEADING = (
    r"(?:(?<![\w.)\]}>\"'])\.(?=[A-Za-z]{2})"
    rf"|[{DASHES}](?<![\w{DASHES}].)(?=[A-Za-z](?![\w{DASHES}])))?"
)
# Operators of programming languages, arrows, signs of mathematics, and pictures
_OPERATORS = (
    "!== === <=> ??= >>> << >> != == -> <- => <= >= := :: && || ?? ?. |> += -= *= /= =~ !~ <>"
)
_SIGNS = "\u2190-\u21ff\u2200-\u22ff\u2600-\u27bf\U0001f300-\U0001faff"
_BESIDE = r"[!%&*+/:<=>?@\\^|~-]"  # Longer runs are rules, arrows drawn with characters or URLs.
OPERATOR = (
    rf"(?=[!<>=?.&|:+*/-])(?<!{_BESIDE})"
    rf"(?:{'|'.join(map(re.escape, _OPERATORS.split()))})(?!{_BESIDE})"
)
_ASCII_LETTER, _ANY_LETTER = "[A-Za-z0-9_]", rf"(?:[^\W{SPACELESS}]|[{_MARKS}])"
# ASCII words are matched first, which is four times as fast.
WORD = re.compile(
    rf"(?<![^\W_{SPACELESS}])(?:[A-Za-z0-9]++(?![^\x00-\x7f])|(?:[^\W_{SPACELESS}]++|[{_MARKS}])++)"
)
# Between the number and the unit in `230V`.
LETTER_BESIDE_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


@cache
def token_pattern(*, is_ascii: bool, has_apostrophes: bool) -> re.Pattern[str]:
    """Return the token pattern for ASCII texts, or for any text, with the group `run`.

    Compiled on first use, since compiling takes longer than loading everything else here.
    """
    letter = _ASCII_LETTER if is_ascii else _ANY_LETTER
    joint = _OR_APOSTROPHE if has_apostrophes else JOINT
    tokens = rf"{_NUMBERING_LETTER}|{_LEADING}{letter}+(?:{joint}{letter}+)*{_SUFFIX}|{OPERATOR}"
    return re.compile(tokens if is_ascii else rf"(?P<run>[{SPACELESS}]+)|{tokens}|[{_SIGNS}]")
