"""Do parts of words help? `python benchmarks/languages.py FOLDER ...`.

Each FOLDER (BEIR's layout) is built in the language at the end of its name. It is searched by
keywords and by both lanes, fused linearly and by ranks, through servers without and with
`[search.word_parts]`. The table has nDCG@10 by document, with the 95 % interval of the difference
from a paired bootstrap, and the median and 99th percentile of the processor time of a search.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from common import (
    Collection,
    Search,
    build,
    language_of,
    load_server,
    machine,
    make_project,
    read_collection,
    row,
)
from latency import ask_all
from numpy.typing import NDArray

from foundry.runtime.evaluation import metrics

STAGE = "[search.word_parts]"
RANKINGS = (
    ("keyword", "linear", "keyword"),
    ("linear", "linear", "hybrid"),
    ("rrf", "rrf", "hybrid"),
)
"""Rows: name, fusion, and mode."""

DEPTH = 20
RESAMPLES = 2_000


def measure(search: Search, mode: str, collection: Collection) -> NDArray[np.float64]:
    """Return nDCG@10 of each question."""
    values = []
    for query, text in collection.queries.items():
        ranked = dict.fromkeys(hit.document_id for hit in search(text, DEPTH, mode=mode).hits)
        values.append(metrics.measure([*ranked], collection.relevant[query])["nDCG@10"])
    return np.array(values)


def interval(differences: NDArray[np.float64]) -> str:
    """Return the mean and the 95 % interval of paired differences."""
    draws = np.random.default_rng(0).integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return f"{differences.mean():+.4f} ({low:+.4f} to {high:+.4f})"


def main() -> None:
    """Print a row for each collection and ranking."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    print(machine(), "\n")
    row("collection", "ranking", "without", "with", "gain (95 %)", "ms without", "ms with")
    row(*["---"] * 7)
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            collection = read_collection(folder)
            source = f'type = "records"\npath = "{collection.corpus.resolve()}"'
            root = Path(work) / collection.name
            project = make_project(root, source, language=language_of(folder))
            build(project)
            for name, fusion, mode in RANKINGS:
                servers = [
                    load_server(project, f"{package}_{fusion}", f'fusion = "{fusion}"\n{stage}')
                    for package, stage in (("whole_words", ""), ("word_parts", STAGE))
                ]
                found = [measure(server.search_hybrid, mode, collection) for server in servers]
                queries = [*collection.queries.values()][:200]
                times = [ask_all(server.search_hybrid, queries) for server in servers]
                means = (f"{values.mean():.4f}" for values in found)
                spent = (f"{each['cpu']:.1f}, {each['cpu p99']:.1f}" for each in times)
                row(collection.name, name, *means, interval(found[1] - found[0]), *spent)


if __name__ == "__main__":
    main()
