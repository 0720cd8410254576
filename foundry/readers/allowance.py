"""Limits how much of a document is read from pictures, by pages, pixels and time.

Pages and pixels should be the effective limits, since they are the same on every machine. Time is a
safeguard; a document that it cuts short is marked, so that it is read again.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from foundry.documents import OCR_PAGES

PIXELS_A_PAGE = 20_000_000
"""Maximum pixels of stored pictures per page; A4 at 300 dpi has 9 million."""
SECONDS_A_PAGE = 20
"""Processor time per page; most pages take 3 to 4 s, those full of small print longer."""


@dataclass(slots=True)
class Allowance:
    """How many pages of a document may be read from pictures, with counts.

    `is_late` is True if time ran out before some pages were read.
    """

    pages: int = OCR_PAGES
    read: int = 0
    unread: int = 0
    is_late: bool = False
    _pixels: int = 0
    _begun: float = field(default_factory=lambda: time.process_time())

    def take(self, pixels: int = 0) -> bool:
        """Count another page and return whether it may be read; after the first False, none may."""
        self._pixels += pixels
        is_late = time.process_time() - self._begun > SECONDS_A_PAGE * self.pages
        is_over = self.read >= self.pages or self._pixels > PIXELS_A_PAGE * self.pages
        if is_late or is_over:
            self.is_late |= not is_over
            self.unread += 1
            return False
        self.read += 1
        return True


_CURRENT: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowing_pictures(pages: int) -> Iterator[Allowance]:
    """Allow this many pages to be read from pictures in this context."""
    allowance = Allowance(pages)
    token = _CURRENT.set(allowance)
    try:
        yield allowance
    finally:
        _CURRENT.reset(token)


def current_allowance() -> Allowance:
    """Return the allowance of the current document, or a new one."""
    return _CURRENT.get() or Allowance()
