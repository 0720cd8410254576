"""Which words of a query the table of pieces is asked about."""

from workshop.retrieval.encoder import split_words


def test_words_are_folded_and_lose_their_accents() -> None:
    assert split_words("Straße ÉTÉ, naïve_word №5") == ["strasse", "ete", "naive", "word", "no5"]
