"""Measures processes from outside: their output, time and memory."""

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
    """Megabytes of a process and its descendants.

    Attributes:
        held: All pages; shared pages are divided among their processes (PSS). Pages of mapped files
            are included once they were read, although the kernel can reclaim them.
        private: The pages of `held` that belong to no file.
    """

    held: float
    private: float

    def most(self, other: "Memory") -> "Memory":
        """Return the larger value of each."""
        return Memory(max(self.held, other.held), max(self.private, other.private))


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: its last line as JSON, and seconds of wall and processor time.

    `memory` is its maximum, if it was watched.
    """

    said: dict[str, Any]
    seconds: float
    processor: float
    memory: Memory


class ProcessFailedError(Exception):
    """A process failed; the message is the last line of its standard error."""


def memory_of(pid: int) -> Memory:
    """Return the memory of a process and its descendants; one that has just ended counts as 0."""
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
    """Return the processor time of a process so far, which is steadier than wall time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def seconds_of_ended(pid: int) -> float:
    """Return the processor time of the ended children of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def scheduled_seconds(pid: int) -> float:
    """Return the processor time of the current threads of a process, in nanosecond resolution."""
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
    """Records the maximum memory of a process while the context lasts."""

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
    """Run a Python script in a separate process, and wait for it.

    Memory is measured only if `watched`, because reading it stops a process while its page tables
    are walked: for milliseconds, if a gigabyte is mapped. Raises ProcessFailedError.
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
    """Return the processor time of all ended descendants of this process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
