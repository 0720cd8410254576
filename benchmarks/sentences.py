"""Measures whether unsupported sentences are marked: `python benchmarks/sentences.py FILE`.

Each line of the file is a sentence like those of a language model, with its passages: `{"id",
"question", "passages": [{"title", "path", "text"}], "sentence", "supported", "kind"}`. Its author
should not know the check. All passages of the file are indexed. The exported server's own check
judges each sentence without a citation, that is, against all of its passages.
"""

import argparse
import importlib
import json
import tempfile
from collections import Counter
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from common import build, load_server, make_project, row

CONFIGURATION = '[chunking]\nstrategy = "none"\n\n[server]\nlanguage_model = true\n'


class Checker:
    """A server that has indexed all passages, and its check."""

    def __init__(self, entries: list[dict[str, Any]], folder: Path, provider: str) -> None:
        """Build the index and render the server."""
        passages = {json.dumps(one): one for entry in entries for one in entry["passages"]}
        self._numbers = {text: number for number, text in enumerate(passages)}
        lines = (
            json.dumps({"id": str(number), "title": one["title"], "text": one["text"]})
            for number, one in enumerate(passages.values())
        )
        corpus = folder / "passages.jsonl"
        corpus.write_text("\n".join(lines), encoding="utf-8")
        source = f'type = "records"\npath = {json.dumps(str(corpus))}'
        project = make_project(folder / "project", source, provider + CONFIGURATION)
        build(project)
        self._server: Any = load_server(project, "sentences_server")
        self._index = self._server.load(project / ".foundry" / "index")

    def lacks(self, entry: dict[str, Any]) -> list[str]:
        """Return the kinds of support that a sentence lacks, and the words that show it."""
        found = self._module("support").find_unsupported(
            entry["sentence"], self._passages(entry), entry["question"], self._index
        )
        return [" ".join([one.lacks, *one.missing]) for one in found]

    def measure(self, entry: dict[str, Any]) -> dict[str, float]:
        """Return, for each kind, how much support a sentence lacks."""
        check = self._module("support").Check(self._passages(entry), entry["question"], self._index)
        for claim in self._module("claims").read_claims(entry["sentence"]):
            if lacks := check.measure(claim):
                kinds = (one.name for one in fields(lacks) if one.name != "missing")
                return {kind: getattr(lacks, kind) for kind in kinds}
        return {}

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._server.__name__}.chat.{name}")

    def _passages(self, entry: dict[str, Any]) -> Any:
        hits = [self._hit(number, one) for number, one in enumerate(entry["passages"])]
        return self._module("answer").number_passages(hits)

    def _hit(self, number: int, passage: dict[str, str]) -> Any:
        results = importlib.import_module(f"{self._server.__name__}.retrieval.results")
        records = importlib.import_module(f"{self._server.__name__}.index.records")
        chunk = records.ChunkRecord(
            id=f"c{number}",
            document_id=f"d{number}",
            title=passage["title"],
            text=passage["text"],
            section=[],
            position={},
            source="docs",
            path=passage["path"],
            url="",
            tags=[],
            modified=None,
            also_at=[],
        )
        lanes = results.LaneScores(None, None), results.LaneRanks(None, None)
        return results.Hit(*astuple(chunk), 0.5, *lanes, {})


def main() -> None:
    """Print the share of sentences that are marked, by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", action="store_true", help="print those judged wrong")
    parser.add_argument("--no-vectors", action="store_true", help="build without an encoder")
    options = parser.parse_args()
    entries = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    provider = '[embedding]\nprovider = "none"\n\n' if options.no_vectors else ""
    every: Counter[tuple[bool, str]] = Counter()
    marked: Counter[tuple[bool, str]] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(entries, Path(scratch), provider)
        for entry in entries:
            lacks = checker.lacks(entry)
            for kind in ("all", entry["kind"]):
                every[entry["supported"], kind] += 1
                marked[entry["supported"], kind] += bool(lacks)
            if options.misses and bool(lacks) == entry["supported"]:
                print(entry["id"], entry["kind"], lacks, entry["sentence"], sep=" | ")
    print("marked of those written\n")
    row("sentence", "kind", "marked", "share")
    row(*["---"] * 4)
    for (is_supported, kind), count in sorted(every.items(), key=lambda one: (one[0][0], -one[1])):
        found = marked[is_supported, kind]
        name = "supported" if is_supported else "unsupported"
        row(name, kind, f"{found} of {count}", f"{found / count:.3f}")


if __name__ == "__main__":
    main()
