"""Stamps of files, which show that a file has not changed since it was read."""

import os
import time

TICK_NS = 100_000_000
"""Nanoseconds; longer than the granularity of file times."""

COARSE_TICK_NS = 2_000_000_000
"""The same for file systems with a granularity of one or two seconds."""


def stamp_of(status: os.stat_result) -> str:
    """Return a file's size, times and inode; while these are equal, so is the content."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def lasting_stamp(status: os.stat_result, now_ns: int | None = None) -> str | None:
    """Return the stamp of a file that is being read at `now_ns`; None if it has only just changed.

    Such a file could change once more within the same clock tick and keep its stamp (git calls
    these "racily clean"), so it has to be opened next time.
    """
    now = time.time_ns() if now_ns is None else now_ns
    is_coarse = status.st_ctime_ns % 1_000_000_000 == 0
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    if now - latest <= (COARSE_TICK_NS if is_coarse else TICK_NS):
        return None
    return stamp_of(status)
