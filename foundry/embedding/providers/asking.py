"""Calls a model: retries, halves batches, and decides whether a text or the service is at fault.

Temporary failures are retried with growing waits. If a call with several texts gets a bad reply,
each half is requested separately, down to the single bad text. That text is retried, then requested
in halves (a service may accept less than it claims), and finally refused: it gets no vector, and
the build continues.

A text is only refused if the text itself causes the failure. So the model must first return a good
vector for the probe, a harmless text; otherwise the service is at fault, and the build stops. The
build also stops when more than a few texts, and more than one in ten, were refused.
"""

import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.providers.model import EmbeddingModel, Side
from foundry.embedding.providers.splitting import average, find_cut
from foundry.errors import BuildError
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure, bad_reply

Vector = NDArray[np.float32]

PROBE_TEXT = "The quick brown fox jumps over the lazy dog."

PROBE_ATTEMPTS = 3

REPETITIONS = {None: 2, 500: 1}
"""How many times a text is retried after a bad reply, by the reply's status.

Wrong vectors may be accidental; a rejected text is likely to be rejected again.
"""

PAUSE_SECONDS = 0.1
"""The pause after the first of several tries of a text; it doubles each time."""

STUBBORN_ATTEMPTS = 4
"""After this many failures with status 500, a text of the call may be the cause."""

SHORTEST_HALVED_CHARS = 400
"""Refused texts that are shorter than this are not retried in halves."""

MOST_REFUSED = 20
"""Number of refused texts that is tolerated whatever their share."""

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
UNPROVEN_SECONDS = 30.0
"""Time limit for reaching a service that has not answered yet: its address may be wrong."""


class StoppedError(Exception):
    """The run was stopped during a wait."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The texts of a call, their unit vectors (n, d), and the reason why a text has none, or ""."""

    texts: Sequence[str]
    vectors: NDArray[np.float32]
    reasons: Sequence[str]


class Asker:
    """Calls one model; threads can share it.

    A service may fail for up to `retry_seconds`; `stop` ends the run. Every method raises
    BuildError if vectors are unavailable, and StoppedError if the run was stopped. `answered`
    counts texts with a vector, except the probe; `dimensions` is None until the width is known.
    """

    def __init__(self, model: EmbeddingModel, retry_seconds: float, stop: threading.Event) -> None:
        self._model = model
        self._patience = _Patience(retry_seconds, stop)
        self._lock = threading.Lock()
        self.answered = 0
        self._refused = 0
        self.dimensions: int | None = model.dimensions

    def ask_probe(self) -> Vector:
        """Return the vector (d,) of a harmless text. Raises BuildError if there is none."""
        text = self._model.prefixes.document + PROBE_TEXT
        answer = self._insist(text, "document", PROBE_ATTEMPTS, suspect_texts=False)
        if isinstance(answer, EmbeddingFailure):
            raise BuildError(
                f"the model cannot embed even a plain sentence: {answer.message}",
                hint=answer.hint or "fix the service; finished embeddings are kept",
            )
        assert answer is not None
        return answer

    def ask(self, texts: Sequence[str], side: Side) -> Iterator[Answer]:
        """Embed texts, given with their prefixes, and yield each answer as soon as it arrives."""
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
        """Retry a text with a bad reply; refuse it if that does not help."""
        repetitions = REPETITIONS.get(failure.status, 0)
        vector = self._insist(text, side, repetitions)
        if not isinstance(vector, np.ndarray):
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
                hint="if the texts are too long, set embedding.max_tokens to the model's limit",
            )
        assert self.dimensions is not None
        nothing = np.zeros((1, self.dimensions), dtype=np.float32)
        return Answer([text], nothing, [failure.message])

    def _insist(
        self, text: str, side: Side, times: int, *, suspect_texts: bool = True
    ) -> Vector | EmbeddingFailure | None:
        """Return the vector of a text, or the failure of the last try; None if `times` is 0."""
        failure = None
        for attempt in range(times):
            if attempt:
                self._patience.pause(PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                vector: Vector = self._call([text], side, suspect_texts=suspect_texts)[0]
                return vector
            except EmbeddingFailure as raised:
                failure = raised
        return failure

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
            if not isinstance(vector, np.ndarray):
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
        """Make one call, retrying temporary failures; raises EmbeddingFailure for a bad reply."""
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
                    # Some services answer like this if they cannot embed a text.
                    self.ask_probe()
                    raise EmbeddingFailure(failure.message, is_bad_reply=True, status=500) from None
                self._patience.wait_after(failure, failures)
            else:
                self._patience.succeeded()
                return vectors

    def _check(self, vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        if len(vectors) != count:
            raise bad_reply(f"{len(vectors)} vectors came back for {count} texts")
        with self._lock:
            if self.dimensions is None:
                self.dimensions = vectors.shape[1]
        if vectors.shape[1] != self.dimensions:
            raise bad_reply(
                f"vectors of {vectors.shape[1]} numbers came back, but the model returned"
                f" {self.dimensions} before",
                hint="if the model was changed on purpose, delete .foundry/cache.sqlite",
            )
        return vectors


class _Patience:
    """Decides when to retry a failing service and when to give up, for all threads of a run.

    Waits grow exponentially with full jitter (Brooker, "Exponential Backoff And Jitter", 2015), and
    are never shorter than Retry-After, which delays all calls alike. The limit is on the time since
    the service began to fail, so a build of hours may be interrupted any number of times.
    """

    def __init__(self, seconds: float, stop: threading.Event) -> None:
        self._seconds = seconds
        self._stop = stop
        self._lock = threading.Lock()
        self._failing_since: float | None = None
        self._not_before = 0.0
        self._is_proven = False

    def succeeded(self) -> None:
        with self._lock:
            self._failing_since = None
            self._is_proven = True

    def wait_for_turn(self) -> None:
        """Wait as long as the service has asked for."""
        self.pause(self._not_before - time.monotonic())

    def wait_after(self, failure: EmbeddingFailure, attempt: int) -> None:
        """Wait before a retry after `attempt` failures. Raises BuildError if time is up."""
        now = time.monotonic()
        with self._lock:
            if self._failing_since is None:
                self._failing_since = now
            is_lost = failure.is_unreachable and not self._is_proven
            allowed = min(self._seconds, UNPROVEN_SECONDS) if is_lost else self._seconds
            left = self._failing_since + allowed - now
            if left <= 0:
                kept = "finished embeddings are kept: build again to continue from there"
                raise BuildError(
                    f"{failure.message} (given up after {now - self._failing_since:.0f} s)",
                    hint=f"{failure.hint}; {kept}" if failure.hint else kept,
                )
            wait = random.uniform(0, min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**attempt))
            wait = min(max(wait, failure.retry_after or 0.0), left)
            if failure.retry_after:
                self._not_before = max(self._not_before, now + min(failure.retry_after, left))
        self.pause(wait)

    def pause(self, seconds: float) -> None:
        """Wait some seconds, if positive. Raises StoppedError."""
        if self._stop.is_set() or (seconds > 0 and self._stop.wait(seconds)):
            raise StoppedError
