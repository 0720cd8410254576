"""Measures corpora of a thousand to a million chunks: `python benchmarks/scale.py`.

For each of `--chunks`, a generated corpus (see `synthetic`) is built by the code of `foundry
build`, searched by the server rendered for it, and built again without a change and with one record
changed, each in a separate process. Results are appended to `--results` at once, one line of JSON
per size and part. Existing results are not measured again, so an interrupted run can be continued;
to repeat a size, delete its lines. The tables, and the plots in an SVG beside the results, are made
from these lines. `--draw` only makes them.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from common import machine, render_server, row
from drawing import Plot, Series, draw
from searching import measure_searches
from size import COLUMNS, index_parts
from synthetic import built_project, generated_project
from timed_build import TimedBuild, timed_build

SIZES = (1_000, 10_000, 100_000, 1_000_000)
RESULTS = Path(__file__).parent / "scale.jsonl"
STAMP_SECONDS = 2.5
"""Time after which the stamp of a written file is trusted."""

BUILD_TARGET = 1_500.0
OPEN_TARGET = 20.0
MEMORY_TARGET = 1_024.0

Found = dict[str, Any]


def measure_build(folder: Path, chunks: int) -> Found:
    """Measure the first build, and the bytes of the index by part."""
    project = generated_project(folder, chunks)
    shutil.rmtree(project / ".foundry", ignore_errors=True)
    found = _figures(timed_build(project))
    return {**found, "bytes": index_parts(project / ".foundry" / "index")}


def measure_search(folder: Path, chunks: int) -> Found:
    """Measure opening and searching the index."""
    project = built_project(folder, chunks)
    rendered = render_server(project, "benchmark_scale")
    return measure_searches(rendered, project / ".foundry" / "index", project / "queries.json")


def measure_rebuilds(folder: Path, chunks: int) -> Found:
    """Measure a build without a change, and one with another word in the middle of the corpus.

    Afterwards, the corpus is restored, but the index contains the word.
    """
    project = built_project(folder, chunks)
    corpus = project / "corpus.jsonl"
    original = corpus.with_suffix(".original")
    if original.exists():
        # A previous run was killed before it could restore the corpus.
        original.replace(corpus)
    time.sleep(STAMP_SECONDS)
    unchanged = _figures(timed_build(project))
    corpus.rename(original)
    middle = original.stat().st_size // 2
    with original.open(encoding="utf-8") as old, corpus.open("w", encoding="utf-8") as new:
        place = 0
        for line in old:
            is_chosen = place <= middle < place + len(line)
            place += len(line)
            new.write(line.replace('"text": "', '"text": "changed ') if is_chosen else line)
    try:
        time.sleep(STAMP_SECONDS)
        changed = _figures(timed_build(project))
    finally:
        original.replace(corpus)
    return {"unchanged": unchanged, "changed": changed}


PARTS: dict[str, Callable[[Path, int], Found]] = {
    "build": measure_build,
    "search": measure_search,
    "rebuilds": measure_rebuilds,
}


def _figures(built: TimedBuild) -> Found:
    names = ("documents", "chunks", "stages", "seconds", "processor", "parent")
    return {name: getattr(built, name) for name in names} | {"memory": asdict(built.memory)}


def read_results(path: Path) -> dict[int, dict[str, Found]]:
    """Return what has been measured, by size and part."""
    found: dict[int, dict[str, Found]] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for entry in map(json.loads, lines):
        found.setdefault(entry["size"], {})[entry["part"]] = entry["found"]
    return dict(sorted(found.items()))


def measure(sizes: list[int], folder: Path, results: Path) -> None:
    """Measure what the results lack, and add it."""
    for size in sizes:
        for part, measure_part in PARTS.items():
            if part in read_results(results).get(size, {}):
                continue
            begun = time.monotonic()
            found = measure_part(folder, size)
            entry = {"machine": machine(), "size": size, "part": part, "found": found}
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            seconds = time.monotonic() - begun
            print(f"{size:,} {part}: {seconds:.0f} s", file=sys.stderr, flush=True)


def print_tables(results: dict[int, dict[str, Found]]) -> None:
    """Print the tables of builds, searches and index sizes."""
    columns = "chunks|build, s|by stage|processor, s|chunks/s|most MB|nothing changed, s"
    row(*f"{columns}|one record changed, s|processor of the parent, s".split("|"))
    row(*["---"] * 9)
    for size, parts in results.items():
        if found := parts.get("build"):
            stages = (f"{name.lower()} {taken:.1f}" for name, taken in found["stages"].items())
            again = parts.get("rebuilds")
            row(
                *(f"{size:,}", f"{found['seconds']:.1f}", ", ".join(stages)),
                *(f"{found['processor']:.1f}", f"{found['chunks'] / found['seconds']:,.0f}"),
                f"{found['memory']['held']:.0f}",
                f"{again['unchanged']['seconds']:.1f}" if again else "",
                f"{again['changed']['seconds']:.1f}" if again else "",
                f"{found['parent']:.1f}" if "parent" in found else "",
            )
    print()
    columns = "chunks|opens, ms|hybrid p50, ms|p95|p99|keyword p50|p99|semantic p50|p99"
    row(*f"{columns}|answers/s, 1 thread|2 threads|MB opened|MB searching|of it private".split("|"))
    row(*["---"] * 14)
    for size, parts in results.items():
        if found := parts.get("search"):
            lanes = [found[lane][name] for lane in ("keyword", "semantic") for name in _MIDDLE_LAST]
            row(
                f"{size:,}",
                f"{found['open']:.1f}",
                *(f"{found['hybrid'][name]:.2f}" for name in ("p50", "p95", "p99")),
                *(f"{value:.2f}" for value in lanes),
                *(f"{found[name]['rate']:.0f}" for name in ("hybrid", "two threads")),
                f"{found['idle']['held']:.0f}",
                f"{found['searching']['held']:.0f}",
                f"{found['searching']['private']:.0f}",
            )
    print()
    row("chunks", "index MB", "bytes a chunk", *COLUMNS)
    row(*["---"] * (3 + len(COLUMNS)))
    for size, parts in results.items():
        if found := parts.get("build"):
            total = sum(found["bytes"].values())
            each = (f"{found['bytes'][name] / size:,.0f}" for name in COLUMNS)
            row(f"{size:,}", f"{total / 1e6:.0f}", f"{total / size:,.0f}", *each)


_MIDDLE_LAST = ("p50", "p99")


def draw_plots(results: dict[int, dict[str, Found]]) -> str:
    """Return the plots as SVG."""

    def series(name: str, part: str, value: Callable[[Found], float]) -> Series:
        points = [
            (float(size), value(parts[part])) for size, parts in results.items() if part in parts
        ]
        return Series(name, points)

    plots = [
        Plot(
            "Search, ms",
            [
                series("hybrid p50", "search", lambda found: found["hybrid"]["p50"]),
                series("hybrid p99", "search", lambda found: found["hybrid"]["p99"]),
                series("keyword p50", "search", lambda found: found["keyword"]["p50"]),
            ],
        ),
        Plot(
            "Opening the index, ms",
            [series("wall, median", "search", lambda found: found["open"])],
            OPEN_TARGET,
        ),
        Plot(
            "Memory, MB",
            [
                series("building", "build", lambda found: found["memory"]["held"]),
                series("searching", "search", lambda found: found["searching"]["held"]),
                series("of it private", "search", lambda found: found["searching"]["private"]),
            ],
            MEMORY_TARGET,
        ),
        Plot(
            "Builds, seconds",
            [
                series("first", "build", lambda found: found["seconds"]),
                series("unchanged", "rebuilds", lambda found: found["unchanged"]["seconds"]),
                series("one changed", "rebuilds", lambda found: found["changed"]["seconds"]),
            ],
        ),
        Plot(
            "Chunks built a second",
            [series("first build", "build", lambda found: found["chunks"] / found["seconds"])],
            BUILD_TARGET,
        ),
        Plot(
            "Index, MB",
            [series("all", "build", lambda found: sum(found["bytes"].values()) / 1e6)],
        ),
    ]
    return draw([plot for plot in plots if any(one.points for one in plot.series)], "chunks")


def main() -> int:
    """Measure, print the tables and write the plots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[*SIZES])
    parser.add_argument("--folder", type=Path, help="where corpora and indexes are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="default: %(default)s")
    parser.add_argument("--draw", action="store_true", help="only tables and plots, from results")
    chosen = parser.parse_args()
    if not chosen.draw:
        if chosen.folder is None:
            parser.error("--folder is needed: a million chunks take some 5 GB")
        measure(chosen.chunks, chosen.folder, chosen.results)
    lines = chosen.results.read_text(encoding="utf-8").splitlines()
    print("\n".join(dict.fromkeys(json.loads(line)["machine"] for line in lines)), end="\n\n")
    results = read_results(chosen.results)
    print_tables(results)
    drawing = chosen.results.with_suffix(".svg")
    drawing.write_text(draw_plots(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
