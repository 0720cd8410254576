"""Embeds documents with a model, and queries with it or with an encoder distilled from it.

In English, a chunk's vector is the model's vector concatenated with the built-in table's: together
they find more than either alone (`benchmarks/results/embeddings.md`). The encoder learns to imitate
both. If the model itself embeds queries, documents only have the model's vectors.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from foundry.config.file import EmbeddingSection
from foundry.embedding.distil.corpus_texts import embedded_text
from foundry.embedding.distil.distill import unit_rows
from foundry.embedding.distil.query_distillation import (
    DistillationOptions,
    DistilledQueries,
    distil_queries,
)
from foundry.embedding.embedder import (
    Contract,
    Embedder,
    OverlapMeasure,
    QueryEncoder,
    QueryFigures,
    Vectors,
)
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.static import StaticEmbedder
from foundry.progress import StartStep, tell_nobody
from foundry.runtime.index.records import ChunkRecord

MINIMUM_OVERLAP = 0.7
"""Minimum overlap of a good encoder's ten best chunks with the model's, corrected for chance.

Chosen from the table in `benchmarks/results/embeddings.md`: above it, the encoder keeps nearly all
of its teacher's nDCG; below it, the loss grows fast.
"""

MINIMUM_HELD_OUT = 30
"""Minimum number of held-out texts; with fewer, the measured overlap is not reliable."""

TABLE_LANGUAGE = "english"
"""The only language of the built-in table."""


class ModelEmbedder(Embedder):
    """An embedder for any model."""

    def __init__(
        self, model: BatchedModel, options: EmbeddingSection, language: str, step: StartStep
    ) -> None:
        self._model = model
        self._options = options
        self._language = language
        self._step = step
        has_table = language == TABLE_LANGUAGE and options.query != "same"
        self._table = StaticEmbedder(language) if has_table else None

    @property
    def contract(self) -> Contract:
        """The contract for the manifest; complete once a text has been embedded."""
        model = self._model.model
        alone = Contract(
            model.provider,
            model.model,
            model.revision,
            self._model.dimensions,
            model.prefixes.document,
            model.prefixes.query,
        )
        if self._table is None:
            return alone
        table = self._table.contract
        return replace(
            alone,
            model=f"{alone.model} + {table.model}",
            revision="+".join(filter(None, (alone.revision, table.revision))),
            dimensions=alone.dimensions + table.dimensions,
        )

    @property
    def embedded(self) -> int:
        """Number of texts that the model embedded so far."""
        return self._model.answered

    def refusals(self) -> list[dict[str, str]]:
        """Return the texts that have no vector, with reasons."""
        return self._model.refused

    def embed_documents(
        self,
        headings: Sequence[str],
        texts: Sequence[str],
        progress: Callable[[int], object] = tell_nobody,
    ) -> Vectors:
        """Return the vectors (n, dimensions) of texts, each with its heading.

        A text has a zero row if the model refuses it and the table, if one is used, cannot embed
        it either.
        """
        joined = list(map(embedded_text, headings, texts))
        vectors = self._model.embed(joined, "document", progress)
        return self._add_table(vectors, headings, texts)

    def _add_table(
        self, vectors: Vectors, headings: Sequence[str], texts: Sequence[str]
    ) -> Vectors:
        """Append the table's vectors of texts to the model's (n, d), if the table is used.

        Both have equal weight; if one is zero, the other has unit length.
        """
        if self._table is None:
            return vectors
        known = self._table.embed_documents(headings, texts)
        return unit_rows(np.concatenate([vectors, known], axis=1))

    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Distil an encoder, and choose between it and the model as configured.

        `auto` chooses the model, which a server then has to run or call, only if the encoder falls
        short of its teacher. Documents are then embedded with the model alone.
        """
        wanted = self._options.query
        if wanted == "same":
            return self._ask_model(QueryFigures("same", "foundry.toml asks for it"))
        distilled = self._distil(chunks)
        held_out = distilled.held_out
        overlap_at_10 = overlap(held_out.texts, held_out.targets, held_out.encoded)
        if wanted == "distilled":
            encoder, reason = "distilled", "foundry.toml asks for it"
        elif overlap_at_10 is None or len(held_out.texts) < MINIMUM_HELD_OUT:
            encoder, reason = (
                "distilled",
                "the corpus is too small to compare the trained table with its teacher",
            )
        elif overlap_at_10 >= MINIMUM_OVERLAP:
            encoder = "distilled"
            reason = f"overlap@10 with its teacher, beyond chance, reaches {MINIMUM_OVERLAP}"
        else:
            encoder = "same"
            reason = f"the trained table's overlap@10, beyond chance, is below {MINIMUM_OVERLAP}"
        figures = QueryFigures(
            encoder,
            reason,
            agreement=round(distilled.agreement, 4),
            overlap_at_10=None if overlap_at_10 is None else round(overlap_at_10, 4),
            taught=distilled.taught,
        )
        if figures.encoder == "same":
            return self._ask_model(figures)
        return QueryEncoder(figures, distilled.encode, distilled.write)

    def _ask_model(self, figures: QueryFigures) -> QueryEncoder:
        """Return the model itself as the encoder."""
        self._table = None
        return QueryEncoder(
            figures, lambda texts: self._model.embed(texts, "query"), self._model.model.write
        )

    def _distil(self, chunks: Callable[[], Iterable[ChunkRecord]]) -> DistilledQueries:
        model = self._model.model
        prefixes = model.prefixes
        are_alike = not model.sides_differ and prefixes.document == prefixes.query

        def teach(texts: Sequence[str]) -> Vectors:
            with self._step("Teaching", "texts", len(texts)) as progress:
                vectors = self._model.embed(texts, "query", progress.advance)
            return self._add_table(vectors, [""] * len(texts), texts)

        def teach_chunks(drawn: Sequence[ChunkRecord]) -> Vectors:
            headings = ["\n".join(chunk.headings()) for chunk in drawn]
            return self.embed_documents(headings, [chunk.text for chunk in drawn])

        options = DistillationOptions(
            texts=self._options.distillation_texts, language=self._language
        )
        # Vectors of chunks can be taken from the index if queries and chunks are embedded alike.
        known = teach_chunks if are_alike else None
        return distil_queries(chunks, teach, known, options, self._step)
