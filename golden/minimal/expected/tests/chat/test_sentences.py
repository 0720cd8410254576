"""Sentences end where readers would say so, here marked by `|`."""

from itertools import accumulate

import pytest

from workshop.chat.text import find_sentence_ends


@pytest.mark.parametrize(
    "marked",
    [
        "One here. |Two there! |Three?",
        "It takes 3.5 mm, e.g. Of steel. |Then wait.",
        "Dr. Who met J. Doe at 9 p.m. On time. |He left.",
        "See fig. 3 and no. 4. |They differ.",
        "Call `a. B. c` now. |It returns.",
        "It stops. |Call `a. B`",
        "Call `a. B`\n\n|It returns. |Then `c`",
        'She said "no." |He went (at last). |End.',
        "Yahoo! is lower case. |Next.",
        "\u4eca\u65e5\u306f\u3002|\u660e\u65e5\uff1f|\u300c\u306f\u3044\u3002\u300d|\u7d42",
        "\u092f\u0939 \u090f\u0915 \u0939\u0948\u0964 |\u092f\u0939 \u0926\u094b\u0964",
        "No stop here\n|- an item\n|- another\n|1. a third\n|2. a fourth",
        "First paragraph\n\n|Second paragraph",
        "Wait... what now. |Yes.",
        "one line\nanother line.\n|Last",
    ],
)
def test_sentences(marked: str) -> None:
    text, ends = marked.replace("|", ""), [*accumulate(map(len, marked.split("|")))]
    assert [*find_sentence_ends(text, 0, len(text))] == ends[:-1]
