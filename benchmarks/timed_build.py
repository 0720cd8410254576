"""Times `foundry build` by stage in a separate process: `python timed_build.py PROJECT [JOBS]`."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from processes import Memory, run_script

from foundry import pipeline
from foundry.building.options import BuildOptions, Changes
from foundry.progress import Progress, Reporter


@dataclass(frozen=True, slots=True)
class TimedBuild:
    """A build: its result, the seconds of each stage, and its wall and processor time.

    `parent` is the processor time of the build's main process, without its workers.
    """

    index: Path
    documents: int
    chunks: int
    changes: Changes
    stages: dict[str, float]
    seconds: float
    processor: float
    parent: float
    memory: Memory


class _TimedSteps(Reporter):
    """Prints nothing, and records when each step began."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.begun: list[tuple[str, float]] = []

    def step(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Begin a step."""
        self.begun.append((label, time.monotonic()))
        return super().step(label, unit, total)


def timed_build(project: Path, jobs: int | None = None) -> TimedBuild:
    """Build a project in a separate process, and measure it from outside."""
    ended = run_script(Path(__file__), str(project), *([str(jobs)] if jobs else []), watched=True)
    said = ended.said
    return TimedBuild(
        Path(said["index"]),
        said["documents"],
        said["chunks"],
        Changes(**said["changes"]),
        said["stages"],
        ended.seconds,
        ended.processor,
        said["parent"],
        ended.memory,
    )


def main() -> int:
    """Build in this process, and print the result as JSON."""
    project, *jobs = sys.argv[1:]
    steps = _TimedSteps()
    begun = time.monotonic()
    options = BuildOptions(jobs=int(jobs[0]) if jobs else None)
    result = pipeline.build(Path(project), steps, options)
    starts = [("Looking", begun), *steps.begun]
    ends = [start for _, start in steps.begun] + [time.monotonic()]
    stages: dict[str, float] = {}
    for (label, start), end in zip(starts, ends, strict=True):
        stages[label] = stages.get(label, 0.0) + end - start
    changes = {
        name: getattr(result.changes, name) for name in ("read", "reused", "removed", "embedded")
    }
    found = {"index": result.index, "documents": result.documents, "chunks": result.chunks}
    found |= {"changes": changes, "stages": stages, "parent": time.process_time()}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
