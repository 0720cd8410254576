"""Prepares one document: reads it, splits it, counts its terms, and embeds it if wanted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from foundry.building.documents.answers import check_answer
from foundry.building.documents.encoding import encode, encode_result
from foundry.building.documents.recipe import Recipe
from foundry.chunking import chunk
from foundry.chunking.blocks import cut_blocks
from foundry.chunking.lists import repeat_stems
from foundry.documents import Chunk, Document, RawDocument, Skipped, without_words
from foundry.documents.prepared import PreparedDocument
from foundry.documents.reasons import Reason
from foundry.embedding.providers.token_estimate import estimate_tokens
from foundry.embedding.static import StaticEmbedder
from foundry.errors import FoundryError
from foundry.indexing.keyword.headings import find_headings
from foundry.indexing.keyword.names import chunk_names
from foundry.indexing.keyword.terms import TermCounter
from foundry.indexing.links import link_keys
from foundry.indexing.queries.forms import forms_of
from foundry.indexing.records import chunk_headings
from foundry.readers import read
from foundry.readers.sandbox.reading import wear_of
from foundry.runtime.index.remembering import remember
from foundry.runtime.index.tokens import Tokenizer

REMEMBERED_WORDS = 200_000


class RememberingTokenizer(Tokenizer):
    """Caches the terms of tokens, and of the words in identifiers, across texts."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.token = remember(self._analyse, REMEMBERED_WORDS)
        self._remembered = remember(super()._word_terms, REMEMBERED_WORDS)

    def _word_terms(self, word: str) -> tuple[str, ...]:
        return self._remembered(word)


class Preparer:
    """Prepares documents by one recipe; the result depends only on recipe and document.

    The formats of `readers.reads_apart` are only read in worker processes.
    """

    def __init__(self, recipe: Recipe, *, is_worker: bool = False) -> None:
        self._recipe = recipe
        self._counter = TermCounter(RememberingTokenizer(recipe.language), recipe.fields)
        self._embedder = StaticEmbedder(recipe.language) if recipe.dimensions else None
        self._is_worker = is_worker

    def prepare(self, raw: RawDocument) -> PreparedDocument | Skipped:
        """Prepare a document, or return Skipped; never raises an error because of the content."""
        try:
            return self._prepare(raw)
        except (RecursionError, MemoryError) as error:
            return Skipped(raw.source, raw.path, Reason.TOO_MUCH, type(error).__name__)
        except FoundryError:
            raise
        except Exception as error:
            # One bad document, or a bug in a library, must not end a build.
            return Skipped(raw.source, raw.path, Reason.CANNOT_BE_PREPARED, type(error).__name__)

    def _prepare(self, raw: RawDocument) -> PreparedDocument | Skipped:
        document = read(raw, is_worker=self._is_worker)
        if isinstance(document, Skipped):
            return document
        document = replace(document, reading=without_words(document.reading))
        document = repeat_stems(cut_blocks(document, self._recipe.chunking), self._recipe.chunking)
        chunks = chunk(document, self._recipe.chunking, estimate_tokens)
        if not chunks:
            return Skipped(document.source, document.path, Reason.NO_TEXT)
        return self.complete(document, chunks)

    def complete(self, document: Document, chunks: Sequence[Chunk]) -> PreparedDocument:
        """Return a document with at least one chunk, and everything that an index needs from it."""
        vectors = None
        if self._embedder is not None:
            vectors = self._embedder.embed_chunks(
                ["\n".join(chunk_headings(document, piece)) for piece in chunks],
                [piece.text for piece in chunks],
            )
        names = chunk_names(document, chunks)
        terms = self._counter.count(document, chunks, names)
        headings = find_headings(names, terms, self._counter.namer)
        links = link_keys(document)
        forms = forms_of(
            "\n".join([*chunk_headings(document, piece), piece.text]) for piece in chunks
        )
        return PreparedDocument(document, tuple(chunks), terms, headings, links, forms, vectors)


def open_task(
    options: str,
) -> tuple[
    Callable[[dict[str, Any], bytes], tuple[bytes, int]],
    Callable[[dict[str, Any], bytes, bytes], bytes],
]:
    """Return a function that prepares documents in a worker, and one that checks its answers.

    `options` is the recipe as JSON.
    """
    recipe = Recipe.from_json(options)
    preparer = Preparer(recipe, is_worker=True)

    def answer(described: dict[str, Any], content: bytes) -> tuple[bytes, int]:
        raw = RawDocument.from_description(described, content)
        result = preparer.prepare(raw)
        return encode_result(raw, result), wear_of(raw, result)

    def check(described: dict[str, Any], content: bytes, answer: bytes) -> bytes:
        raw = RawDocument.from_description(described, content)
        result = check_answer(answer, raw, recipe)
        return encode(result) if isinstance(result, Skipped) else answer

    return answer, check
