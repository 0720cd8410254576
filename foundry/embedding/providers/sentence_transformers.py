"""Models that Sentence Transformers runs on this machine."""

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.local import LocalModel
from foundry.embedding.providers.model import Prefixes
from foundry.runtime.retrieval.embedding.sentence_transformers import SentenceTransformersEmbeddings

INSTALL = "pip install 'rag-foundry[sentence-transformers]'"
USUAL_TOKENS = 512
"""Of one text, where a model does not say."""

PROCESSOR_BATCH_TOKENS = 2048
ACCELERATOR_BATCH_TOKENS = 32_768
"""Few stay in a processor's cache, many keep a graphics card busy."""

DOCUMENT_PROMPTS = ("document", "passage", "corpus")
TWO_NETWORKS = frozenset({"Router", "Asym"})


def open_model(options: EmbeddingSection) -> LocalModel:
    """Load the model. Raises EmbeddingFailure where the package or the model is missing."""
    client = SentenceTransformersEmbeddings(options.model, install=INSTALL)
    network = client.network
    is_processor = network.device.type == "cpu"
    settings = getattr(network.transformers_model, "config", None)

    def count(text: str) -> int:
        # Silent about texts that are too long: they are counted in order to be split.
        return len(network.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    return LocalModel(
        options,
        client,
        count,
        commit=str(getattr(settings, "_commit_hash", None) or ""),
        tokens=network.max_seq_length or USUAL_TOKENS,
        batch_tokens=PROCESSOR_BATCH_TOKENS if is_processor else ACCELERATOR_BATCH_TOKENS,
        sides_differ=any(type(part).__name__ in TWO_NETWORKS for part in network),
        prefixes=_own_prefixes(network.prompts),
    )


def _own_prefixes(prompts: dict[str, str]) -> Prefixes | None:
    """Return the prompts that a model's files name for retrieval; None where they name none."""
    query = prompts.get("query") or ""
    document = next((prompts[name] for name in DOCUMENT_PROMPTS if prompts.get(name)), "")
    return Prefixes(document, query) if query or document else None
