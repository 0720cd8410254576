"""Ask a model until it answers well: repeat, bisect, and tell bad texts from bad services.

A temporary failure is repeated for as long as `Patience` allows. A bad reply to several texts is
taken apart: each half is asked for by itself, down to the one text that the model does not take.
Such a text is asked for again, then in halves (a service may take less than it is said to), and is
refused in the end: it gets no vector, and the build goes on.

That is right only if the text is to blame. So before a text is refused the model must give the
probe, a harmless text, a good vector; if it does not, the service is to blame and the build stops.
It also stops when more than a few texts, and more than one in ten, have been refused.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.providers.model import EmbeddingModel, Side
from foundry.embedding.providers.retrying import Patience, StoppedError
from foundry.embedding.providers.splitting import average, find_cut
from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure, bad_reply

Vector = NDArray[np.float32]

PROBE_TEXT = "The quick brown fox jumps over the lazy dog."

PROBE_ATTEMPTS = 3

REPETITIONS = {None: 2, 500: 1}
"""How often one text that was answered badly is asked for again, by the status of the answer: a
service that gives wrong vectors may do so by chance, one that refuses a text has its reasons."""

PAUSE_SECONDS = 0.05
"""Before a text is asked for again; doubled each time."""

STUBBORN_ATTEMPTS = 4
"""Failures with status 500 of the same call, after which its texts are suspected."""

SHORTEST_HALVED_CHARS = 400
"""A refused text that is shorter is not tried in halves."""

MOST_REFUSED = 20
"""Texts that may be refused whatever their share."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Texts of a call, their unit vectors (n, d), and why a text got none, which is mostly ""."""

    texts: Sequence[str]
    vectors: NDArray[np.float32]
    reasons: Sequence[str]


class Asker:
    """Asks one model; any number of threads may share it.

    Args:
        model: The model.
        retry_seconds: See `Patience`.
        stop: Set when the run is to end.

    Attributes:
        answered: Number of texts that were given a vector, the probe aside.
        dimensions: Width of the vectors; None until it is known.
    """

    def __init__(self, model: EmbeddingModel, retry_seconds: float, stop: threading.Event) -> None:
        self._model = model
        self._patience = Patience(retry_seconds, stop)
        self._stop = stop
        self._lock = threading.Lock()
        self.answered = 0
        self._refused = 0
        self.dimensions: int | None = model.dimensions

    def ask_probe(self) -> Vector:
        """Return the vector (d,) of a harmless text, which must come well.

        Raises:
            BuildError: When it does not.
            StoppedError: When the run was stopped.
        """
        failure: EmbeddingFailure | None = None
        for attempt in range(PROBE_ATTEMPTS):
            try:
                text = self._model.prefixes.document + PROBE_TEXT
                self._pause(attempt)
                vector: Vector = self._call([text], "document", suspect_texts=False)[0]
                return vector
            except EmbeddingFailure as raised:
                failure = raised
        assert failure is not None
        raise BuildError(
            f"the model answers badly even to a plain sentence: {failure.message}",
            hint=failure.hint or "mend the service; what is embedded already is kept",
        )

    def ask(self, texts: Sequence[str], side: Side) -> Iterator[Answer]:
        """Ask for texts, prefixes included, and yield each answer at once.

        Raises:
            BuildError: When no vectors can be had.
            StoppedError: When the run was stopped.
        """
        try:
            vectors = self._call(texts, side)
        except EmbeddingFailure as failure:
            if len(texts) > 1:
                middle = len(texts) // 2
                yield from self.ask(texts[:middle], side)
                yield from self.ask(texts[middle:], side)
            else:
                yield self._settle(texts[0], side, failure)
            return
        with self._lock:
            self.answered += len(texts)
        yield Answer(texts, vectors, [""] * len(texts))

    def _settle(self, text: str, side: Side, failure: EmbeddingFailure) -> Answer:
        """Ask again for one text that was answered badly; refuse it if that does not help."""
        repetitions = REPETITIONS.get(failure.status, 0)
        vector = self._insist(text, side, repetitions)
        if vector is None:
            self.ask_probe()
            vector = self._ask_halves(text, side, repetitions)
        with self._lock:
            if vector is not None:
                self.answered += 1
                return Answer([text], vector[None, :], [""])
            self._refused += 1
            too_many = self._refused > max(MOST_REFUSED, self.answered // 9)
        if too_many:
            raise BuildError(
                f"the model refuses more than one text in ten, the last because: {failure.message}",
                hint="if they are too long for it, set embedding.max_tokens to what it takes",
            )
        assert self.dimensions is not None
        nothing = np.zeros((1, self.dimensions), dtype=np.float32)
        return Answer([text], nothing, [failure.message])

    def _insist(self, text: str, side: Side, times: int) -> Vector | None:
        for attempt in range(times):
            self._pause(attempt)
            try:
                vector: Vector = self._call([text], side)[0]
                return vector
            except EmbeddingFailure:
                continue
        return None

    def _ask_halves(self, text: str, side: Side, repetitions: int) -> Vector | None:
        prefix = self._model.prefixes.of(side)
        content = text.removeprefix(prefix)
        if len(content) < SHORTEST_HALVED_CHARS:
            return None
        middle = find_cut(content)
        vectors, tokens = [], []
        for part in (content[:middle], content[middle:]):
            half = prefix + part.strip()
            vector = self._insist(half, side, repetitions + 1)
            if vector is None:
                vector = self._ask_halves(half, side, repetitions)
            if vector is None:
                return None
            vectors.append(vector)
            tokens.append(self._model.count_tokens(half))
        joined = average(vectors, tokens)
        return joined if joined.any() else None

    def _call(
        self, texts: Sequence[str], side: Side, *, suspect_texts: bool = True
    ) -> NDArray[np.float32]:
        """Return one call, repeated while it fails for a time. Raises EmbeddingFailure for a bad
        reply."""
        failures = 0
        while True:
            self._patience.wait_for_turn()
            try:
                vectors = self._check(self._model.embed(texts, side), len(texts))
            except EmbeddingFailure as failure:
                if failure.is_bad_reply:
                    raise
                if not failure.is_temporary:
                    raise BuildError(failure.message, hint=failure.hint) from None
                failures += 1
                if suspect_texts and failure.status == 500 and failures >= STUBBORN_ATTEMPTS:
                    # Some services fail so at a text that they cannot embed.
                    self.ask_probe()
                    raise EmbeddingFailure(failure.message, is_bad_reply=True, status=500) from None
                self._patience.wait_after(failure, failures)
            else:
                self._patience.succeeded()
                return vectors

    def _pause(self, attempt: int) -> None:
        if attempt and self._stop.wait(PAUSE_SECONDS * 2**attempt):
            raise StoppedError

    def _check(self, vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        if len(vectors) != count:
            raise bad_reply(f"{len(vectors)} vectors came back for {count} texts")
        with self._lock:
            if self.dimensions is None:
                self.dimensions = vectors.shape[1]
        if vectors.shape[1] != self.dimensions:
            raise bad_reply(
                f"vectors of {vectors.shape[1]} numbers came back, where the model has given"
                f" {self.dimensions} before",
                hint="if it was changed on purpose, delete .foundry/cache.sqlite",
            )
        return vectors
