"""What asks a server for `foundry eval`, within the process of the server."""

from collections.abc import Sequence

import pytest

from foundry.evaluation.in_server import shingle_once
from foundry.runtime.index.tokens import Token, Tokenizer
from foundry.runtime.retrieval.stages.near_duplicates import Shingles


def test_texts_are_shingled_once_until_they_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, tokenized = Tokenizer("english"), list[str]()

    def tokenize(text: str) -> Sequence[Token]:
        tokenized.append(text)
        return tokenizer.tokenize(text)

    texts = ("a pump", "a valve", "a pump")
    expected = [Shingles.of(text, tokenizer.tokenize) for text in texts]
    monkeypatch.setattr(Shingles, "of", Shingles.of)
    forget = shingle_once("foundry.runtime")
    assert [Shingles.of(text, tokenize) for text in texts] == expected
    assert tokenized == ["a pump", "a valve"]
    forget()
    assert [Shingles.of(text, tokenize) for text in texts] == expected
    assert tokenized == ["a pump", "a valve"] * 2


def test_server_that_shows_near_duplicates_has_nothing_to_shingle() -> None:
    shingle_once("package.without.that.stage")()
