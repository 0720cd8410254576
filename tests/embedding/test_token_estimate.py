import pytest

from foundry.embedding.providers.token_estimate import estimate_tokens

SENTENCE = "How much fresh air has to reach the people who are digging?"

# The tokenizer of all-MiniLM-L6-v2 counted these; in the worst case, a byte is a token.
COUNTED = {
    SENTENCE: 15,
    "Donaudampfschifffahrtsgesellschaftskapitän Rechtsschutzversicherungsgesellschaften": 26,
    "getHTTPServerConfigurationFromXMLDocumentFactoryBean": 19,
    "Как работает вентиляция в шахте и сколько свежего воздуха?": 50,
    "كم من الهواء النقي يجب أن يصل إلى الناس": 33,
    "!@#$%^&*()_+{}|:<>?~`-=[]": 27,
    "有多少新鲜空气": 3 * 7,
    "🙂" * 50: 200,
    "อากาศ": 15,
    "Որքան": 10,
    "75.1725": 7,
}


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_tokens_are_never_underestimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) >= tokens


def test_prose_is_not_much_overestimated() -> None:
    assert estimate_tokens(SENTENCE * 20) <= 1.6 * 15 * 20


def test_very_long_words_are_counted_by_letters() -> None:
    assert estimate_tokens("x" * 5000) >= 2500


def test_lone_surrogates_are_counted() -> None:
    assert estimate_tokens("\ud800" * 10) >= 10
