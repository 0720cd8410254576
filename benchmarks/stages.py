"""Measures the effect of each optional stage: `python benchmarks/stages.py [FOLDER ...]`.

Every collection is built once, and searched through servers with one stage each, with default
values. Collections are the examples of this repository, three corpora made by a seeded generator
(see `stages_corpora`), and folders in BEIR's layout. Hits are judged by document.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from common import Search, build, load_server, machine, make_project, read_collection
from stages_corpora import REFERENCE_DATE, make_all

from foundry.evaluation.questions import read_questions
from foundry.runtime.evaluation.metrics import measure, recall

STAGES = {
    "off": "",
    "adaptive_weights": "[search.adaptive_weights]",
    "anchors": "[search.anchors]",
    "recency, tiers": "[search.recency]",
    "recency, decay": '[search.recency]\nkind = "decay"',
    "links": "[search.links]",
    "links, 10 seeds": "[search.links]\nseeds = 10",
    "expansion": "[search.expansion]",
    "heuristics": "[search.heuristics]",
}
EXAMPLES = Path(__file__).parent.parent / "examples"
DEPTH = 50

Questions = list[tuple[str, dict[str, float]]]


def evaluate(search: Search, questions: Questions) -> tuple[float, float]:
    """Return mean nDCG@10 and mean recall@20."""
    figures = []
    for query, grades in questions:
        # Examples identify documents by path, and collections by id.
        ranked = dict.fromkeys(
            hit.document_id if hit.document_id in grades else hit.path
            for hit in search(query, DEPTH).hits
        )
        figures.append((measure([*ranked], grades)["nDCG@10"], recall([*ranked], grades, 20)))
    means = np.mean(figures, axis=0)
    return float(means[0]), float(means[1])


def collections(work: Path, folders: list[Path]) -> list[tuple[str, str, Questions]]:
    """Return name, source and questions of each collection."""
    found: list[tuple[str, str, Questions]] = []
    for name in ("handbook", "robotics"):
        asked = read_questions(EXAMPLES / name / "questions.jsonl")
        questions = [(entry.query, dict(entry.relevant)) for entry in asked.questions]
        found.append((name, f'type = "folder"\npath = "{EXAMPLES / name / "sources"}"', questions))
    for made in make_all():
        source = f'type = "records"\ntext_format = "markdown"\npath = "{made.write(work)}"'
        relevant = [(query, dict.fromkeys(ids, 1.0)) for query, ids in made.questions]
        found.append((made.name, source, relevant))
    for folder in folders:
        read = read_collection(folder)
        source = f'type = "records"\npath = "{read.corpus.resolve()}"'
        judged = [(text, read.relevant[query]) for query, text in read.queries.items()]
        found.append((read.name, source, judged))
    return found


def main() -> int:
    """Print a row for each collection and stage whose figures differ from those without a stage."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    os.environ["REFERENCE_DATE"] = REFERENCE_DATE
    print(machine())
    print("| collection | questions | " + " | ".join(STAGES) + " |")
    print("|---|---|" + "---|" * len(STAGES))
    with tempfile.TemporaryDirectory() as work:
        for name, source, questions in collections(Path(work), folders):
            # The index is built with the data for query expansion, which the other stages ignore.
            project = make_project(Path(work) / name, source, "\n[search.expansion]\n")
            build(project)
            make_project(project, source)
            cells = []
            for number, options in enumerate(STAGES.values()):
                server = load_server(project, f"stage_{name}_{number}", options)
                figures = evaluate(server.search_hybrid, questions)
                cells.append(f"{figures[0]:.4f}, {figures[1]:.4f}")
            print(f"| {name} | {len(questions)} | " + " | ".join(cells) + " |")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
