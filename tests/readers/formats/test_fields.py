"""Fields of Word and RTF that are shown without a stored result."""

import pytest

from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.formats.office.fields import shown_by


@pytest.mark.parametrize(
    ("instruction", "shown"),
    [
        (r"EQ \f(1,2)", "1/2"),
        (r"EQ \f(a+b;2)", "(a+b)/2"),
        (r"EQ \r(3,x+1)", "∛(x+1)"),
        (r"EQ \r(x)", "√(x)"),
        (r"EQ 10\s\up8(6)", "10^6"),
        (r"EQ x\s\do4(i)", "x_i"),
        (r"EQ \i\su(1,5,n)", "∑_1^5 n"),
        (r"EQ \b\bc\{(\f(1,2))", "{1/2}"),
        (r"EQ \b\lc\[\rc\)(a,b)", "[a, b)"),
        (r"EQ \a\al\co2\vs3(p,q,r,s)", "p, q, r, s"),
        (r"EQ f(x)\x(5)", "f(x)5"),
        (r"EQ \f(g(a,b),2\,5)", "(g(a,b))/(2,5)"),
        (r'EQ \* jc2 \* "Font:MS Mincho" \* hps12 \o\ad(\s\up 11(とう),東)', "東(とう)"),
        (r'SYMBOL 174 \f "Symbol"', "→"),
        (r"SYMBOL 0x41", "A"),
        (r"SYMBOL 0xD800", ""),
        (r'QUOTE "never again" \* MERGEFORMAT', "never again"),
        (r"MACROBUTTON Run Click here", "Click here"),
        (r"DATE \@ d", ""),
        ("", ""),
        ("EQ \\", ""),
        (r"EQ \f(1", "1/"),
    ],
)
def test_fields_have_the_text_shown(instruction: str, shown: str) -> None:
    assert shown_by(instruction) == shown


def test_nesting_is_limited() -> None:
    for sign in ("\\f(", "("):
        assert "x" in shown_by(f"EQ \\x({sign * 20_000}x")


@pytest.mark.parametrize("result", ["", r"{\fldrslt }", r"{\fldrslt {\b}}"])
def test_rtf_fields_without_a_result_are_computed(result: str) -> None:
    body = (
        rf"Half is {{\field{{\*\fldinst {{ EQ \\f(1,2)}}}}{result}}}, {{\field{{\*\fldinst QUOTE "
        "}}"
    )
    content = rf"{{\rtf1\ansi {body}{{\fldrslt never}}}}.\par}}".encode()
    document = read(RawDocument("s", "a.rtf", "a.rtf", content), is_worker=True)
    assert isinstance(document, Document)
    assert document.reading.text == "Half is 1/2, never."
