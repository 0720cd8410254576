"""Tests a live Qdrant server as Foundry uses it, and prints a report for an issue.

    python tools/try_qdrant.py http://localhost:6333

QDRANT_API_KEY is used if it is set. The trial creates a collection named `foundry_trial_` and eight
digits, deletes it at the end, and changes nothing else. It needs a checkout with
`pip install -e '.[qdrant]' jsonschema`; without jsonschema, responses are not validated. A graph is
only built for many documents: `--documents 15000` takes some minutes.
"""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

from qdrant_trial import Trial
from qdrant_wire import tapped

from foundry.errors import FoundryError
from foundry.runtime.errors import ServerError

NEEDED = 2
"""The number of first steps without which no other can run."""

MOST_LINES = 40
MOST_OF_ONE = 3
"""Maximum number of lines of each step among a report's differences."""


@dataclass
class Step:
    """A row of the report."""

    name: str
    seconds: float = 0.0
    seen: str = ""
    failure: str | None = None


def try_all(trial: Trial) -> list[Step]:
    """Run all steps, then clean up; only a failure among the first NEEDED steps ends the trial."""
    done: list[Step] = []
    try:
        for name, act in trial.steps:
            done.append(take(name, act))
            if done[-1].failure and len(done) <= NEEDED:
                break
    finally:
        done.append(take("nothing is left behind", trial.clear))
    return done


def take(name: str, act: Callable[[], str]) -> Step:
    """Run a step, and print its result."""
    print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
    step, begun = Step(name), time.monotonic()
    try:
        step.seen = act()
    except (FoundryError, ServerError) as error:
        step.failure = "\n".join(filter(None, [error.message, error.hint]))
    except Exception as error:
        step.failure = f"{type(error).__name__}: {error}"
    step.seconds = time.monotonic() - begun
    print("failed" if step.failure else "passed", file=sys.stderr)
    return step


def report(server: str, trial: Trial, steps: Sequence[Step], address: str) -> str:
    """Return the report as Markdown."""
    failed = [step for step in steps if step.failure]
    passed, planned = len(steps) - len(failed), len(trial.steps) + 1
    lines = [
        f"**Qdrant {server}: {passed} of {planned} steps passed**",
        "",
        f"qdrant-client {version('qdrant-client')}, Foundry {version('rag-foundry')},"
        f" Python {platform.python_version()}, {platform.system()};"
        f" {trial.wire.requests:,} requests, {sum(step.seconds for step in steps):.0f} s",
        "",
        "| step | | seconds | |",
        "|---|---|---|---|",
    ]
    for step in steps:
        mark = "**failed**" if step.failure else "passed"
        lines.append(f"| {step.name} | {mark} | {step.seconds:.1f} | {step.seen} |")
    wire = trial.wire
    if wire.schema is None:
        lines += ["", "Not compared with the schema of Qdrant: jsonschema is not installed."]
    elif not wire.faults:
        said = f"Requests and answers are as the schema of Qdrant {wire.schema.NEWEST} says."
        lines += ["", said]
    differed = [
        f"not as the schema says: {fault}" for fault in list(wire.faults)[: MOST_LINES // 2]
    ]
    for step in failed:
        differed += f"{step.name}: {step.failure}".splitlines()[:MOST_OF_ONE]
    if differed:
        # The address could reveal details of a network, which do not belong in an issue.
        place = urlsplit(address).netloc
        cut = [line.replace(place, "QDRANT_URL")[:200] for line in differed]
        more = [f"... and {len(cut) - MOST_LINES} more lines"] if len(cut) > MOST_LINES else []
        lines += ["", "```", *cut[:MOST_LINES], *more, "```"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report; return 0 if all steps passed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address")
    parser.add_argument("--documents", type=int, default=300)
    asked = parser.parse_args(arguments)
    address: str = asked.address
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, QDRANT_URL=address),
        tapped() as wire,
    ):
        trial = Trial(Path(folder), asked.documents, wire)
        try:
            with trial.client() as client:
                server = client.info().version
        except Exception as error:
            print(f"no Qdrant could be asked: {error}", file=sys.stderr)
            return 2
        steps = try_all(trial)
    print(report(server, trial, steps, address))
    return 1 if any(step.failure for step in steps) or wire.faults else 0


if __name__ == "__main__":
    sys.exit(main())
