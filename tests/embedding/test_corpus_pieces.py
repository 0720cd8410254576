import pytest
from distillation_corpora import CHINESE, RUSSIAN, make_chunk, make_corpus

from foundry.embedding.distil import corpus_pieces
from foundry.embedding.distil.corpus_pieces import WordCounts, own_pieces
from foundry.files import english_pieces
from foundry.runtime.retrieval.encoder import CONTINUATION, PieceCutter

GENERAL = ["a", "##a", "b", "##b", "pump", "##s", "valve"]


def count(*texts: str) -> WordCounts:
    return WordCounts(make_chunk(number, text, document="d") for number, text in enumerate(texts))


def test_frequent_words_become_pieces() -> None:
    words = count("d abba abba abba pumps pumps pump", "baab baab")
    pieces = own_pieces(GENERAL, words)
    assert "abba" in pieces
    assert "baab" not in pieces
    assert "pump" not in pieces


def test_uncovered_characters_come_first() -> None:
    words = count("жук жук жук")
    pieces = own_pieces(GENERAL, words)
    assert pieces.index("ж") < pieces.index("жук")
    assert {"##у", "##к"} <= set(pieces)  # noqa: RUF001 (Cyrillic is meant)
    assert own_pieces(GENERAL, words, most=2) == pieces[:2]


@pytest.mark.parametrize(("language", "end"), [(RUSSIAN, ". "), (CHINESE, "。")])
def test_texts_in_other_scripts_are_covered(language: list[str] | str, end: str) -> None:
    general = english_pieces()
    chunks = make_corpus(language, end=end)
    pieces = [*general, *own_pieces(general, WordCounts(chunks))]
    assert len(set(pieces)) == len(pieces)
    cutter = PieceCutter(pieces)
    for chunk in chunks:
        for word in cutter.cut(chunk.text):
            assert word.covered_letters == word.letters


def test_text_without_spaces_is_cut_into_words() -> None:
    general = english_pieces()
    pieces = [*general, *own_pieces(general, count("关闭水泵 打开水泵 检查水泵"))]
    rows = PieceCutter(pieces).cut("关闭水泵")[0].rows
    assert [pieces[row] for row in rows][-1] in {CONTINUATION + "水泵", CONTINUATION + "闭水泵"}


def test_common_words_are_short_and_frequent() -> None:
    words = count("the pump and the valve and the compressor compressor compressor")
    assert words.common_words() >= {"the", "and"}
    assert "compressor" not in words.common_words()


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_pieces, "COUNTED_WORDS", 50)
    texts = [f"pump pump rare{number} seldom{number}" for number in range(500)]
    words = count(*texts)
    assert len(list(words.items())) <= 50
    assert words.most_common(1)[0] == ("pump", 1000)


def test_equally_frequent_words_are_in_alphabetical_order() -> None:
    assert count("z c a a", "c a z z").most_common(3) == [("a", 3), ("z", 3), ("c", 2)]
