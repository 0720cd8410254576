"""Measures whether unsupported sentences are marked: `python benchmarks/supported.py [--misses]`.

With `--no-vectors`, the examples are built without an encoder.

`supported.jsonl` has sentences like those of a language model, each written from a passage of an
example, before its half was evaluated: some are supported by the passage, some are not. Rules and
thresholds were chosen with the development half (handbook). Of the other half (robotics), only
figures were looked at, one of which decided a threshold.

Each example is built with one chunk per document, and a search finds six of them for each question.
The exported server's own check judges the sentence with a citation of its passage. Further cases
are added automatically: each sentence of the passage itself (verbatim), paraphrases without a
citation, and paraphrases that cite the last passage instead.
"""

import argparse
import importlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from common import build, load_server, make_project, row

EXAMPLES = Path(__file__).parent.parent / "examples"
SENTENCES = Path(__file__).with_suffix(".jsonl")
CONFIGURATION = '[chunking]\nstrategy = "none"\n\n[server]\nlanguage_model = true\n'
PASSAGES = 6


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence with citations, and its kind, which is supported or not."""

    kind: str
    is_supported: bool
    text: str
    cited: list[int]


class Example:
    """The server of an example, whose chat may use a language model."""

    def __init__(self, name: str, folder: Path, *, has_vectors: bool = True) -> None:
        """Build the index and render the server."""
        source = f'type = "folder"\npath = {json.dumps(str(EXAMPLES / name / "sources"))}'
        provider = "" if has_vectors else '[embedding]\nprovider = "none"\n\n'
        project = make_project(folder / name, source, provider + CONFIGURATION)
        build(project)
        self._server: Any = load_server(project, f"supported_{name}")
        self._index = self._server.load(project / ".foundry" / "index")

    def module(self, name: str) -> ModuleType:
        """Return a module of the server's chat."""
        return importlib.import_module(f"{self._server.__name__}.chat.{name}")

    def passages(self, question: str) -> Any:
        """Return the passages that an answer to a question may cite."""
        hits = self._server.search_hybrid(question, PASSAGES).hits
        return self.module("answer").number_passages(hits)

    def lacks(self, case: Case, question: str, passages: Any) -> list[str]:
        """Return the kinds of support that a sentence lacks."""
        citations = "".join(f"[{number}]" for number in case.cited)
        found = self.module("support").find_unsupported(
            f"{case.text} {citations}", passages, question, self._index
        )
        return [one.lacks for one in found]


def cases_of(entry: dict[str, Any], example: Example, passages: Any) -> Iterator[Case]:
    """Yield the sentences of a line, and those made from its passage."""
    fragments, numbers = entry["cites"], [passage.source.number for passage in passages]
    cited = [p.source.number for p in passages if any(part in p.text for part in fragments)]
    if len(cited) < len(fragments):
        raise SystemExit(f"{entry['question']}: its passage is not found any more")
    for kind, texts in entry["supported"].items():
        yield from (Case(kind, True, text, cited) for text in texts)
    for kind, texts in entry["unsupported"].items():
        yield from (Case(kind, False, text, cited) for text in texts)
    wrong = [number for number in numbers if number not in cited][-1:]
    for text in entry["supported"].get("paraphrase", []):
        yield Case("paraphrase, uncited", True, text, [])
        yield Case("wrong citation", False, text, wrong)
    for passage in passages:
        if passage.source.number in cited:
            for sentence in example.module("quoting.units").sentences(passage.text):
                yield Case("verbatim", True, sentence, cited)


def main() -> None:
    """Print, by half, how many sentences of each kind are marked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--misses", action="store_true", help="print those of the development half as well"
    )
    parser.add_argument("--no-vectors", action="store_true", help="build without an encoder")
    options = parser.parse_args()
    entries = [json.loads(line) for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    marked: dict[tuple[bool, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as scratch:
        examples = {
            name: Example(name, Path(scratch), has_vectors=not options.no_vectors)
            for name in sorted({entry["corpus"] for entry in entries})
        }
        for entry in entries:
            example, half = examples[entry["corpus"]], entry["half"]
            passages = example.passages(entry["question"])
            for case in cases_of(entry, example, passages):
                lacks = example.lacks(case, entry["question"], passages)
                marked[case.is_supported, case.kind][half].append(bool(lacks))
                if options.misses and half == "development" and bool(lacks) == case.is_supported:
                    print(case.kind, lacks, case.text, sep=" | ")
    print("marked of those written\n")
    row("sentence", "kind", "development", "held-out")
    row(*["---"] * 4)
    for (is_supported, kind), halves in sorted(marked.items()):
        counts = [f"{sum(found)} of {len(found)}" for found in map(halves.get, HALVES) if found]
        row("supported" if is_supported else "unsupported", kind, *counts)


HALVES = ("development", "held-out")

if __name__ == "__main__":
    main()
