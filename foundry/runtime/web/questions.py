"""Logs questions that found little, and readers' thumbs, to a file for the server's owner.

QUESTION_LOG names the file; without it nothing is logged. Each line is JSON in ASCII: a query with
its day, match and documents shown, or a query with a document and a thumb. It contains nothing
about the person, except what they typed. A thread of each process appends to the file, so that
searches neither wait for the disk nor fail with it.
"""

import errno
import fcntl
import json
import logging
import math
import os
import re
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Any

from ..errors import ConfigurationError
from ..index.layout import PACKAGED_INDEX
from ..retrieval.results import SearchResponse
from ..settings import read_variable
from .stopping import stopping

VARIABLE = "QUESTION_LOG"
MAX_FILE_BYTES = 8 * 1024 * 1024  # A longer file is renamed to `.1`, replacing the previous one.
TYPING_SECONDS = 10.0  # The page searches while the user types; only the last query is logged.
MAX_HELD = 100  # Unfinished questions; if there are more, the oldest is written early.
MAX_WAITING = 1_000  # Queued lines; further ones are lost.
MAX_QUERY_CHARACTERS, MAX_DOCUMENTS = 500, 10
DISK_SECONDS = 5.0  # Maximum wait for the disk

_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_logger = logging.getLogger(__name__)

Count = Callable[[str], None]
"""Called for each line: `kept`, or `lost` because it could not be written."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A queued line: a question, which waits in case typing continues, or a thumb."""

    content: bytes = b""
    question: str = ""
    due: float = 0.0
    outcome: Future[bool] | None = None  # Its result is whether the line was written

    def replaces(self, other: "_Line") -> bool:
        """Return whether an earlier question may be an unfinished form of this one.

        One of the two must begin with the other.
        """
        own, its = self.question, other.question
        return own.startswith(its) or its.startswith(own)


class QuestionLog:
    """Queues questions, and writes them to a file in a thread, if a file is configured."""

    def __init__(self, file: Path | None, count: Count = lambda _result: None) -> None:
        """Create the log; nothing is written yet."""
        self.file = file
        self._count = count
        self._lines: Queue[_Line | Future[None]] = Queue(MAX_WAITING)
        self._held: list[_Line] = []
        self._lock = threading.Lock()
        self._process = 0
        self._descriptor: int | None = None
        self._is_failing = self._is_cut = False

    @classmethod
    def open(cls, count: Count = lambda _result: None) -> "QuestionLog":
        """Return the log configured in the environment, creating its file if it does not exist.

        Raises ConfigurationError if the path is relative, within the server or its index, or not
        writable.
        """
        written = read_variable(VARIABLE)
        if written is None:
            _logger.warning("questions are not logged: %s is not set", VARIABLE)
            return cls(None, count)
        file, package = Path(written), Path(__file__).parents[1]
        taken = [package, Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX)]
        # Unlike `Path.exists`, this does not raise if a folder above denies access.
        if os.access(package.parent / "SHA256SUMS", os.F_OK):
            taken.append(package.parent)
        if not file.is_absolute() or any(
            Path(os.path.realpath(file)).is_relative_to(folder.resolve()) for folder in taken
        ):
            problem = (
                f"{VARIABLE}: {written} is not an absolute path outside the server and its index"
            )
            raise ConfigurationError(
                problem, hint="set it to a file such as /var/lib/questions.jsonl"
            )
        try:
            os.close(_open_private(file))
            if not os.access(file.parent, os.W_OK | os.X_OK):
                # Rotation renames the file, so its folder must be writable.
                raise PermissionError(errno.EACCES, f"no permission to write in {file.parent}")
        except OSError as error:
            problem = f"{VARIABLE}: {written} cannot be written: {error.strerror}"
            hint = "create its folder, and make it writable for the user that runs the server"
            raise ConfigurationError(problem, hint=hint) from None
        log = cls(file, count)
        stopping.last.append(log.finish)
        return log

    def keep(self, search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
        """Wrap a search so that its questions without a strong match are logged."""
        if self.file is None:
            return search

        @wraps(search)
        def kept(query: str, *arguments: Any, **options: Any) -> SearchResponse:
            response = search(query, *arguments, **options)
            question, due = _plain(query), time.monotonic() + TYPING_SECONDS
            if response.match != "strong":
                shown = dict.fromkeys(hit.document_id for hit in response.hits)
                content = _encode(
                    question,
                    match=response.match,
                    mode=response.mode,
                    results=len(response.hits),
                    documents=[*shown][:MAX_DOCUMENTS],
                )
                self._put(_Line(content, question.casefold(), due))
            elif self._held or self._lines.unfinished_tasks:
                self._put(_Line(question=question.casefold(), due=due))
            return response

        return kept

    def add_thumb(self, query: str, document: str, thumb: str) -> bool:
        """Log a reader's thumb for a document that a query found; return whether it was written."""
        if self.file is None:
            return False
        outcome: Future[bool] = Future()
        content = _encode(_plain(query), document=document, thumb=thumb)
        self._put(_Line(content, outcome=outcome))
        try:
            return outcome.result(DISK_SECONDS)
        except TimeoutError:
            return False

    def finish(self) -> None:
        """Write all lines, including those of unfinished questions, as the server stops."""
        if self._process == os.getpid():
            done: Future[None] = Future()
            with suppress(Full, TimeoutError):
                self._lines.put(done, timeout=DISK_SECONDS)
                done.result(DISK_SECONDS)

    def _put(self, line: _Line) -> None:
        with self._lock:
            # Neither the thread nor the queue survives the fork of a worker.
            if self._process != os.getpid():
                self._process, self._lines, self._held = os.getpid(), Queue(MAX_WAITING), []
                threading.Thread(target=self._write_all, name="questions", daemon=True).start()
        try:
            self._lines.put_nowait(line)
        except Full:
            self._count("lost")
            if line.outcome is not None:
                line.outcome.set_result(False)

    def _write_all(self) -> None:
        while True:
            wait = max(0.0, self._held[0].due - time.monotonic()) if self._held else None
            try:
                line = self._lines.get(timeout=wait)
            except Empty:
                self._write_due(time.monotonic())
                continue
            if isinstance(line, Future):
                self._write_due(math.inf)
                line.set_result(None)
            elif not line.question:
                is_kept = self._try_to_write(line.content)
                if line.outcome is not None:
                    line.outcome.set_result(is_kept)
            else:
                self._held = [other for other in self._held if not line.replaces(other)]
                self._held += [line] if line.content else []
                self._write_due(time.monotonic())
            self._lines.task_done()

    def _write_due(self, now: float) -> None:
        while self._held and (self._held[0].due <= now or len(self._held) > MAX_HELD):
            self._try_to_write(self._held.pop(0).content)

    def _try_to_write(self, line: bytes) -> bool:
        try:
            self._write(line)
        except OSError as error:
            if not self._is_failing:
                _logger.error("questions are lost: %s: %s", self.file, error.strerror)
            self._is_failing = True
            self._count("lost")
            return False
        self._is_failing = False
        self._count("kept")
        return True

    def _write(self, line: bytes) -> None:
        # This ends a line that a full disk has truncated.
        line = b"\n" + line if self._is_cut else line
        written = os.write(self._open(), line)
        self._is_cut = written < len(line)
        if self._is_cut:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _open(self) -> int:
        """Return a descriptor of the file, open for appending; a full file is renamed first."""
        assert self.file is not None
        while True:
            if self._descriptor is None:
                self._descriptor = _open_private(self.file)
            descriptor = self._descriptor
            if self._is_current(descriptor):
                if os.fstat(descriptor).st_size < MAX_FILE_BYTES:
                    return descriptor
                # Another process may be rotating the file.
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is_current(descriptor):
                    self.file.replace(f"{self.file}.1")
            self._descriptor = None
            os.close(descriptor)

    def _is_current(self, descriptor: int) -> bool:
        """Return whether the path still leads to the open file; the owner may have removed it."""
        assert self.file is not None
        try:
            return os.path.samestat(self.file.lstat(), os.fstat(descriptor))
        except FileNotFoundError:
            return False


def _plain(query: str) -> str:
    return _BLANK.sub(" ", query).strip()[:MAX_QUERY_CHARACTERS]


def _encode(query: str, **told: object) -> bytes:
    day = datetime.now(UTC).date().isoformat()
    return json.dumps({"day": day, "query": query, **told}, separators=(",", ":")).encode() + b"\n"


def _open_private(file: Path) -> int:
    """Open a file with access for its owner only; links are refused. Raises OSError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(file, flags, 0o600)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if stat.S_IMODE(mode) & 0o077:
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
