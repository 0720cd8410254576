"""Is what is not there said not to be there? `python benchmarks/unanswerable.py FOLDER FOLDER ...`.

A folder holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built with the
default configuration and asked its own questions and those of every other, 200 of each at most, in
each mode. A row says how many of them had no strong match: few of a collection's own should, and
most of the others'. Then the harder case, of one subject: up to half of the documents that answer
questions are taken out, and a row says how many of the questions that lost all of theirs have no
strong match, and how many of those that lost none.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from common import (
    Collection,
    Search,
    build,
    load_server,
    machine,
    make_project,
    read_collection,
    row,
)

MODES = ("hybrid", "keyword", "semantic")
QUESTIONS = 200


def share_without_match(search: Search, questions: Sequence[str], mode: str) -> float:
    """Return the share of questions whose best match is not strong."""
    found = [search(question[:2_000], 10, mode=mode) for question in questions]
    return len([one for one in found if one.match != "strong"]) / len(found)


def open_search(root: Path, corpus: Path) -> Search:
    """Build a corpus of records with the default configuration and open its server."""
    project = make_project(
        root, f'type = "records"\npath = {json.dumps(str(corpus))}\nid = "_id"\n'
    )
    build(project)
    search: Search = load_server(project, "unanswerable").search_hybrid
    return search


def take_out(collection: Collection, corpus: Path) -> tuple[list[str], list[str]]:
    """Write a corpus without the documents of every second question, until half of them are gone.

    Returns:
        The questions whose documents were all taken out, and those that lost none.
    """
    gone: set[str] = set()
    most = len({name for names in collection.relevant.values() for name in names}) // 2
    for key in [*collection.queries][::2]:
        gone |= collection.relevant[key].keys() if len(gone) < most else set()
    lines = collection.corpus.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["_id"] not in gone]
    corpus.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    answers = {key: set(collection.relevant[key]) for key in collection.queries}
    return (
        [text for key, text in collection.queries.items() if answers[key] <= gone],
        [text for key, text in collection.queries.items() if not answers[key] & gone],
    )


def print_harder(collections: Iterable[Collection], scratch: Path) -> None:
    """Print a row a collection for questions of its subject that are no longer answered."""
    print("\nshare without a strong match where the answering documents were taken out\n")
    row("collection", "questions", "answers", *MODES)
    row(*["---"] * (3 + len(MODES)))
    for collection in collections:
        corpus = scratch / f"{collection.name}.jsonl"
        lists = take_out(collection, corpus)
        search = open_search(scratch / f"{collection.name}-harder", corpus)
        for texts, answers in zip(lists, ("taken out", "there"), strict=True):
            if texts:
                shares = [share_without_match(search, texts, mode) for mode in MODES]
                cells = [f"{share:.3f}" for share in shares]
                row(collection.name, len(texts), answers, *cells)


def main() -> None:
    """Print a table of all pairs of collections, and one of the harder case."""
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
            search = open_search(Path(scratch, name), collection.corpus)
            for asked, texts in questions.items():
                shares = {mode: share_without_match(search, texts, mode) for mode in MODES}
                row(name, asked, *(f"{share:.3f}" for share in shares.values()))
                if asked != name:
                    for mode, share in shares.items():
                        others[mode].append(share)
        if len(folders) > 1:
            each = [*others.values()]
            row("all", "others, mean", *(f"{sum(found) / len(found):.3f}" for found in each))
            row("all", "others, least", *(f"{min(found):.3f}" for found in each))
        print_harder(collections.values(), Path(scratch))


if __name__ == "__main__":
    main()
