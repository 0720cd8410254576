"""Documents embedded by a model; queries by an encoder trained after it, or by the model itself."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from foundry.config.file import EmbeddingSection
from foundry.embedding.distil.corpus_texts import embedded_text
from foundry.embedding.distil.known_items import compare_with_table
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
from foundry.progress import Progress, StartStep
from foundry.runtime.index.records import ChunkRecord

MINIMUM_OVERLAP = 0.7
"""Of the encoder's ten best chunks with the model's, beyond chance, to be as good as the model.

Chosen by the table in `benchmarks/results/embeddings.md`: above it the encoder keeps nearly all
of the model's nDCG, below it the loss grows fast.
"""

MINIMUM_HELD_OUT = 30
"""Texts: an overlap measured on fewer says little."""


class ModelEmbedder(Embedder):
    """An embedder around any model."""

    def __init__(
        self, model: BatchedModel, options: EmbeddingSection, language: str, step: StartStep
    ) -> None:
        self._model = model
        self._options = options
        self._language = language
        self._step = step

    @property
    def contract(self) -> Contract:
        """The contract for the manifest; complete once a text has been embedded."""
        model = self._model.model
        return Contract(
            model.provider,
            model.model,
            model.revision,
            self._model.dimensions,
            model.prefixes.document,
            model.prefixes.query,
        )

    @property
    def embedded(self) -> int:
        """Number of texts that the model has embedded so far."""
        return self._model.answered

    def refusals(self) -> list[dict[str, str]]:
        """Return texts so far that have no vector, with the reason."""
        return self._model.refused

    def embed_documents(
        self, headings: Sequence[str], texts: Sequence[str], progress: Callable[[int], object]
    ) -> Vectors:
        """Vectors (n, dimensions) of texts, each below its headings.

        A zero row stands for a text that the model refuses.
        """
        return self._model.embed(_join_all(headings, texts), "document", progress)

    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Distil an encoder, and choose between it and the model as the configuration says.

        `auto` takes the model, which a server then has to run or to reach, only where that is known
        to find more: the encoder falls short of the model, and the model beats the built-in table.
        """
        wanted = self._options.query
        if wanted == "same":
            return self._ask_model(QueryFigures("same", "foundry.toml asks for it"))
        distilled = self._distil(chunks)
        held_out = distilled.held_out
        overlap_at_10 = overlap(held_out.texts, held_out.targets, held_out.encoded)
        self.known_items = compare_with_table(
            chunks,
            lambda texts: self._model.embed(texts, "document"),
            lambda texts: self._model.embed(texts, "query"),
            overlap,
        )
        if wanted == "distilled":
            encoder, reason = "distilled", "foundry.toml asks for it"
        elif overlap_at_10 is None or len(held_out.texts) < MINIMUM_HELD_OUT:
            encoder, reason = "distilled", "the corpus is too small to tell it from the model"
        elif overlap_at_10 >= MINIMUM_OVERLAP:
            encoder = "distilled"
            reason = f"overlap@10 with the model, beyond chance, reaches {MINIMUM_OVERLAP}"
        elif self.known_items is not None and not self.known_items.is_gain:
            encoder = "distilled"
            reason = "the model itself finds no more than the built-in table"
        else:
            encoder = "same"
            reason = f"overlap@10 with the model, beyond chance, is below {MINIMUM_OVERLAP}"
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
        """Return the model itself, which the server will ask as well."""
        return QueryEncoder(
            figures, lambda texts: self._model.embed(texts, "query"), lambda _folder: ""
        )

    def _distil(self, chunks: Callable[[], Iterable[ChunkRecord]]) -> DistilledQueries:
        model = self._model.model
        prefixes = model.prefixes
        are_alike = not model.sides_differ and prefixes.document == prefixes.query

        def teach(texts: Sequence[str]) -> Vectors:
            with self._step("Teaching", "texts", len(texts)) as progress:
                return self._model.embed(texts, "query", progress.advance)

        def teach_chunks(texts: Sequence[str]) -> Vectors:
            return self._model.embed(texts, "document")

        options = DistillationOptions(
            texts=self._options.distillation_texts, language=self._language
        )
        with ExitStack() as stack:
            # Begun with the first pass, since two steps cannot be shown at a time.
            passes: list[Progress] = []

            def count_pass(_epoch: object) -> None:
                if not passes:
                    step = self._step("Training", "passes", options.epochs)
                    passes.append(stack.enter_context(step))
                passes[0].advance()

            # Chunks' vectors are known from the index where a text means the same on both sides.
            return distil_queries(
                chunks, teach, teach_chunks if are_alike else None, options, count_pass
            )


def _join_all(headings: Sequence[str], texts: Sequence[str]) -> list[str]:
    return [embedded_text(heading, text) for heading, text in zip(headings, texts, strict=True)]
