"""What stages that leave results out change: `python benchmarks/choosing.py`.

Three questions, on corpora made by a seeded generator and on the examples of this repository:

- near-duplicates: every subject has three notes, each of them in five copies with small changes;
  how many of the three notes are among the five best results?
- a cap per document: one manual speaks of every subject in many sections, and four small documents
  speak of one subject each; how many of the five are among the ten best results?
- a minimum of the semantic score: how many questions that another example answers get no result,
  and how many questions of the example's own keep one of their documents?

The median time of a search (of the processor) is printed beside each.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np
from common import Search, build, load_server, machine, make_project
from stages_corpora import Made

from foundry.evaluation.questions import read_questions

EXAMPLES = Path(__file__).parent.parent / "examples"
SUBJECTS = (
    "pump seal valve rotor gasket filter manifold bearing coupling sensor relay breaker fuse belt"
    " roller winch hoist brake clutch gearbox turbine boiler burner chimney hatch ladder railing"
).split()
WORDS = (
    "inspect replace clean adjust lubricate tighten drain refill label heat dust damp wear noise"
    " shift foreman card store bench spare oil grease paint thread screw nut washer spring handle"
    " weekly monthly yearly before after during morning evening careful slow quick steady dry cold"
).split()
MINIMUMS = (0.2, 0.3, 0.4, 0.5, 0.6)
COPIES, NOTES, SMALL = 5, 3, 4


def make_copies(random: Random) -> Made:
    """Notes in copies; the questions' answers are the first copies."""
    rows, questions = [], []
    for subject in SUBJECTS:
        answers = []
        for note in range(NOTES):
            words = [f"The {subject}:", *random.choices(WORDS, k=80)]
            words[10::20] = [subject] * len(words[10::20])
            answers.append(f"{subject}-{note}-0")
            for copy in range(COPIES):
                edited = list(words)
                for place in random.sample(range(2, len(words)), 2 * bool(copy)):
                    edited[place] = random.choice(WORDS)
                rows.append(_row(f"{subject}-{note}-{copy}", f"Note on {subject}", edited))
        questions.append((f"what is known of the {subject}", answers))
    return Made("copies", rows, questions)


def make_manual(random: Random) -> Made:
    """A manual of many sections and small documents; the questions' answers are all of these."""
    rows, questions, sections = [], [], []
    for subject in SUBJECTS:
        for number in range(12):
            text = " ".join([f"The {subject}", *random.choices(WORDS, k=50), subject])
            sections.append(f"## The {subject}, part {number + 1}\n\n{text}.\n")
        answers = ["manual"]
        for number in range(SMALL):
            words = [*random.choices(WORDS, k=40), "the", subject, *random.choices(WORDS, k=40)]
            rows.append(_row(f"{subject}-{number}", f"Report {number}", words))
            answers.append(f"{subject}-{number}")
        questions.append((f"the {subject}", answers))
    rows.append({"id": "manual", "title": "Manual", "text": "# Manual\n\n" + "\n".join(sections)})
    return Made("manual", rows, questions)


def _row(name: str, title: str, words: Sequence[str]) -> dict[str, Any]:
    return {"id": name, "title": title, "text": f"# {title}\n\n{' '.join(words)}."}


def found_share(
    search: Search,
    questions: Sequence[tuple[str, list[str]]],
    depth: int,
    group: Callable[[str], str],
) -> str:
    """The mean share of the wanted groups of documents among the `depth` best results."""
    shares, times = [], []
    for query, answers in questions:
        begun = time.process_time()
        hits = search(query, depth).hits
        times.append(time.process_time() - begun)
        groups = {group(hit.document_id) for hit in hits}
        wanted = {group(name) for name in answers}
        shares.append(len(wanted & groups) / len(wanted))
    return f"{np.mean(shares):.3f} ({median(times) * 1000:.1f} ms)"


def compare(work: Path, made: Made, stage: str, depth: int, group: Callable[[str], str]) -> None:
    """Print a row: without the stage, with it."""
    source = f'type = "records"\ntext_format = "markdown"\npath = "{made.write(work)}"'
    # Copies that the build would leave out are what the stage is for.
    project = make_project(work / made.name, source, '[build]\nduplicates = "keep"\n')
    build(project)
    cells = []
    for number, options in enumerate(("", stage)):
        server = load_server(project, f"{made.name}_{number}", options)
        cells.append(found_share(server.search_hybrid, made.questions, depth, group))
    print(f"| {made.name} | {len(made.questions)} | {' | '.join(cells)} |")


def compare_minimums(work: Path) -> None:
    """Print a row for each minimum: empty answers to foreign questions, own answers kept."""
    names = ("handbook", "robotics")
    asked = {name: read_questions(EXAMPLES / name / "questions.jsonl").questions for name in names}
    print("\n| semantic minimum | foreign questions without a result | own questions answered |")
    print("|---|---|---|")
    projects = {}
    for name in names:
        source = f'type = "folder"\npath = "{EXAMPLES / name / "sources"}"'
        projects[name] = make_project(work / name, source)
        build(projects[name])
    for number, minimum in enumerate((None, *MINIMUMS)):
        empty, kept = [], []
        for own, foreign in (names, names[::-1]):
            options = f"[search.minimum_score]\nsemantic = {minimum}" if minimum else ""
            server = load_server(projects[own], f"{own}_minimum_{number}", options)
            empty += [not server.search_hybrid(e.query).hits for e in asked[foreign]]
            kept += [
                any(
                    name in entry.relevant
                    for hit in server.search_hybrid(entry.query).hits
                    for name in (hit.path, hit.document_id, hit.id)
                )
                for entry in asked[own]
            ]
        print(f"| {minimum or 'none'} | {np.mean(empty):.2f} | {np.mean(kept):.2f} |")


def main() -> int:
    """Print the tables."""
    print(machine())
    print("\n| corpus | questions | without | with the stage |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        copies, manual = make_copies(Random("copies")), make_manual(Random("manual"))
        compare(work, copies, "[search.near_duplicates]", 5, lambda name: name.rpartition("-")[0])
        compare(work, manual, "[search.document_cap]\nhits = 2", 10, lambda name: name)
        compare_minimums(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
