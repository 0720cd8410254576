"""Processes that are measured from outside: what they say, take and hold."""

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes that a process and all below it hold.

    Attributes:
        held: All pages, those that several processes share counted once (PSS). Pages of mapped
            files count as far as they were read; the kernel takes them back when it needs them.
        private: Of these, the ones that belong to no file.
    """

    held: float
    private: float

    def most(self, other: "Memory") -> "Memory":
        """The larger of each."""
        return Memory(max(self.held, other.held), max(self.private, other.private))


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: its last line as JSON, seconds of wall and of processor.

    `memory` is the most that it held, if that was asked for.
    """

    said: dict[str, Any]
    seconds: float
    processor: float
    memory: Memory


class ProcessFailedError(Exception):
    """A process ended badly; the message is the last line that it wrote to standard error."""


def memory_of(pid: int) -> Memory:
    """Return the memory of a process and all below it; one that has just ended counts nothing."""
    held = private = 0
    for process in _family(pid):
        with suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    held += int(line.split()[1])
                elif line.startswith("Pss_Anon:"):
                    private += int(line.split()[1])
    return Memory(held / 1024, private / 1024)


def cpu_seconds(pid: int) -> float:
    """What a process has used so far: on a busy machine, a steadier measure than its rate."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_of_ended(pid: int) -> float:
    """What the processes below one have used that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def scheduled_seconds(pid: int) -> float:
    """What the threads of a process that are there have run so far, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _family(pid: int) -> list[int]:
    found = [pid]
    for process in found:
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in task.read_text().split()]
    return found


class MemoryWatch:
    """The most that a process holds while this context lasts."""

    def __init__(self, pid: int) -> None:
        self.most = Memory(0, 0)
        self._pid = pid
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self.most = self.most.most(memory_of(self._pid))
            if self._end.wait(SAMPLE_SECONDS):
                return


def run_script(
    script: Path, *arguments: str, variables: Mapping[str, str] | None = None, watched: bool = False
) -> Ended:
    """Run a Python script in a process of its own, and wait for it.

    Only if `watched`, its memory is: reading it halts a process for as long as its tables of pages
    are walked, milliseconds where a gigabyte is mapped. Raises ProcessFailedError.
    """
    before, begun = _processor(), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, str(script), *arguments],
        env=os.environ | dict(variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watch = MemoryWatch(process.pid)
        with watch if watched else nullcontext():
            output, errors = process.communicate()
        seconds = time.perf_counter() - begun
    if process.returncode:
        raise ProcessFailedError((errors.strip() or "no reason given").splitlines()[-1])
    said: Mapping[str, Any] = json.loads(output.splitlines()[-1])
    return Ended(dict(said), seconds, _processor() - before, watch.most)


def _processor() -> float:
    """Seconds that all processes that have ended below this one took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
