"""Opens the embedding model of foundry.toml: a local one, or an HTTP service.

Each provider has its own libraries, which are imported only if it is used.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import (
    EmbeddingModel,
    ModelLimits,
    Prefixes,
    choose_prefixes,
    find_known,
)
from foundry.embedding.providers.token_estimate import estimate_tokens
from foundry.errors import BuildError, install_command
from foundry.files import hash_file
from foundry.runtime.retrieval.embedding.local import available_cores, find_folder
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

LOCAL_BATCH_TEXTS = 256
FASTEMBED_BATCH_TOKENS = 4096
PROCESSOR_BATCH_TOKENS = 2048
ACCELERATOR_BATCH_TOKENS = 32_768
"""Tokens in a batch: few on a processor, so that they fit into its cache; many on a graphics
card, to keep it busy.
"""

USUAL_TOKENS = 512
"""Token limit of Sentence Transformers models that do not state one."""

UNKNOWN_TOKENS = 2048
"""Token limit for unknown models of services: what servers allow by default."""

CALL_SECONDS = 120.0
"""Timeout of one call; small machines are slow on large batches."""

OPENAI_HOST = "api.openai.com"
TWO_NETWORKS = frozenset({"Router", "Asym"})
MODEL_SUFFIXES = frozenset(
    {".bin", ".json", ".model", ".onnx", ".onnx_data", ".pt", ".safetensors", ".txt", ".data"}
)
"""Extensions of weights, configurations and tokenizers."""


def open_model(options: EmbeddingSection) -> EmbeddingModel:
    """Open the model, loading a local one; a service is not called yet.

    EMBEDDING_BASE_URL replaces the configured address of a service, here and in the server, since
    the address may differ between networks. Raises BuildError if a package, a key or the model is
    missing.
    """
    address = os.environ.get("EMBEDDING_BASE_URL", "").strip()
    if options.base_url and address:
        options = options.model_copy(update={"base_url": address.rstrip("/")})
    try:
        return _OPENERS[options.provider](options)
    except EmbeddingFailure as failure:
        raise BuildError(failure.message, hint=failure.hint) from None


def _open_fastembed(options: EmbeddingSection) -> EmbeddingModel:
    from foundry.runtime.retrieval.embedding.fastembed import FastEmbedEmbeddings

    client = FastEmbedEmbeddings(options.model, install=install_command(options.provider))
    network: Any = client.network
    from fastembed.text.text_embedding_base import TextEmbeddingBase

    # Tokens are counted with a copy, which neither truncates nor pads.
    tokenizer = type(network.tokenizer).from_str(network.tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    folders = Path(network._model_dir).parts
    kind = type(network)
    return _local_model(
        options,
        client,
        lambda text: len(tokenizer.encode(text).ids),
        commit=folders[folders.index("snapshots") + 1] if "snapshots" in folders[:-1] else "",
        tokens=int(network.tokenizer.truncation["max_length"]),
        batch_tokens=FASTEMBED_BATCH_TOKENS,
        sides_differ=kind.query_embed is not TextEmbeddingBase.query_embed
        or kind.passage_embed is not TextEmbeddingBase.passage_embed,
    )


def _open_sentence_transformers(options: EmbeddingSection) -> EmbeddingModel:
    from foundry.runtime.retrieval.embedding.sentence_transformers import (
        SentenceTransformersEmbeddings,
    )

    install = install_command(options.provider)
    client = SentenceTransformersEmbeddings(options.model, install=install)
    network = client.network
    settings = getattr(network.transformers_model, "config", None)

    def count(text: str) -> int:
        # Warnings about long texts are off: long texts are counted in order to be split.
        return len(network.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    return _local_model(
        options,
        client,
        count,
        commit=str(getattr(settings, "_commit_hash", None) or ""),
        tokens=network.max_seq_length or USUAL_TOKENS,
        batch_tokens=(
            PROCESSOR_BATCH_TOKENS if network.device.type == "cpu" else ACCELERATOR_BATCH_TOKENS
        ),
        sides_differ=any(type(part).__name__ in TWO_NETWORKS for part in network),
        prefixes=Prefixes.read(network.prompts),
    )


def _open_transformer(options: EmbeddingSection) -> EmbeddingModel:
    from foundry.embedding.providers.transformer.folder import (
        find_transformer,
        open_transformer,
        read_transformer,
        write_transformer,
    )
    from foundry.embedding.providers.transformer.processes import TransformerProcesses

    given = find_folder(options.model)
    folder = find_transformer(options.model, given)
    files = read_transformer(folder)
    tokenizer = open_transformer(files).tokenizer
    model = _local_model(
        options,
        TransformerProcesses(folder),
        lambda text: len(tokenizer.tokenize(text)),
        commit="" if given else hash_model_folder(folder),
        tokens=files.shape.max_tokens,
        batch_tokens=PROCESSOR_BATCH_TOKENS,
        sides_differ=False,
        prefixes=files.prompts,
        calls=available_cores(),
    )
    return replace(model, write=partial(write_transformer, files))


def _local_model(
    options: EmbeddingSection,
    client: Any,
    count: Callable[[str], int],
    *,
    commit: str,
    tokens: int,
    batch_tokens: int,
    sides_differ: bool,
    prefixes: Prefixes | None = None,
    calls: int = 1,
) -> EmbeddingModel:
    """Return a model that runs here: one in a folder, or a published one at `commit`, if known."""
    folder = find_folder(options.model)
    return EmbeddingModel(
        provider=options.provider,
        model=options.model if folder is None else folder.resolve().name,
        # The hash identifies the model, wherever the folder is.
        revision=commit if folder is None else hash_model_folder(folder),
        service="",
        dimensions=None,
        sides_differ=sides_differ,
        prefixes=choose_prefixes(options, prefixes),
        limits=ModelLimits(
            tokens=min(tokens, options.max_tokens or tokens),
            batch_tokens=batch_tokens,
            batch_texts=LOCAL_BATCH_TEXTS,
            calls=calls,
        ),
        count_tokens=count,
        embed=client.embed,
        close=client.close,
    )


def hash_model_folder(folder: Path) -> str:
    """Return the SHA-256, in hex, of the names and contents of a model's files."""
    digest = hashlib.sha256()
    for name, path in list_model_files(folder):
        digest.update(f"{name}\0{hash_file(path)}\n".encode())
    return digest.hexdigest()


def list_model_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that affect a model's vectors, in order, with names relative to it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in MODEL_SUFFIXES and path.is_file() and not name.startswith("."):
            yield name, path


def _open_openai(options: EmbeddingSection) -> EmbeddingModel:
    """Open a service that is compatible with OpenAI.

    OpenAI accepts 2,048 texts and 300,000 tokens per call, but other services may accept only 32
    texts. Also, less work is lost if a small call fails.
    """
    from foundry.runtime.retrieval.embedding.openai import OpenAIEmbeddings

    is_own = urlsplit(options.base_url).hostname == OPENAI_HOST
    return _service_model(
        options,
        OpenAIEmbeddings,
        needs_key=is_own,
        batch_tokens=100_000 if is_own else 16_384,
        batch_texts=256 if is_own else 32,
        sides_differ=False,
    )


def _open_cohere(options: EmbeddingSection) -> EmbeddingModel:
    """Open Cohere, which accepts 96 texts and 128,000 tokens per call."""
    from foundry.runtime.retrieval.embedding.cohere import CohereEmbeddings

    return _service_model(
        options,
        CohereEmbeddings,
        needs_key=True,
        batch_tokens=100_000,
        batch_texts=96,
        sides_differ=True,
    )


def _service_model(
    options: EmbeddingSection,
    kind: Any,
    *,
    needs_key: bool,
    batch_tokens: int,
    batch_texts: int,
    sides_differ: bool,
) -> EmbeddingModel:
    key = os.environ.get(options.api_key_env, "").strip()
    if not key and needs_key:
        raise BuildError(
            f"{options.base_url} needs an API key, but the variable {options.api_key_env} is not"
            " set",
            hint=f"set {options.api_key_env}, or name another variable in embedding.api_key_env",
        )
    client = kind(
        options.base_url, options.model, api_key=key or None, dimensions=options.dimensions
    )

    def embed(texts: Any, side: Any) -> Any:
        try:
            return client.embed(texts, side, timeout=CALL_SECONDS)
        except EmbeddingFailure as failure:
            if failure.status != 401:
                raise
            raise EmbeddingFailure(
                failure.message, hint=f"set the variable {options.api_key_env} to a valid key"
            ) from None

    known = find_known(options.model)
    return EmbeddingModel(
        provider=options.provider,
        model=options.model,
        revision="",
        service=options.base_url,
        dimensions=options.dimensions,
        sides_differ=sides_differ,
        prefixes=choose_prefixes(options),
        limits=ModelLimits(
            tokens=options.max_tokens or (known.tokens if known else UNKNOWN_TOKENS),
            batch_tokens=batch_tokens,
            batch_texts=batch_texts,
            calls=options.concurrency,
        ),
        count_tokens=estimate_tokens,
        embed=embed,
        close=client.close,
    )


_OPENERS: dict[str, Callable[[EmbeddingSection], EmbeddingModel]] = {
    "fastembed": _open_fastembed,
    "sentence-transformers": _open_sentence_transformers,
    "transformer": _open_transformer,
    "openai": _open_openai,
    "cohere": _open_cohere,
}
