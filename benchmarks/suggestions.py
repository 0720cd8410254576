"""How fast, and how soon right, are suggestions? `python benchmarks/suggestions.py FOLDER ...`.

Each FOLDER of documents is built with `[search.suggestions]`. Headings are typed letter by letter:
a row says how long an answer takes (of the processor, in process), after how many letters a
heading is offered, and what words and headings take in the index.
"""

import argparse
import importlib
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import build, load_server, machine, make_project, row

HEADINGS = 300


def sample_headings(index: Any) -> list[str]:
    """Return some headings of one line."""
    chooser = random.Random(1)
    found: set[str] = set()
    for number in chooser.sample(range(index.chunk_count), min(HEADINGS, index.chunk_count)):
        headings = index.chunk(number).headings()
        found.update(" ".join(heading.split()) for heading in headings[-1:])
    return sorted(heading for heading in found if 0 < len(heading) <= 100)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    print(machine(), "\n")
    row("corpus", "chunks", "answers", "p50 / p99, ms", "letters until offered", "bytes a chunk")
    row(*["---"] * 6)
    with tempfile.TemporaryDirectory() as scratch:
        for folder in parser.parse_args().folders:
            source = f'type = "folder"\npath = "{folder.resolve()}"'
            project = make_project(Path(scratch, folder.name), source, "[search.suggestions]\n")
            build(project)
            make_project(project, source)
            server = load_server(project, "suggesting", "[search.suggestions]")
            index = server.load(project / ".foundry" / "index")
            stage = importlib.import_module("suggesting.retrieval.stages.suggestions")
            times, letters = [], []
            for heading in sample_headings(index):
                offered = None
                for end in range(1, len(heading) + 1):
                    begun = time.thread_time()
                    found = stage.suggest(index, heading[:end])
                    times.append((time.thread_time() - begun) * 1000)
                    if offered is None and heading in {one.text for one in found}:
                        offered = end
                letters.append(offered or len(heading))
            size = sum(file.stat().st_size for file in (index.layout.root / stage.FOLDER).iterdir())
            p50, p99 = np.percentile(times, [50, 99]).tolist()
            cells = f"{index.chunk_count:,}", f"{len(times):,}", f"{p50:.2f} / {p99:.2f}"
            each = f"{size / index.chunk_count:.0f}"
            row(folder.name, *cells, f"{np.median(letters):.0f} (median)", each)


if __name__ == "__main__":
    main()
