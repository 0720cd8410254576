"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

import logging
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Self, TextIO

import click

from foundry.terminal import printable

LINE_SECONDS = 5.0
"""Seconds between two plain lines of the same step."""

QUIET_SECONDS = 1.0
"""Work that ends sooner prints no plain line."""

SLOW_SECONDS = 10.0
"""The name of an item that takes longer is shown."""

BAR_WIDTH = 30
"""Characters."""

SILENCE = {
    "TQDM_DISABLE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "LOGURU_AUTOINIT": "0",
    "PYTHONWARNINGS": "ignore",
}
"""Variables that silence libraries loaded later, in child processes too."""


class _LibraryLogger(logging.Logger):
    """A logger that drops all records except Foundry's own while libraries are silenced."""

    is_silenced: ClassVar[bool] = False

    def handle(self, record: logging.LogRecord) -> None:
        if not self.is_silenced or self.name.partition(".")[0] == "foundry":
            super().handle(record)


@contextmanager
def silenced_libraries() -> Iterator[None]:
    """Silence warnings, log messages and progress bars of libraries that are loaded from now on."""
    before = {name: os.environ.get(name) for name in SILENCE}
    # Filters of the root logger do not apply to libraries with handlers of their own.
    loggers = logging.getLoggerClass()
    logging.setLoggerClass(_LibraryLogger)
    _LibraryLogger.is_silenced = True
    with warnings.catch_warnings():
        # Libraries set filters of their own, so `showwarning` is replaced as well.
        warnings.simplefilter("ignore")
        warnings.showwarning = lambda *_, **__: None
        os.environ.update(SILENCE)
        try:
            yield
        finally:
            logging.setLoggerClass(loggers)
            _LibraryLogger.is_silenced = False
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


class Progress:
    """One step of work, as a context manager; this base class shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        return None

    def advance(self, count: int = 1) -> None:
        """Report that `count` more items are done."""

    def wait_for(self, name: str, seconds: float) -> None:
        """Report that one item has kept everything waiting for this many seconds."""


def tell_nobody(done: int) -> None:
    """Ignore progress."""
    del done


StartStep = Callable[..., Progress]
"""Starts a step of work, like `Reporter.step`."""


class Lines(Progress):
    """Prints a line every few seconds, for logs."""

    interval_seconds = LINE_SECONDS
    times_as_long = 2.0

    def __init__(self, label: str, unit: str, total: int | None, stream: TextIO) -> None:
        self._label, self._unit, self._total, self._stream = label, unit, total, stream
        self._done = self._shown = 0
        self._started = self._printed = time.monotonic()
        self._waiting = ""
        self._named: tuple[str, float] = ("", 0.0)

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        is_long = time.monotonic() - self._started >= QUIET_SECONDS
        if kind is None and is_long and self._shown < self._done:
            self._print()

    def advance(self, count: int = 1) -> None:
        """Count, and print a line unless one was printed recently."""
        self._done += count
        self._waiting = ""
        if self._total is not None:
            # The total is an estimate while rows or pages are still being found.
            self._total = max(self._total, self._done)
        if time.monotonic() - self._printed >= self.interval_seconds:
            self._print()

    def wait_for(self, name: str, seconds: float) -> None:
        """Name a slow item, and name it again whenever its waiting time has doubled."""
        before, named = self._named
        is_news = name != before or seconds >= self.times_as_long * named
        if seconds >= SLOW_SECONDS and is_news:
            self._waiting = f"{seconds:.0f} s so far on {name}"
            self._named = (name, seconds)
            self._print()

    def _print(self) -> None:
        self._shown = self._done
        self._printed = time.monotonic()
        self._stream.write(self._describe() + "\n")
        self._stream.flush()

    def _describe(self) -> str:
        rate = self._done / max(1e-9, self._printed - self._started)
        line = f"{self._label}: {self._done:,}"
        line += f" {self._unit}" if self._total is None else f" of {self._total:,} {self._unit}"
        if self._waiting:
            return f"{line}, {self._waiting}"
        # A rate below one a second is not informative.
        line += f", {rate:,.0f}/s" if rate >= 1 else ""
        if self._total is not None and 0 < self._done < self._total:
            line += f", {(self._total - self._done) / rate:.0f} s left"
        return line


class Bar(Lines):
    """A bar followed by the same text as `Lines`, redrawn in place and erased at its end."""

    interval_seconds = 0.1
    times_as_long = 1.0
    _width = 0

    def __enter__(self) -> Self:
        self._print()
        return self

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        self._replace("", " " * self._width + "\r")

    def _print(self) -> None:
        self._shown = self._done
        self._printed = time.monotonic()
        # While waiting, the bar would not move, so a name is shown in its place.
        width = BAR_WIDTH if self._total and not self._waiting else 0
        filled = round(width * self._done / self._total) if self._total else 0
        bar = "=" * filled + "-" * (width - filled)
        # A wrapped line could not be overwritten.
        room = shutil.get_terminal_size().columns - len(bar) - 2
        text = f" {self._describe()}"[: max(room, 0)]
        width = len(bar) + len(text)
        self._replace(bar, text.ljust(self._width - len(bar)))
        self._width = width

    def _replace(self, bar: str, text: str) -> None:
        coloured = bar if "NO_COLOR" in os.environ else click.style(bar, fg="cyan")
        click.echo(f"\r{coloured}{text}", file=self._stream, nl=False)


class Reporter:
    """Creates the progress of each step, shown on standard error unless `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def step(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Start a step of `total` items, if known."""
        # `sys.stderr` is None if it was closed, as some daemon launchers do.
        if self._quiet or sys.stderr is None:
            return Progress()
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            return Bar(label, unit, total, sys.stderr)
        return Lines(label, unit, total, sys.stderr)

    def warn(self, message: str, hint: str) -> None:
        """Print a warning and its remedy, even if `quiet`."""
        for line in (f"warning: {message}", f"hint: {hint}"):
            click.echo(printable(line), err=True)
