"""Models that FastEmbed runs on this machine."""

from pathlib import Path
from typing import Any

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.local import LocalModel
from foundry.runtime.retrieval.embedding.fastembed import FastEmbedEmbeddings

INSTALL = "pip install 'rag-foundry[fastembed]'"
BATCH_TOKENS = 4096


def open_model(options: EmbeddingSection) -> LocalModel:
    """Load the model. Raises EmbeddingFailure where the package or the model is missing."""
    client = FastEmbedEmbeddings(options.model, install=INSTALL)
    network = client.network
    tokenizer, tokens = _counting_tokenizer(network.tokenizer)
    return LocalModel(
        options,
        client,
        lambda text: len(tokenizer.encode(text).ids),
        commit=_commit_of(Path(network._model_dir)),
        tokens=tokens,
        batch_tokens=BATCH_TOKENS,
        sides_differ=_sides_differ(network),
    )


def _counting_tokenizer(tokenizer: Any) -> tuple[Any, int]:
    """Copy a tokenizer to one that cuts and fills up nothing; return where the first would cut."""
    most = int(tokenizer.truncation["max_length"])
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy, most


def _commit_of(folder: Path) -> str:
    """Return the commit in the path of a downloaded snapshot; empty if there is none."""
    parts = folder.parts
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts[:-1] else ""


def _sides_differ(network: Any) -> bool:
    from fastembed.text.text_embedding_base import TextEmbeddingBase

    kind = type(network)
    return (
        kind.query_embed is not TextEmbeddingBase.query_embed
        or kind.passage_embed is not TextEmbeddingBase.passage_embed
    )
