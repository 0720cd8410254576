"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing when not wanted."""

import logging
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, Self, TextIO

LINE_INTERVAL = 5.0
"""Seconds between two plain lines of the same step."""

QUIET_SECONDS = 1.0
"""Work that ends sooner prints no plain line."""


SILENCE = {
    "TQDM_DISABLE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "LOGURU_AUTOINIT": "0",
    "PYTHONWARNINGS": "ignore",
}
"""What libraries that are not loaded yet are told by the environment, child processes included."""


@contextmanager
def silenced_libraries() -> Iterator[None]:
    """Keep libraries from warning, logging and showing bars; what Foundry itself says is kept."""
    before = {name: os.environ.get(name) for name in SILENCE}
    handle = logging.Logger.handle

    def handle_own(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == "foundry":
            handle(logger, record)

    with warnings.catch_warnings():
        # Libraries set filters of their own, so what shows a warning is replaced as well.
        warnings.simplefilter("ignore")
        warnings.showwarning = lambda *_, **__: None
        # Some have handlers of their own; all records pass here, whoever handles them.
        logging.Logger.handle = handle_own  # type: ignore[assignment, method-assign]
        os.environ.update(SILENCE)
        try:
            yield
        finally:
            logging.Logger.handle = handle  # type: ignore[method-assign]
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


class Progress(Protocol):
    """One step of work; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def advance(self, count: int = 1) -> None:
        """Report that `count` more items are done."""
        ...


class StartStep(Protocol):
    """Begins a step of work with a label, what is counted, and how many there are if known."""

    def __call__(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Begin a step."""
        ...


class Silence:
    """No progress at all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def advance(self, count: int = 1) -> None:
        """Report nothing."""


class Lines:
    """A line every few seconds, for logs."""

    def __init__(self, label: str, unit: str, total: int | None, stream: TextIO) -> None:
        self._label, self._unit, self._total, self._stream = label, unit, total, stream
        self._done = self._shown = 0
        self._started = self._printed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        is_long = time.monotonic() - self._started >= QUIET_SECONDS
        if kind is None and is_long and self._shown < self._done:
            self._print()

    def advance(self, count: int = 1) -> None:
        """Count, and print if the last line is some seconds old."""
        self._done += count
        if self._total is not None:
            # A total is an estimate where rows or pages are found on the way.
            self._total = max(self._total, self._done)
        if time.monotonic() - self._printed >= LINE_INTERVAL:
            self._print()

    def _print(self) -> None:
        self._shown = self._done
        self._printed = time.monotonic()
        rate = self._done / max(1e-9, self._printed - self._started)
        line = f"{self._label}: {self._done:,}"
        line += f" {self._unit}" if self._total is None else f" of {self._total:,} {self._unit}"
        # Of a few long ones a rate says nothing.
        line += f", {rate:,.0f}/s" if rate >= 1 else ""
        if self._total is not None and self._done < self._total:
            line += f", {(self._total - self._done) / rate:.0f} s left"
        self._stream.write(line + "\n")
        self._stream.flush()


class Bar:
    """A live bar with rate and time left."""

    def __init__(self, label: str, unit: str, total: int | None) -> None:
        # Rich takes 50 ms to import, which only long work on a terminal should pay.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(label, total=total, rate="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def advance(self, count: int = 1) -> None:
        """Move the bar."""
        speed = self._bar.tasks[0].speed
        rate = f"{speed:,.0f}/s" if speed else ""
        self._bar.update(self._task, advance=count, rate=rate)


class Reporter:
    """Makes the progress of each step: shown on standard error unless `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def step(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Begin a step of `total` items, if that is known."""
        # There is no standard error where it was closed, as by some who start daemons.
        if self._quiet or sys.stderr is None:
            return Silence()
        if sys.stderr.isatty():
            return Bar(label, unit, total)
        return Lines(label, unit, total, sys.stderr)
