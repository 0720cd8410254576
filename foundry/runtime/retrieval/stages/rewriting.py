"""Query rewriting: the language model rephrases the query in the words that documents use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...index.reader import Index
from ...index.tokens import Token
from ..journal import Journal
from ..respelling import respell
from .understanding import Understood

MAX_CHARACTERS = 500

UNUSABLE = "The language model sent no usable query."

_WORDS = """\
the query, rewritten so that semantic and keyword search find what answers it: typing errors
  corrected, abbreviations followed by their long forms, no polite phrases, in the same language.
  Names, numbers, codes and quoted words stay as they are. At most 40 words."""


class QueryRewriting:
    """Asks the model to rewrite the query; see `understanding.Part`."""

    def properties(self, _index: Index) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return one property: the rewritten query, a string."""
        return {"query": (_WORDS, {"type": "string"})}

    def apply(
        self, answer: Mapping[str, Any], asked: Understood, _index: Index
    ) -> tuple[Understood, dict[str, Any]]:
        """Return the rewritten query if it is usable; the response reports it as `query_used`."""
        written = answer.get("query")
        text = clean(written) if isinstance(written, str) else ""
        if not 0 < len(text) <= MAX_CHARACTERS:
            return asked, {"failed": UNUSABLE}
        return replace(asked, query=text), {"query_used": text}


def clean(text: str) -> str:
    """Return text as one line without invisible characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def tokens_of(index: Index, query: str, journal: Journal) -> list[Token]:
    """Return the tokens of a query, spelt as in the index."""
    return respell(index, index.tokenizer.tokenize_query(query)[1], journal)
