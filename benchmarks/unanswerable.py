"""Are missing answers recognised? `python benchmarks/unanswerable.py FOLDER FOLDER ...`.

A folder contains corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built with
the default configuration, and gets its own questions and those of every other collection, at most
200 of each, in each mode. A row has the share of questions without a strong match: low for a
collection's own, high for those of others.

Further tables have harder cases, on the collection's own subject. In one, a name or a number of a
question is changed into one that no document has (its digits raised by three, or its letters
reversed). In another, up to half of the documents that answer questions are removed. Its rows have
the shares of questions without a strong match: of those that lost all their documents, and of those
that lost none. Each table begins with its worst row for hybrid search.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

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

from foundry.runtime.index.tokens import Tokenizer

MODES = ("hybrid", "keyword", "semantic")
QUESTIONS = 200
Shares = dict[str, float]


def share_without_match(search: Search, questions: Sequence[str], mode: str) -> float:
    """Return the share of questions whose best match is not strong."""
    found = [search(question[:2_000], 10, mode=mode) for question in questions]
    return len([one for one in found if one.match != "strong"]) / len(found)


def shares_of(search: Search, questions: Sequence[str]) -> Shares:
    """Return the share without a strong match by mode."""
    return {mode: share_without_match(search, questions, mode) for mode in MODES}


def print_rows(rows: Iterable[tuple[bool, Sequence[object], Shares]]) -> None:
    """Print rows, worst first; for answered questions, the highest shares are the worst."""
    for answered, cells, shares in sorted(
        rows, key=lambda one: (one[0], -one[2]["hybrid"] if one[0] else one[2]["hybrid"])
    ):
        row(*cells, "yes" if answered else "no", *(f"{share:.3f}" for share in shares.values()))


def change_name(question: str, known: set[str], tokenizer: Tokenizer) -> str | None:
    """Return a question with its first name or number replaced by an unknown one, if any."""
    for place, token in enumerate(tokenizer.tokenize(question)):
        text = token.text
        is_name = place > 0 and text[:1].isupper() and len(text) > 2
        if not (token.is_identifier or is_name or any(map(str.isdigit, text))):
            continue
        other = re.sub("[0-9]", lambda digit: str((int(digit[0]) + 3) % 10), text)
        if other == text:
            other = text[::-1].upper() if text.isupper() else text[::-1].capitalize()
        terms = tokenizer.terms(other)
        if other != text and text in question and terms and not known.intersection(terms):
            return question.replace(text, other, 1)
    return None


def with_other_names(collection: Collection, language: str) -> list[str]:
    """Return questions of a collection, each with a name that none of its documents has."""
    tokenizer = Tokenizer(language)
    known: set[str] = set()
    for line in collection.corpus.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        known.update(tokenizer.terms(f"{record.get('title', '')}\n{record['text']}"))
    changed = (change_name(text, known, tokenizer) for text in collection.queries.values())
    return [text for text in changed if text is not None][:QUESTIONS]


def open_search(root: Path, corpus: Path, language: str) -> Search:
    """Build a corpus of records with the default configuration and open its server."""
    source = f'type = "records"\npath = {json.dumps(str(corpus))}\nid = "_id"\n'
    project = make_project(root, source, language=language)
    build(project)
    search: Search = load_server(project, "unanswerable").search_hybrid
    return search


def take_out(collection: Collection, corpus: Path) -> tuple[list[str], list[str]]:
    """Write a corpus without the documents of every second question, down to half its size.

    Returns: The questions whose documents were all removed, and those that lost none.
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


def ask_what_is_gone(
    collections: Iterable[Collection], scratch: Path
) -> Iterator[tuple[bool, Sequence[object], Shares]]:
    """Yield rows for questions whose answers were removed."""
    for collection in collections:
        corpus = scratch / f"{collection.name}.jsonl"
        lists = take_out(collection, corpus)
        root = scratch / f"{collection.name}-harder"
        search = open_search(root, corpus, language_of(Path(collection.name)))
        for texts, answered in zip(lists, (False, True), strict=True):
            if texts:
                yield answered, (collection.name, len(texts)), shares_of(search, texts)


def main() -> None:
    """Print a table of all pairs of collections, and those of the harder cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    folders = parser.parse_args().folders
    collections = {folder.name: read_collection(folder) for folder in folders}
    questions = {}
    for name, collection in collections.items():
        step = max(1, len(collection.queries) // QUESTIONS)
        questions[name] = list(collection.queries.values())[::step][:QUESTIONS]
    pairs, renamed = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for name, collection in collections.items():
            language = language_of(Path(name))
            search = open_search(Path(scratch, name), collection.corpus, language)
            for asked, texts in questions.items():
                pairs.append((asked == name, (name, asked), shares_of(search, texts)))
            if texts := with_other_names(collection, language):
                renamed.append((False, (name, len(texts)), shares_of(search, texts)))
        print(f"{machine()}\n\nshare of questions without a strong match\n")
        row("index", "questions of", "answered", *MODES)
        row(*["---"] * (3 + len(MODES)))
        print_rows(pairs)
        others = [shares for is_own, _, shares in pairs if not is_own]
        if others:
            means = (sum(one[mode] for one in others) / len(others) for mode in MODES)
            row("all", "others, mean", "no", *(f"{mean:.3f}" for mean in means))
        for title, rows in (
            ("with a name or a number that no document has", renamed),
            (
                "where answering documents were taken out",
                ask_what_is_gone(collections.values(), Path(scratch)),
            ),
        ):
            print(f"\nshare without a strong match, {title}\n")
            row("collection", "questions", "answered", *MODES)
            row(*["---"] * (3 + len(MODES)))
            print_rows(rows)


if __name__ == "__main__":
    main()
