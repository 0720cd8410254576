"""Distils the query encoder of a corpus from the model that embedded its documents.

    texts drawn from the corpus -> the model's vectors -> initial rows -> training -> figures

The initial rows are the rows of the built-in encoder, mapped linearly into the model's space, so
that words outside the corpus have a meaning too; training then changes the rows that the corpus
uses. Finally, rows are weighted by the rarity of their pieces among the chunks. The model does not
know this rarity, so the encoder becomes slightly less similar to the model, but it finds more
(`benchmarks/distillation.py`). Held-out texts decide when to stop, and measure the result.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from foundry.embedding.distil.corpus_pieces import WordCounts, own_pieces
from foundry.embedding.distil.corpus_texts import chunk_text, draw_chunks, draw_texts
from foundry.embedding.distil.distill import (
    Matrix,
    Options,
    count_pieces,
    quantise_rows,
    train,
)
from foundry.embedding.distil.starting_rows import starting_rows
from foundry.embedding.embedder import Vectors
from foundry.embedding.encoder_files import rarity_factors, write_encoder
from foundry.embedding.many_texts import encode_all
from foundry.files import english_pieces
from foundry.progress import Progress, StartStep
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.encoder import EncoderDescription, PieceCutter, PieceEncoder

NAME = "distilled"
MINIMUM_COVERAGE = 0.6
HELD_OUT_SHARE = 0.1
MAX_HELD_OUT = 400
Teach = Callable[[Sequence[str]], Vectors]
"""Returns unit vectors (n, d) of texts; zero rows for those that cannot be embedded."""

TeachChunks = Callable[[Sequence[ChunkRecord]], Vectors]
"""Returns unit vectors of chunks, like `Teach`."""


@dataclass(frozen=True, slots=True)
class DistillationOptions(Options):
    """Options of distillation; `seed` decides every draw.

    The model embeds up to `texts` query-like texts, drawn from up to `chunks` chunks. If its
    vectors of chunks are known, the encoder is trained on them too.
    """

    texts: int = 16_000
    chunks: int = 16_000
    language: str = "english"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out texts: unit vectors (n, d) of the model and of the encoder.

    A text that the encoder cannot embed has a zero row.
    """

    texts: Sequence[str]
    targets: Vectors
    encoded: Vectors


@dataclass(frozen=True, slots=True)
class DistilledQueries:
    """The trained encoder.

    `agreement` is the mean cosine between model and encoder over held-out texts, `taught` the
    number of texts that the model embedded for training.
    """

    held_out: HeldOut
    agreement: float
    taught: int
    _encoder: PieceEncoder
    _pieces: Sequence[str]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts like the server: unit vectors (n, d), or zero rows."""
        return encode_all(self._encoder, texts)

    def write(self, directory: Path) -> None:
        """Write the encoder's files to a new folder."""
        write_encoder(directory, self._encoder, self._pieces)


def distil_queries(
    chunks: Callable[[], Iterable[ChunkRecord]],
    teach: Teach,
    teach_chunks: TeachChunks | None = None,
    options: DistillationOptions | None = None,
    step: StartStep = lambda *_: Progress(),
) -> DistilledQueries:
    """Train a query encoder to imitate a model.

    `chunks` returns all chunks, grouped by document; it is called several times. `teach` returns
    the model's vectors of texts as queries, `teach_chunks` the known vectors of chunks; it is None
    if queries are embedded differently from documents. `step` reports progress of the training.

    The same chunks, vectors and options give the same files on any x86-64 machine.
    """
    options = options or DistillationOptions()
    words = WordCounts(chunks())
    drawn = draw_chunks(chunks, options.chunks, seed=options.seed)
    texts = draw_texts(
        drawn,
        options.texts,
        seed=options.seed,
        language=options.language,
        common_words=words.common_words(),
    )
    targets = teach(texts)
    taught = len(texts)
    if teach_chunks is not None:
        texts = [*texts, *map(chunk_text, drawn)]
        targets = np.concatenate([targets, teach_chunks(drawn)])
    usable = np.flatnonzero(targets.any(axis=1))
    kept_back = usable[usable < taught][: min(MAX_HELD_OUT, round(taught * HELD_OUT_SHARE))]
    # The first texts are held out, since the sample is mixed, and chunks come last.
    pieces, rows = _train(
        [texts[number] for number in usable],
        targets[usable],
        len(kept_back),
        words,
        options,
        step,
    )
    # Pieces that few chunks contain are more distinctive.
    counts = count_pieces([chunk_text(chunk) for chunk in drawn], pieces, options.language)
    occurs = np.diff(counts.tocsc().indptr)
    rows *= rarity_factors(occurs, len(drawn)).astype(np.float32)[:, None]
    table, weights = quantise_rows(rows)
    encoder = PieceEncoder(
        EncoderDescription(
            NAME, table.shape[1], MINIMUM_COVERAGE, 0.0, sha256="", language=options.language
        ),
        PieceCutter(pieces, options.language),
        table,
        weights.astype(np.float64),
    )
    judged_texts = [texts[number] for number in kept_back]
    judged = HeldOut(judged_texts, targets[kept_back], encode_all(encoder, judged_texts))
    cosines = np.sum(judged.targets * judged.encoded, axis=1)
    agreement = float(cosines.mean()) if len(cosines) else 0.0
    return DistilledQueries(judged, agreement, taught, encoder, pieces)


def _train(
    texts: Sequence[str],
    targets: Matrix,
    held_out: int,
    words: WordCounts,
    options: DistillationOptions,
    step: StartStep,
) -> tuple[list[str], Matrix]:
    """Return pieces and rows; the first `held_out` texts only decide when to stop."""
    general = english_pieces()
    pieces = [*general, *own_pieces(general, words, language=options.language)]
    counts = count_pieces(texts, pieces, options.language)
    # Training would not improve the row of a corpus piece that occurs in no text.
    occurring = np.diff(counts.tocsc().indptr) > 0
    occurring[: len(general)] = True
    kept = np.flatnonzero(occurring)
    pieces, counts = [pieces[number] for number in kept], counts[:, kept]
    rows = starting_rows(general, pieces[len(general) :], counts[held_out:], targets[held_out:])
    if held_out and len(texts) > held_out:
        # Only pieces that occur in the texts are trained: the rows of the others would not change,
        # but they would need much memory.
        moving = np.flatnonzero(np.diff(counts.tocsc().indptr))
        with step("Training", "passes", options.epochs) as progress:
            rows[moving] = train(
                counts[:, moving],
                targets,
                rows[moving],
                options,
                progress=lambda _epoch: progress.advance(),
                held_out=np.arange(held_out),
            )
    known = np.flatnonzero(rows.any(axis=1))
    if len(known) == 0:
        known = np.arange(1)
    return [pieces[number] for number in known], rows[known]
