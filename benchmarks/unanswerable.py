"""Is what is not there said not to be there? `python benchmarks/unanswerable.py FOLDER FOLDER ...`.

A folder holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built with the
default configuration and asked its own questions and those of every other, 200 of each at most, in
each mode. A row says how many of them had no strong match: few of a collection's own should, and
most of the others'.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from common import Search, build, load_server, machine, make_project, read_collection, row

MODES = ("hybrid", "keyword", "semantic")
QUESTIONS = 200


def share_without_match(search: Search, questions: Sequence[str], mode: str) -> float:
    """Return the share of questions whose best match is not strong."""
    found = [search(question[:2_000], 10, mode=mode) for question in questions]
    return len([one for one in found if one.match != "strong"]) / len(found)


def main() -> None:
    """Print a table of all pairs of collections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    folders = parser.parse_args().folders
    collections = {folder.name: read_collection(folder) for folder in folders}
    questions = {}
    for name, collection in collections.items():
        step = max(1, len(collection.queries) // QUESTIONS)
        questions[name] = list(collection.queries.values())[::step][:QUESTIONS]
    print(f"{machine()}\n\nshare of questions without a strong match\n")
    row("index", "questions of", *MODES)
    row(*["---"] * (2 + len(MODES)))
    others: dict[str, list[float]] = {mode: [] for mode in MODES}
    with tempfile.TemporaryDirectory() as scratch:
        for name, collection in collections.items():
            source = f'type = "records"\npath = {json.dumps(str(collection.corpus))}\nid = "_id"\n'
            project = make_project(Path(scratch, name), source)
            build(project)
            search = load_server(project, "unanswerable").search_hybrid
            for asked, texts in questions.items():
                shares = {mode: share_without_match(search, texts, mode) for mode in MODES}
                row(name, asked, *(f"{share:.3f}" for share in shares.values()))
                if asked != name:
                    for mode, share in shares.items():
                        others[mode].append(share)
    row("all", "others, mean", *(f"{sum(found) / len(found):.3f}" for found in others.values()))
    row("all", "others, least", *(f"{min(found):.3f}" for found in others.values()))


if __name__ == "__main__":
    main()
