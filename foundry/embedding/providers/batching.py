"""Embeds through one layer for all models: no text is embedded twice, truncated or lost.

Each text gets its prefix, is looked up in the cache, split if it exceeds the model's limit, and
sent in batches of the model's size, several at a time if the model allows it. Answers are cached at
once: if a build ends, only calls in progress are lost.
"""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from multiprocessing.pool import ThreadPool
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.providers.asking import Answer, Asker, StoppedError
from foundry.embedding.providers.model import EmbeddingModel, Side
from foundry.embedding.providers.splitting import average, make_batches, split_text
from foundry.embedding.vector_cache import VectorCache, VectorSpace
from foundry.errors import BuildError
from foundry.progress import tell_nobody

Item = TypeVar("Item")
Result = TypeVar("Result")
Vectors = NDArray[np.float32]

SAME_PROBE = 0.99
"""Minimum cosine between a model's vectors of one text at different times."""

SHOWN_CHARACTERS = 80
REMEMBERED_COUNTS = 4096


class BatchedModel:
    """A model behind the cache; for use by one thread, which may start others.

    A service may fail for up to `retry_seconds`. `refused` are the texts that the model has refused
    so far: `text` (its start), `sha256` of the whole, and `reason`.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        cache: VectorCache,
        *,
        retry_seconds: float = 600,
    ) -> None:
        self.model = model
        self.refused: list[dict[str, str]] = []
        self._cache = cache
        self._stop = threading.Event()
        self._asker = Asker(model, retry_seconds, self._stop)
        self._probe: Vectors | None = None
        # Counting is slow, so it is done once per text; the cache is bounded.
        self._count = lru_cache(REMEMBERED_COUNTS)(model.count_tokens)

    @property
    def answered(self) -> int:
        """Number of texts that the model embedded so far."""
        return self._asker.answered

    @property
    def dimensions(self) -> int:
        """Width of the vectors; the model is called if the width is not known yet."""
        if self._asker.dimensions is None:
            self._asker.dimensions = self._space("document").dimensions
        if self._asker.dimensions is None:
            self._begin()
        assert self._asker.dimensions is not None
        return self._asker.dimensions

    def embed(
        self, texts: Sequence[str], side: Side, progress: Callable[[int], object] = tell_nobody
    ) -> Vectors:
        """Return unit vectors (n, d); zeros for blank and refused texts.

        Texts may have any length, and come without prefixes; `progress` is called with the number
        of further texts done. Raises BuildError if the model fails, or the cache cannot be written;
        vectors embedded until then are kept.
        """
        space = self._space(side)
        parts = {text: self._split(text, side) for text in dict.fromkeys(texts)}
        wanted = [*dict.fromkeys(part for found in parts.values() for part in found)]
        vectors: dict[str, Vectors | None] = dict(zip(wanted, space.find(wanted), strict=True))
        self._check_width(vectors.values())
        missing = [part for part, vector in vectors.items() if vector is None]
        # A text is finished when its last requested part is.
        lacking = {text: [p for p in found if vectors[p] is None] for text, found in parts.items()}
        waiting = Counter(lacking[text][-1] for text in texts if lacking[text])
        progress(len(texts) - waiting.total())
        reasons: dict[str, str] = {}
        for answer in self._ask(missing, side, space) if missing else ():
            vectors.update(zip(answer.texts, answer.vectors, strict=True))
            reasons.update(zip(answer.texts, answer.reasons, strict=True))
            progress(sum(waiting[part] for part in answer.texts))
        rows = {
            text: self._join(text, [(part, vectors[part]) for part in found], reasons)
            for text, found in parts.items()
        }
        return np.array([rows[text] for text in texts], dtype=np.float32).reshape(
            len(texts), self.dimensions
        )

    def close(self) -> None:
        """Close the model and the cache."""
        self._stop.set()
        self.model.close()
        self._cache.close()

    def _space(self, side: Side) -> VectorSpace:
        model = self.model
        identity = {
            "provider": model.provider,
            "model": model.model,
            "revision": model.revision,
            "service": model.service,
            "dimensions": model.dimensions,
            "side": side if model.sides_differ else "",
            "prefix": model.prefixes.of(side),
        }
        return self._cache.space(json.dumps(identity, sort_keys=True))

    def _split(self, text: str, side: Side) -> list[str]:
        prefix, limit = self.model.prefixes.of(side), self.model.limits.tokens
        if prefix and self._count(prefix) * 2 > limit:
            raise BuildError(
                f"a prefix of {self._count(prefix)} tokens leaves no room for text among the"
                f" {limit} that the model accepts",
                hint="shorten embedding.document_prefix or query_prefix",
            )
        return split_text(text, lambda part: self._count(prefix + part) <= limit)

    def _ask(self, parts: Sequence[str], side: Side, space: VectorSpace) -> Iterator[Answer]:
        """Yield answers for parts, without prefixes, each cached before it is yielded."""
        self._begin()
        prefix = self.model.prefixes.of(side)
        batches = [
            [prefix + part for part in batch]
            for batch in make_batches(
                [(part, self._count(prefix + part)) for part in parts],
                self.model.limits,
                padded=not self.model.service,
            )
        ]

        def ask(batch: Sequence[str]) -> Iterator[Answer]:
            for answer in self._asker.ask(batch, side):
                bare = [text.removeprefix(prefix) for text in answer.texts]
                # This runs in the calling thread, so the next call waits until this answer is
                # stored.
                if not any(answer.reasons):
                    space.store(bare, answer.vectors)
                    self._keep_probe()
                yield Answer(bare, answer.vectors, answer.reasons)

        yield from run_threads(ask, batches, self.model.limits.calls, self._stop)

    def _begin(self) -> None:
        """Check, once, that the model works and that the cached vectors are from it.

        Raises BuildError.
        """
        self._stop.clear()
        if self._probe is not None:
            return
        space = self._space("document")
        probe = self._asker.ask_probe()
        before = space.probe
        if before is not None and (
            before.shape != probe.shape or float(before @ probe) < SAME_PROBE
        ):
            raise BuildError(
                f"{self.model.service or self.model.provider}: {self.model.model!r} has changed"
                " since its cached vectors were made: the vector of a known text is now different",
                hint="restore the former model, or delete .foundry/cache.sqlite to embed all texts"
                " with this one",
            )
        self._probe = probe

    def _keep_probe(self) -> None:
        # The probe is stored only if a second answer had the same width.
        space = self._space("document")
        if self._probe is not None and space.probe is None:
            space.keep_probe(self._probe)

    def _check_width(self, vectors: Iterable[Vectors | None]) -> None:
        for vector in vectors:
            if vector is not None and len(vector) != self.dimensions:
                raise BuildError(
                    f"the cache has {len(vector)}-dimensional vectors of the model"
                    f" {self.model.model!r}, which now returns {self.dimensions} dimensions",
                    hint="delete .foundry/cache.sqlite to embed all texts again",
                )

    def _join(
        self, text: str, parts: Sequence[tuple[str, Vectors | None]], reasons: dict[str, str]
    ) -> Vectors:
        """Return the vector (d,) of a text from the vectors of its parts.

        If the model refused a part, the vector is zero, and the text is added to `refused`.
        """
        nothing = np.zeros(self.dimensions, dtype=np.float32)
        bad = next((reasons[part] for part, _ in parts if reasons.get(part)), None)
        if bad is not None:
            digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
            excerpt = " ".join(text[: 4 * SHOWN_CHARACTERS].split())[:SHOWN_CHARACTERS]
            self.refused.append({"text": excerpt, "sha256": digest, "reason": bad})
            return nothing
        vectors = [vector for _, vector in parts if vector is not None]
        if len(vectors) < 2:
            return vectors[0] if vectors else nothing
        return average(vectors, [self.model.count_tokens(part) for part, _ in parts])


def run_threads(
    work: Callable[[Item], Iterable[Result]],
    items: Sequence[Item],
    count: int,
    stop: threading.Event,
) -> Iterator[Result]:
    """Yield the results of all items as they complete, using several threads.

    An error sets `stop`, and is raised after running calls have ended; `work` may check `stop` too.
    Ctrl-C ends the run at once, since these threads do not keep the process alive.
    """
    if count == 1:
        for item in items:
            yield from work(item)
        return

    def run(item: Item) -> tuple[list[Result], BaseException | None]:
        done: list[Result] = []
        try:
            for result in () if stop.is_set() else work(item):
                done.append(result)
        except StoppedError:
            pass
        except BaseException as raised:
            stop.set()
            return done, raised
        return done, None

    failure: BaseException | None = None
    # With ThreadPoolExecutor, Python would wait for the threads at exit.
    with ThreadPool(max(1, min(count, len(items)))) as pool:
        try:
            for done, error in pool.imap_unordered(run, items):
                failure = failure or error
                yield from done
        finally:
            stop.set()
    if failure:
        raise failure
