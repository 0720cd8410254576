"""Do operators find what they ask for? `python benchmarks/operators.py FOLDER ...`.

A folder holds corpus.jsonl, queries.jsonl and qrels.tsv (BEIR). Each collection is built once and
searched by two servers, without and with `[search.operators]`. Four words in a row are taken from
each of some chunks; rows say how many of the phrases find their document among the first ten as
plain words and in quotes, how many hits have the phrase, and which share of the collection's own
questions the operators read as anything but plain text; then what a search takes in milliseconds.
"""

import argparse
import json
import random
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

from common import build, load_server, machine, make_project, read_collection, row
from latency import ask_all

PHRASES = 200
WORDS = 4


def take_phrases(index: Any, chooser: random.Random) -> list[tuple[str, str]]:
    """Return phrases, each with the id of the document that it was taken from."""
    found = []
    for number in chooser.sample(range(index.chunk_count), min(PHRASES, index.chunk_count)):
        chunk = index.chunk(number)
        words = chunk.text.split()
        start = chooser.randrange(max(1, len(words) - WORDS))
        phrase = " ".join(words[start : start + WORDS])
        if '"' not in phrase and index.tokenizer.terms(phrase):
            found.append((phrase, chunk.document_id))
    return found


def plain(text: str) -> str:
    """Return letters and digits alone, by which texts are compared."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded))


def main() -> None:
    """Print a table of what is found, and one of latency."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    print(machine(), "\n")
    row("collection", "chunks", "as words", "in quotes", "hits that have it", "questions read")
    row(*["---"] * 6)
    timed = []
    with tempfile.TemporaryDirectory() as scratch:
        for folder in parser.parse_args().folders:
            collection = read_collection(folder)
            source = f'type = "records"\npath = {json.dumps(str(collection.corpus))}\nid = "_id"\n'
            project = make_project(Path(scratch, collection.name), source)
            build(project)
            before = load_server(project, "plain_words").search_hybrid
            server = load_server(project, "operators", "[search.operators]")
            search, index = server.search_hybrid, server.load(project / ".foundry" / "index")
            phrases = take_phrases(index, random.Random(1))
            as_words = in_quotes = hits = having = 0
            for phrase, document in phrases:
                as_words += document in {hit.document_id for hit in before(phrase).hits}
                found = search(f'"{phrase}"').hits
                in_quotes += document in {hit.document_id for hit in found}
                hits += len(found)
                texts = (plain("".join([hit.title, *hit.section, hit.text])) for hit in found)
                having += sum(plain(phrase) in text for text in texts)
            questions = [question[:2_000] for question in collection.queries.values()]
            read = sum("operators" in search(question).stages for question in questions)
            shares = (as_words / len(phrases), in_quotes / len(phrases), having / max(1, hits))
            read_share = read / len(questions)
            row(
                folder.name, index.chunk_count, *(f"{share:.3f}" for share in (*shares, read_share))
            )
            word = phrases[0][0].split()[0].strip(".,;:()") or "the"
            kinds = {
                "none": [phrase for phrase, _ in phrases],
                '"phrase"': [f'"{phrase}"' for phrase, _ in phrases],
                "+word": [f"{phrase} +{word}" for phrase, _ in phrases],
                "-word": [f"{phrase} -{word}" for phrase, _ in phrases],
            }
            times = {"without the feature": ask_all(before, kinds["none"])}
            times |= {kind: ask_all(search, asked) for kind, asked in kinds.items()}
            timed.append((folder.name, times))
    print()
    row("collection", *timed[0][1], "(p50 / p99, ms)")
    row(*["---"] * (len(timed[0][1]) + 2))
    for name, times in timed:
        row(name, *(f"{each['p50']:.2f} / {each['p99']:.2f}" for each in times.values()), "")


if __name__ == "__main__":
    main()
