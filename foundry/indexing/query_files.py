"""Writes what the stages need of an index that read queries, if they were chosen."""

from collections.abc import Callable, Iterator

from foundry.config.search import IndexOptions
from foundry.indexing.completions import write_completions
from foundry.indexing.correction import write_correction
from foundry.indexing.synonyms import write_synonyms
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.stages.correction import FOLDER as CORRECTION
from foundry.runtime.retrieval.stages.suggestions import FOLDER as SUGGESTIONS
from foundry.runtime.retrieval.stages.synonyms import FOLDER as SYNONYMS
from foundry.runtime.retrieval.tokens import Tokenizer


def write_query_files(
    layout: IndexLayout,
    options: IndexOptions,
    tokenizer: Tokenizer,
    read_chunks: Callable[[], Iterator[ChunkRecord]],
) -> None:
    """Write the files of each stage that was chosen."""
    if options.correction_words:
        texts = ("\n".join([*chunk.headings(), chunk.text]) for chunk in read_chunks())
        known = [form for group in options.synonyms or () for form in (*group[0], *group[1])]
        write_correction(
            layout.root / CORRECTION, texts, tokenizer, options.correction_words, known
        )
    if options.suggested_words:
        root = layout.root / SUGGESTIONS
        write_completions(root, read_chunks(), tokenizer, options.suggested_words)
    if options.synonyms is not None:
        texts = (chunk.text for chunk in read_chunks() if options.acronyms)
        write_synonyms(layout.root / SYNONYMS, options.synonyms, texts, tokenizer)
