"""Worker processes for formats whose parsers must not be trusted: PDF, office files, mail.

A worker has limits of memory and processor time and no network (`worker`), its parent has a clock.
Bytes go in and a reading comes out, as JSON; a worker that fails costs the one file.
"""

import json
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from foundry.readers.contract import TOO_MUCH, UnreadableError
from foundry.readers.wire import parse_answer
from foundry.records import Reading

FILES_PER_WORKER = 200
"""A fresh worker takes over after so many, for libraries that keep memory."""

_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may take: bytes of address space and of answer, seconds."""

    memory: int = 2 << 30
    cpu: int = 60
    wall: float = 150
    answer: int = 400_000_000


class Sandbox:
    """Workers that are started when a file first needs one, and ended by `close`.

    Threads may share a sandbox: each file has a worker for itself meanwhile.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._idle: list[_Worker] = []

    def read(self, version: str, content: bytes) -> Reading:
        """Have the reader of that version read a file. Raises UnreadableError."""
        worker = self._take()
        try:
            return parse_answer(worker.ask(version, content))
        except UnreadableError as error:
            if error.reason == TOO_MUCH:
                # What is left of its memory would be the next file's limit.
                worker.end()
            raise
        except BaseException:
            worker.end()
            raise
        finally:
            if worker.is_usable:
                self._idle.append(worker)
            else:
                worker.end()

    def close(self) -> None:
        """End all workers."""
        while self._idle:
            self._idle.pop().end()

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
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_usable:
                    return worker
                worker.end()
        return _Worker(self._limits)


class _Worker:
    """One process, and the files it still may read."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = FILES_PER_WORKER
        options = json.dumps({**asdict(limits), "path": sys.path})
        # Not in the user's folder and not with the user's environment, whose keys are no business
        # of a document.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_WORKER), options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
        )

    @property
    def is_usable(self) -> bool:
        return self._left > 0 and self._process.poll() is None

    def ask(self, version: str, content: bytes) -> bytes:
        """Send a file and wait for the answer; raises UnreadableError when none comes."""
        assert self._process.stdin and self._process.stdout
        self._left -= 1
        has_expired = threading.Event()
        clock = threading.Timer(self._limits.wall, self._expire, [has_expired])
        clock.daemon = True
        clock.start()
        try:
            request = json.dumps({"reader": version, "bytes": len(content)}).encode()
            self._process.stdin.write(request + b"\n")
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
