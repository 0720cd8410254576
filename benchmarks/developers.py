"""Measures developers' questions about documentation with several versions of a page.

`python benchmarks/developers.py DOCS` builds the folder `docs` of FastMCP's documentation (MDX),
and asks the 60 questions of developers.jsonl, which were written from the pages before any search.
A question is answered by one of its pages, or by an older version of that page below `v2/` or
`v3/`. [search.versions] has the folders that `foundry init` recognises; `--plain` omits the table.
The result has the share of questions answered by the first result and by the first three, nDCG@10,
and the share of the first five results that repeat a page in another version.
"""

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from common import Search, build, load_server, machine, make_project, row

from foundry.pipeline import survey

QUESTIONS = Path(__file__).parent / "developers.jsonl"
OLDER = ("v2/", "v3/")
MODES = ("keyword", "semantic", "hybrid")
RESAMPLES = 2_000


def page_of(path: str) -> str:
    """Return the page of which a path is a version."""
    return path[3:] if path.startswith(OLDER) else path


def judge(search: Search, mode: str, question: dict[str, Any]) -> tuple[float, float, float, float]:
    """Return hit@1, hit@3 and nDCG@10 by page, and the share of repeats in the first five."""
    hits = search(question["query"], 20, mode=mode).hits
    pages = list(dict.fromkeys(page_of(hit.path) for hit in hits))[:10]
    paths = list(dict.fromkeys(hit.path for hit in hits))[:5]
    ranks = [rank for rank, page in enumerate(pages) if page in question["relevant"]]
    gain = sum(1 / math.log2(rank + 2) for rank in ranks)
    best = sum(1 / math.log2(rank + 2) for rank in range(len(question["relevant"])))
    repeated = len(paths) - len({page_of(path) for path in paths})
    first = ranks[0] if ranks else math.inf
    return float(first < 1), float(first < 3), gain / best, repeated / max(1, len(paths))


def main() -> None:
    """Print the table, then the questions that no first result of a hybrid search answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("--search", default="", help="further lines of [search]")
    parser.add_argument("--plain", action="store_true", help="without [search.versions]")
    arguments = parser.parse_args()
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    if not any((arguments.docs / page).exists() for page in questions[0]["relevant"]):
        parser.error(f"{arguments.docs} does not have {questions[0]['relevant'][0]}")
    with tempfile.TemporaryDirectory() as work:
        source = f'type = "folder"\npath = "{arguments.docs.resolve()}"'
        root = Path(work) / "docs"
        versions = [] if arguments.plain else survey(root, str(arguments.docs)).versions
        extra = f"\n[search.versions]\nfolders = {json.dumps(versions)}\n" if versions else ""
        project = make_project(root, source, extra)
        result = build(project)
        search = load_server(project, "developers", arguments.search).search_hybrid
        figures = {
            mode: np.array([judge(search, mode, question) for question in questions])
            for mode in MODES
        }
        print(machine())
        print(f"{result.documents} documents, {result.chunks} chunks, {len(questions)} questions\n")
        row("mode", "hit@1", "hit@3", "nDCG@10", "repeated pages in 5", "nDCG - keyword's (95 %)")
        row(*["---"] * 6)
        draws = np.random.default_rng(0).integers(0, len(questions), (RESAMPLES, len(questions)))
        for mode, values in figures.items():
            gains = (values - figures["keyword"])[draws, 2].mean(axis=1)
            low, high = np.quantile(gains, [0.025, 0.975])
            means = (f"{mean:.3f}" for mean in values.mean(axis=0))
            row(mode, *means, f"{gains.mean():+.3f} ({low:+.3f} to {high:+.3f})")
        print("\nNot first:")
        for question, (first, third, *_) in zip(questions, figures["hybrid"], strict=True):
            if not first:
                found = [hit.path for hit in search(question["query"], 3).hits]
                mark = "among three" if third else "missed"
                print(f"  {mark}: {question['query']}: {', '.join(found)}")


if __name__ == "__main__":
    main()
