"""What do stages that read a query cost? `python benchmarks/reading.py --folder WORK`.

Generated corpora (see `synthetic`) of `--chunks` chunks are built with correction, synonyms and
suggestions, and each stage is searched by a server of its own: the processor's time in
milliseconds, median and 99th percentile. `plain` are the same queries without any stage; beside a
stage stands what its queries have besides (a misspelt word, a word with a synonym, an operator).
`suggest` is one request for each letter typed; `match` is what telling how good the best hit is
adds to every search.
"""

import argparse
import importlib
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import build, load_server, machine, row
from correction import misspell
from latency import ask_all
from synthetic import generated_project, queries_of

TABLES = '[search.correction]\n[search.suggestions]\n[search.synonyms]\nfile = "names.txt"\n'
STAGES = ("correction", "synonyms", "operators", "word_parts")
Asked = list[tuple[str, str, list[str]]]


def kinds_of(queries: Sequence[str]) -> Asked:
    """What is asked: its name, the stage that reads it, and the queries."""
    chooser = random.Random(1)
    words = [query.split() for query in queries]
    return [
        ("plain", "", [*queries]),
        ("a misspelt word", "correction", [misspell(query, chooser) for query in queries]),
        ("a word with a synonym", "synonyms", [*queries]),
        (
            "a phrase",
            "operators",
            [f'"{" ".join(each[:2])}" {" ".join(each[2:])}' for each in words],
        ),
        ("+word", "operators", [f"+{' '.join(each)}" for each in words]),
        ("-word", "operators", [f"{' '.join(each[:-1])} -{each[-1]}" for each in words]),
        ("parts of words", "word_parts", [*queries]),
    ]


def timed(function: Callable[..., object], arguments: Sequence[tuple[Any, ...]]) -> str:
    """Median and 99th percentile of the processor's milliseconds."""
    times = []
    for each in arguments:
        begun = time.thread_time()
        function(*each)
        times.append((time.thread_time() - begun) * 1000)
    p50, p99 = np.percentile(times, [50, 99]).tolist()
    return f"{p50:.2f}, {p99:.2f}"


def measure(folder: Path, chunks: int) -> dict[str, str]:
    """All figures of one size."""
    project = generated_project(folder, chunks)
    queries = queries_of(project)
    first = sorted({query.split()[0] for query in queries})
    half = len(first) // 2
    names = zip(first, [*first[half:], *first[:half]], strict=True)
    groups = "".join(f"{one} => {other}\n" for one, other in names)
    (project / "names.txt").write_text(groups, encoding="utf-8")
    file = project / "foundry.toml"
    written = file.read_text(encoding="utf-8")
    file.write_text(f"{written}\n{TABLES}", encoding="utf-8")
    try:
        build(project)
    finally:
        file.write_text(written, encoding="utf-8")
    servers = {"": load_server(project, "reading_plain")}
    for name in STAGES:
        servers[name] = load_server(project, f"reading_{name}", f"[search.{name}]")
    found = {}
    for kind, stage, asked in kinds_of(queries):
        times = ask_all(servers[stage].search_hybrid, asked)
        found[kind] = f"{times['cpu']:.2f}, {times['cpu p99']:.2f}"
    index = servers[""].load(project / ".foundry" / "index")
    results = importlib.import_module("reading_plain.retrieval.results")
    search = importlib.import_module("reading_plain.search")
    each = [search.query_terms(index.tokenizer.tokenize(query)) for query in queries]
    hits = [(index.keyword_lane.search(terms, 20), index, terms, ()) for terms in each]
    found["match"] = timed(results.compare_with_terms, hits)
    server = load_server(project, "reading_suggestions", "[search.suggestions]")
    index = server.load(project / ".foundry" / "index")
    suggest = importlib.import_module("reading_suggestions.retrieval.stages.suggestions").suggest
    typed = [(index, query[:end]) for query in queries[:60] for end in range(1, len(query) + 1)]
    suggest(*typed[0])
    found["suggest"] = timed(suggest, typed)
    return found


def main() -> None:
    """Print a row for each kind of query, a column for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where corpora are kept")
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    chosen = parser.parse_args()
    print(machine(), "\n")
    sizes = {chunks: measure(chosen.folder, chunks) for chunks in chosen.chunks}
    row("queries", *(f"{chunks:,} chunks" for chunks in sizes))
    row(*["---"] * (len(sizes) + 1))
    for kind in next(iter(sizes.values())):
        row(kind, *(found[kind] for found in sizes.values()))


if __name__ == "__main__":
    main()
