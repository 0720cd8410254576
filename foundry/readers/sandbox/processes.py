"""Worker processes for untrusted parsers of PDF, office files and mail.

A worker has limits on memory and processor time and no network (`worker`); its parent limits the
elapsed time. If a worker fails, only its current document is lost. A module's `open_task` decides
what is done with a document.
"""

import json
import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Self

from foundry.documents import RawDocument
from foundry.documents.reasons import Reason
from foundry.readers.allowance import SECONDS_A_PAGE
from foundry.readers.contract import UnreadableError

OCR_SECONDS_A_PAGE = 2 * SECONDS_A_PAGE
"""Additional seconds per page that may be read from a picture, on a busy machine."""
FILES_PER_WORKER = 200
"""A worker is replaced after this many parsed files, since some libraries leak memory."""
TICK_SECONDS = 0.1
END_SECONDS = 1.0
"""How long an idle worker may take to end."""

_WORKER = Path(__file__).with_name("worker.py")
# Each worker uses one thread, because there is a worker per core. It gets no variables from the
# user's environment, which may contain keys.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one document: bytes of address space (`memory`) and of the `answer`.

    `cpu` and `wall` are seconds of processor time and of real time. For each megabyte of the
    document, `seconds_per_megabyte` is added to both.
    """

    memory: int = 2 << 30
    cpu: int = 60
    wall: float = 150
    answer: int = 400_000_000
    seconds_per_megabyte: float = 0


class Sandbox:
    """Workers that are started on demand, and ended by `close`.

    Threads can share a sandbox; each worker serves one thread at a time. Workers answer with
    `open_task(options)` of `module`.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        module: str = "foundry.readers.sandbox.reading",
        options: str = "",
    ) -> None:
        self._limits = limits or Limits()
        self._task = {"module": module, "options": options}
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = threading.Event()
        self._clock: threading.Thread | None = None

    def ask(self, raw: RawDocument) -> bytes:
        """Return a worker's answer about a document. Raises UnreadableError."""
        (answer,) = self.ask_all([raw])
        if isinstance(answer, UnreadableError):
            raise answer
        return answer

    def ask_all(
        self, raws: Sequence[RawDocument], begin: Callable[[RawDocument], None] = lambda _: None
    ) -> list[bytes | UnreadableError]:
        """Return the answers about documents, from one worker unless it has to be replaced.

        `begin` is called when the worker begins a document.
        """
        answers: list[bytes | UnreadableError] = []
        while left := raws[len(answers) :]:
            try:
                worker = self._take()
            except UnreadableError as error:
                return [*answers, *repeat(error, len(left))]
            self._busy.add(worker)
            try:
                worker.send(left)
                for raw in left:
                    begin(raw)
                    answers.append(worker.receive(raw))
                    if worker.is_worn:
                        break
            except UnreadableError as error:
                answers.append(error)
            except BaseException:
                worker.end()
                raise
            finally:
                self._busy.discard(worker)
                if worker.is_usable and not self._closed.is_set():
                    self._idle.append(worker)
                else:
                    worker.end()
        return answers

    def close(self) -> None:
        """End all workers; running requests fail."""
        self._closed.set()
        while self._idle:
            self._idle.pop().finish()
        for worker in list(self._busy):
            worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _take(self) -> "_Worker":
        if self._closed.is_set():
            raise UnreadableError(Reason.READER_CRASHED, "closed")
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_usable:
                    return worker
                worker.end()
        if self._clock is None:
            self._clock = threading.Thread(target=self._watch, name="sandbox clock", daemon=True)
            self._clock.start()
        return _Worker(self._limits, self._task)

    def _watch(self) -> None:
        """Kill workers that take too long: one timer for all costs less than one per document."""
        while not self._closed.wait(TICK_SECONDS):
            for worker in list(self._busy):
                if worker.is_late:
                    worker.kill()


def _command(options: str) -> list[str]:
    return [sys.executable, "-I", "-X", "utf8", str(_WORKER), options]


class _Worker:
    """A process, and the number of files it may still parse."""

    def __init__(self, limits: Limits, task: Mapping[str, str]) -> None:
        self._limits = limits
        self._left = FILES_PER_WORKER
        self._deadline = math.inf
        sizes = {"memory": limits.memory, "answer": limits.answer}
        options = json.dumps({**task, **sizes, "path": sys.path})
        self._process = subprocess.Popen(
            _command(options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
        )

    @property
    def is_worn(self) -> bool:
        return self._left <= 0

    @property
    def is_usable(self) -> bool:
        return not self.is_worn and self._process.poll() is None

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def send(self, raws: Sequence[RawDocument]) -> None:
        """Send documents. Raises UnreadableError if the worker does not accept them."""
        self._expect(raws[0])
        asked = [
            {
                "bytes": len(raw.content),
                "cpu": self._limits.cpu + int(self._more_seconds(raw)),
                "document": raw.describe(),
            }
            for raw in raws
        ]
        try:
            assert self._process.stdin
            parts = [json.dumps(asked).encode() + b"\n", *(raw.content for raw in raws)]
            self._process.stdin.write(b"".join(parts))
            self._process.stdin.flush()
        except OSError:
            raise self._explain() from None

    def receive(self, raw: RawDocument) -> bytes:
        """Wait for the answer to the next document. Raises UnreadableError if there is none."""
        self._expect(raw)
        try:
            assert self._process.stdout
            header = json.loads(self._process.stdout.readline(100))
            size = int(header["bytes"])
            self._left -= int(header["wear"])
            if size > self._limits.answer:
                self.kill()
                raise UnreadableError(Reason.TOO_MUCH, "text")
            answer = self._process.stdout.read(size)
            if len(answer) < size:
                raise EOFError
        except (OSError, ValueError, TypeError, KeyError, EOFError):
            raise self._explain() from None
        self._deadline = math.inf
        return answer

    def _expect(self, raw: RawDocument) -> None:
        patience = raw.ocr_pages * OCR_SECONDS_A_PAGE if raw.ocr else 0
        seconds = self._limits.wall + self._more_seconds(raw) + patience
        self._deadline = time.monotonic() + seconds

    def _more_seconds(self, raw: RawDocument) -> float:
        return len(raw.content) / 1e6 * self._limits.seconds_per_megabyte

    def kill(self) -> None:
        """Kill the process; a thread that waits for its answer gets UnreadableError."""
        self._left = 0
        self._process.kill()

    def finish(self) -> None:
        """Let the idle process end, so that the processor time of its fork is counted."""
        with suppress(OSError, subprocess.TimeoutExpired):
            if self._process.stdin:
                self._process.stdin.close()
            self._process.wait(END_SECONDS)
        self.end()

    def end(self) -> None:
        """Kill the process and close its pipes; may be called repeatedly."""
        self.kill()
        # Closing the pipe of a dead process fails if there is unsent data; the data is discarded.
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        self._process.wait()

    def _explain(self) -> UnreadableError:
        self.kill()
        code = self._process.wait()
        if self.is_late:
            return UnreadableError(Reason.TOO_MUCH, "time")
        if code == -signal.SIGXCPU:
            return UnreadableError(Reason.TOO_MUCH, "processor time")
        return UnreadableError(Reason.READER_CRASHED, f"exit code {code}")
