"""Measures the correction of misspelt words: `python benchmarks/correction.py DATA FOLDER ...`.

DATA contains docs_srd51 and docs_cpp, each FOLDER a collection in BEIR's layout (corpus.jsonl,
queries.jsonl and qrels.tsv). Each corpus is searched by two servers, without and with
`[search.correction]`. Queries are used unchanged, and with one random edit each: a letter omitted,
inserted, replaced, or swapped with the next one.

- Names of monsters of the SRD, and of functions of the C runtime library, without those that
  contain a digit, which are never corrected: the share that finds its own place first.
- Questions, with the edit in one of their words of four or more letters: nDCG@10.

Another table has the processor time of correcting a word, and the bytes per chunk of the
dictionary.
"""

import argparse
import importlib
import json
import random
import string
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import Search, build, load_server, machine, make_project, read_collection, row
from identifiers import Cases, functions, monsters

from foundry.runtime.evaluation.metrics import measure

SORTS: dict[str, tuple[str, Callable[[Path], Cases]]] = {
    "monsters": ("docs_srd51", monsters),
    "C functions": ("docs_cpp", functions),
}
EDITED_LETTERS = 4
DIGITS = set(string.digits)
Ask = Callable[[Search, str, str], float]


def misspell(text: str, chooser: random.Random) -> str:
    """Return a text with one random edit in one of its longer words."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) >= EDITED_LETTERS]
    place = chooser.choice(long or range(len(words)))
    word, letter = words[place], chooser.choice(string.ascii_lowercase)
    at = chooser.randrange(len(word) - 1) if len(word) > 1 else 0
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    edits = [word[:at] + word[at + 1 :], word[:at] + letter + word[at:], swapped]
    edits.append(word[:at] + letter + word[at + 1 :])
    changed = [edit for edit in edits if edit != word] or [word]
    words[place] = chooser.choice(changed)
    return " ".join(words)


def make_corpus(root: Path, source: str) -> Path:
    """Build a project with the dictionary for correction; each server decides whether to use it."""
    build(make_project(root, source, "[search.correction]\n"))
    return make_project(root, source)


def compare(name: str, project: Path, queries: dict[str, str], judge: Ask) -> Any:
    """Print a row with the results of queries (by id); returns the server that corrects."""
    chooser = random.Random(1)
    wrong = {key: misspell(text, chooser) for key, text in queries.items()}
    before = load_server(project, "as_typed").search_hybrid
    server = load_server(project, "corrected", "[search.correction]")
    cells: list[str] = []
    for asked in (queries, wrong):
        for search in (before, server.search_hybrid):
            values = [judge(search, key, text) for key, text in asked.items()]
            cells.append(f"{sum(values) / len(values):.4f}")
    found = [server.search_hybrid(text, 1).stages for text in queries.values()]
    changed = sum("correction" in stages for stages in found)
    row(name, len(queries), *cells, f"{changed / len(found):.3f}")
    return server


def time_words(server: Any, project: Path, name: str, queries: Sequence[str]) -> tuple[str, ...]:
    """Return a row with the times of correcting a misspelt word, and with sizes."""
    index = server.load(project / ".foundry" / "index")
    stage = importlib.import_module("corrected.retrieval.stages.correction")
    words = stage.open_words(index)
    chooser = random.Random(2)
    times = []
    for word in {word for query in queries for word in query.split() if len(word) >= 6}:
        wrong = misspell(word, chooser).casefold()
        begun = time.thread_time()
        words.nearest(wrong)
        times.append((time.thread_time() - begun) * 1000)
    size = sum(file.stat().st_size for file in (index.layout.root / stage.FOLDER).iterdir())
    p50, p99 = np.percentile(times, [50, 99]).tolist()
    counts = (f"{index.chunk_count:,}", f"{len(words.masks):,}")
    return name, *counts, f"{p50:.3f} / {p99:.3f}", f"{size / index.chunk_count:.0f}"


def main() -> None:
    """Print a table of results, and one of times and sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    chosen = parser.parse_args()
    print(machine(), "\n")
    row("corpus", "queries", "correct", "corrected", "misspelt", "corrected", "correct but changed")
    row(*["---"] * 7)
    times = []
    with tempfile.TemporaryDirectory() as scratch:
        for sort, (corpus, make) in SORTS.items():
            root = (chosen.data / corpus).resolve()
            source = f'type = "folder"\npath = "{root}"'
            project = make_corpus(Path(scratch, corpus), source)
            cases = {name: case for name, case in make(root).items() if not set(name) & DIGITS}

            def is_first(search: Search, key: str, text: str, cases: Cases = cases) -> float:
                hits = search(text, 1).hits
                return float(any(cases[key].is_right(h.path, h.title, h.section) for h in hits))

            server = compare(sort, project, {name: name for name in cases}, is_first)
            times.append(time_words(server, project, corpus, list(cases)))
        for folder in chosen.folders:
            collection = read_collection(folder)
            source = f'type = "records"\npath = {json.dumps(str(collection.corpus))}\nid = "_id"\n'
            project = make_corpus(Path(scratch, folder.name), source)
            queries = {key: text[:2_000] for key, text in collection.queries.items()}
            grades = collection.relevant

            def ndcg(
                search: Search, key: str, text: str, grades: dict[str, dict[str, float]] = grades
            ) -> float:
                ranked = dict.fromkeys(hit.document_id for hit in search(text, 50).hits)
                return measure([*ranked], grades[key])["nDCG@10"]

            server = compare(folder.name, project, queries, ndcg)
            times.append(time_words(server, project, folder.name, list(queries.values())))
    print()
    row("corpus", "chunks", "words", "a misspelt word, ms (p50 / p99)", "bytes a chunk")
    row(*["---"] * 5)
    for cells in times:
        row(*cells)


if __name__ == "__main__":
    main()
