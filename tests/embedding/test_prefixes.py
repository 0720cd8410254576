import pytest

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import Prefixes, choose_prefixes, find_known

QUESTION = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "document", "query", "tokens"),
    [
        ("intfloat/multilingual-e5-large", "passage: ", "query: ", 512),
        ("intfloat/e5-base-v2", "passage: ", "query: ", 512),
        ("intfloat/multilingual-e5-large-instruct", "", "", 512),
        ("BAAI/bge-small-en-v1.5", "", QUESTION, 512),
        ("bge-large:latest", "", QUESTION, 512),
        ("bge-m3", "", "", 8192),
        ("nomic-ai/nomic-embed-text-v1.5", "search_document: ", "search_query: ", 2048),
        ("nomic-embed-text:latest", "search_document: ", "search_query: ", 2048),
        ("mixedbread-ai/mxbai-embed-large-v1", "", QUESTION, 512),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "", QUESTION, 512),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "", "query: ", 8192),
        ("snowflake-arctic-embed2", "", "query: ", 8192),
        ("all-minilm:l6-v2", "", "", 256),
        ("/models/all-MiniLM-L6-v2/", "", "", 256),
        ("text-embedding-3-small", "", "", 8191),
        ("embed-v4.0", "", "", 32_768),
        ("embed-multilingual-light-v3.0", "", "", 512),
    ],
)
def test_known_models(model: str, document: str, query: str, tokens: int) -> None:
    known = find_known(model)
    assert known is not None
    assert known.prefixes == Prefixes(document, query)
    assert known.tokens == tokens


@pytest.mark.parametrize("model", ["my-model", "/all-minilm/other", "late5-base", "gte-large"])
def test_unknown_models(model: str) -> None:
    assert find_known(model) is None


def test_configured_prefixes_take_precedence() -> None:
    options = EmbeddingSection(provider="openai", model="e5-small")
    assert choose_prefixes(options) == Prefixes("passage: ", "query: ")
    own = Prefixes("text: ", "q: ")
    assert choose_prefixes(options, own) == own
    configured = EmbeddingSection(
        provider="openai", model="e5-small", document_prefix="", query_prefix="ask: "
    )
    assert choose_prefixes(configured, own) == Prefixes("", "ask: ")
