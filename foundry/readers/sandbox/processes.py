"""Worker processes for what must not be trusted: the parsers of PDF, office files and mail.

A worker has limits of memory and processor time and no network (`worker`), its parent has a clock.
Bytes go in and an answer comes out; a worker that fails costs the one file. What workers do is a
module's `open_task`: they read files (`wire`), or do all that is to be done with a document.
"""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from foundry.readers.contract import TOO_MUCH, UnreadableError
from foundry.readers.sandbox.wire import parse_answer
from foundry.records import Reading

FILES_PER_WORKER = 200
"""A fresh worker takes over after so many, for libraries that keep memory."""

Answer = TypeVar("Answer")

_WORKER = Path(__file__).with_name("worker.py")


# One thread for each, since there are as many workers as cores; nothing of the user's environment,
# whose keys are no business of a document.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take: bytes of address space and of answer, seconds.

    `seconds_per_megabyte` is added to both times, for work that takes longer with larger files.
    """

    memory: int = 2 << 30
    cpu: int = 60
    wall: float = 150
    answer: int = 400_000_000
    seconds_per_megabyte: float = 0


class Sandbox:
    """Workers that are started when a file first needs one, and ended by `close`.

    Threads may share a sandbox: each file has a worker for itself meanwhile. `module` and `options`
    say what workers do.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        module: str = "foundry.readers.sandbox.wire",
        options: str = "",
    ) -> None:
        self._limits = limits or Limits()
        self._task = {"module": module, "options": options}
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False

    def read(self, version: str, content: bytes) -> Reading:
        """Have the reader of that version read a file. Raises UnreadableError."""
        return self.ask({"reader": version}, content, parse_answer)

    def ask(
        self,
        request: Mapping[str, object],
        content: bytes,
        parse: Callable[[bytes], Answer],
        *,
        wears: bool = True,
    ) -> Answer:
        """Have a worker answer a request about a file. Raises UnreadableError.

        `parse` checks the answer and may raise the same. A worker is replaced after
        `FILES_PER_WORKER` requests that wear it out.
        """
        worker = self._take()
        self._busy.add(worker)
        try:
            return parse(worker.ask(request, content, wears=wears))
        except UnreadableError as error:
            if error.reason == TOO_MUCH:
                # What is left of its memory would be the next file's limit.
                worker.end()
            raise
        except BaseException:
            worker.end()
            raise
        finally:
            self._busy.discard(worker)
            if worker.is_usable and not self._is_closed:
                self._idle.append(worker)
            else:
                worker.end()

    def close(self) -> None:
        """End all workers; a request that is being answered fails."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().end()
        for worker in list(self._busy):
            worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _take(self) -> "_Worker":
        if self._is_closed:
            raise UnreadableError("reader crashed", "closed")
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_usable:
                    return worker
                worker.end()
        return _Worker(self._limits, self._task)


class _Worker:
    """One process, and the files it still may read."""

    def __init__(self, limits: Limits, task: Mapping[str, str]) -> None:
        self._limits = limits
        self._left = FILES_PER_WORKER
        options = json.dumps({**task, "memory": limits.memory, "path": sys.path})
        # Not in the user's folder either.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_WORKER), options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
        )

    @property
    def is_usable(self) -> bool:
        return self._left > 0 and self._process.poll() is None

    def ask(self, request: Mapping[str, object], content: bytes, *, wears: bool) -> bytes:
        """Send a file and wait for the answer; raises UnreadableError when none comes."""
        assert self._process.stdin and self._process.stdout
        self._left -= wears
        more = len(content) / 1e6 * self._limits.seconds_per_megabyte
        has_expired = threading.Event()
        clock = threading.Timer(self._limits.wall + more, self._expire, [has_expired])
        clock.daemon = True
        clock.start()
        try:
            frame = {**request, "bytes": len(content), "cpu": self._limits.cpu + int(more)}
            self._process.stdin.write(json.dumps(frame).encode() + b"\n")
            self._process.stdin.write(content)
            self._process.stdin.flush()
            size = int(json.loads(self._process.stdout.readline(100))["bytes"])
            if size > self._limits.answer:
                self._process.kill()
                raise UnreadableError(TOO_MUCH, "text")
            answer = self._process.stdout.read(size)
            if len(answer) < size:
                raise EOFError
        except (OSError, ValueError, TypeError, KeyError, EOFError):
            self._process.kill()
            raise self._explain(took_too_long=has_expired.is_set()) from None
        finally:
            clock.cancel()
        return answer

    def kill(self) -> None:
        """Kill the process; whoever waits for its answer gets none."""
        self._left = 0
        self._process.kill()

    def end(self) -> None:
        """Kill the process and close its pipes; may be called again."""
        self._left = 0
        self._process.kill()
        # A buffer that the process did not read any more is of no use.
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        self._process.wait()

    def _expire(self, has_expired: threading.Event) -> None:
        has_expired.set()
        self._process.kill()

    def _explain(self, *, took_too_long: bool) -> UnreadableError:
        code = self._process.wait()
        if took_too_long:
            return UnreadableError(TOO_MUCH, "time")
        if code == -signal.SIGXCPU:
            return UnreadableError(TOO_MUCH, "processor time")
        return UnreadableError("reader crashed", f"exit code {code}")
