"""Text is tokenized as by BERT's own tokenizer."""

import pytest

from foundry.runtime.retrieval.embedding.word_pieces import Spelling, WordPieceTokenizer

PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] pump ##s ##ing un ##aff ##able , . $ ' cafe café 水 泵 σας A"
    " i strasse straße a ##b"
).split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def cut(text: str, most: int | None = None, **spelling: bool) -> str:
    """Return the tokens of a text, without [CLS] and [SEP]."""
    cutter = WordPieceTokenizer(PIECES, Spelling(special=SPECIAL, **spelling))
    numbers = cutter.tokenize(text, most)
    assert (numbers[0], numbers[-1]) == (2, 3)
    return " ".join(PIECES[number] for number in numbers[1:-1])


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ""),
        (" \t\n\r\u00a0\u2003\u2028", ""),
        ("pump\tpump\npump\rpump\u2028pump", "pump pump pump pump pump"),
        ("Pumps pumping", "pump ##s pump ##ing"),
        ("unaffable", "un ##aff ##able"),
        # A word that tokens cannot cover becomes [UNK] as a whole.
        ("unaffablx pump", "[UNK] pump"),
        ("pump,pump. $pump's", "pump , pump . $ pump ' [UNK]"),
        ("CAFÉ cafe\u0301", "cafe cafe"),
        ("水泵x", "水 泵 [UNK]"),
        # Letter by letter: other tokenizers write another sigma at the end of a word.
        ("ΣΑΣ", "[UNK]"),
        ("σας", "σας"),
        ("\u0130", "i"),
        ("pu\u0000m\ufffd\u200bp\u00ad", "pump"),
        ("pump [MASK]s [mask]", "pump [MASK] [UNK] [UNK] [UNK] [UNK]"),
        ("a" + "b" * 99, "a" + " ##b" * 99),
        ("a" + "b" * 100, "[UNK]"),
        ("\u0378", "[UNK]"),
        ("\u0301", ""),
    ],
)
def test_text_is_cut(text: str, pieces: str) -> None:
    assert cut(text) == pieces


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    ],
)
def test_chinese_characters_are_words_by_themselves(first: int, last: int) -> None:
    for inside in (first, last):
        assert cut(f"pump{chr(inside)}pump") == "pump [UNK] pump"
    for outside in (first - 1, last + 1):
        # Two of the ranges are adjacent.
        if outside not in (0x2B73F, 0x2B740):
            assert cut(f"pump{chr(outside)}pump") == "[UNK]"


def test_only_the_first_pieces_of_a_long_text_are_taken() -> None:
    assert cut("pumps pumping", 5) == "pump ##s pump"
    assert cut("pumps pumping", 6) == "pump ##s pump ##ing"
    assert cut("pumps", 2) == ""


def test_spelling_is_the_models_own() -> None:
    assert cut("CAFÉ A", lowercase=False, strip_accents=False) == "[UNK] A"
    assert cut("café", strip_accents=False) == "café"
    assert cut("STRASSE Straße", strip_accents=False) == "strasse straße"
    assert cut("水泵", separate_chinese=False) == "[UNK]"
