"""Compares strategies and sizes of chunks: `python benchmarks/chunking.py FOLDER`.

FOLDER contains the data of "Evaluating Chunking Strategies for Retrieval" (Smith and Troynikov,
Chroma 2024): `raw/corpora/*.md`, and `raw/questions_df.csv`, whose questions name the spans of
their corpus that answer them. Each strategy is built as a project and searched through its server.
The five best chunks are compared with the spans, character by character. Recall is the share of the
spans that is in a chunk, precision the share of the chunks that is in a span, and IoU the size of
their intersection divided by that of their union; repeated text in chunks counts repeatedly. The
figures are means over questions.

Windows are the same texts, cut at white space after a fixed number of characters. The strategy
"parent" finds pieces of a third of the size; its parents, which have at most the full size, are
compared.

With `--names FOLDER`, the functions and methods in the Python files of a folder are searched for by
name. A name counts if the first result contains its definition. Rows are
strategies, and splitting as plain text.
"""

import argparse
import ast
import csv
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import build, load_server, machine, make_project
from numpy.typing import NDArray

SIZES = (400, 800, 1200)
STRATEGIES = ("windows", "headings", "recursive", "sentences", "parent")
DEPTH = 5
NAMES = 100


class Question(NamedTuple):
    """A question, and the place of the answer in its corpus."""

    text: str
    corpus: str
    spans: list[tuple[int, int]]


Found = list[tuple[str, int, int]]
"""Corpus, start and end of each passage found, best first."""


def read_questions(folder: Path) -> list[Question]:
    """Read the questions of the collection."""
    with (folder / "raw" / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        return [
            Question(
                row["question"],
                row["corpus_id"],
                [(r["start_index"], r["end_index"]) for r in json.loads(row["references"])],
            )
            for row in csv.DictReader(file)
        ]


def cut_windows(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Yield windows of at most `size` characters, which end at white space if there is any."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = space + 1 if space > start else end
        yield start, end
        start = end


def write_windows(corpora: Path, file: Path, size: int) -> None:
    """Write a table with one record per window; the record's id is the window's place."""
    with file.open("w", encoding="utf-8") as out:
        for path in sorted(corpora.glob("*.md")):
            text = path.read_text(encoding="utf-8")
            for start, end in cut_windows(text, size):
                record = {"id": f"{path.stem}:{start}:{end}", "text": text[start:end]}
                out.write(json.dumps(record) + "\n")


def find(server: Any, strategy: str, question: str) -> Found:
    """Return the best passages that a server with one strategy finds."""
    found = []
    for hit in server.search_hybrid(question, DEPTH).hits:
        if strategy == "windows":
            corpus, start, end = hit.document_id.split(":")
            found.append((corpus, int(start), int(end)))
            continue
        position = hit.position
        start = position.get("parent_start", position["start"])
        end = position.get("parent_end", position["end"])
        found.append((Path(hit.path).stem, start, end))
    return list(dict.fromkeys(found))


def measure(questions: Iterable[Question], server: Any, strategy: str) -> NDArray[np.float64]:
    """Return mean recall, precision and IoU, and the mean length of the passages found."""
    rows = []
    for question in questions:
        found = find(server, strategy, question.text)
        relevant = {place for start, end in question.spans for place in range(start, end)}
        covered = {
            place
            for corpus, start, end in found
            if corpus == question.corpus
            for place in range(start, end)
        }
        both, length = len(relevant & covered), sum(end - start for _, start, end in found)
        union = len(relevant) + length - both
        rows.append((both / len(relevant), both / length, both / union, length / len(found)))
    means: NDArray[np.float64] = np.array(rows).mean(axis=0)
    return means


def compare(folder: Path, work: Path, strategies: list[str]) -> None:
    """Print a row for each strategy and size; windows also have the mean length of `headings`."""
    questions = read_questions(folder)
    corpora = (folder / "raw" / "corpora").resolve()
    print("| size | strategy | chunks | mean found | recall@5 | precision@5 | IoU@5 |")
    print("|---|---|---|---|---|---|---|")
    for size in SIZES:
        for strategy in strategies:
            length = measure_strategy(questions, corpora, work, strategy, size)
            if strategy == "headings":
                measure_strategy(questions, corpora, work, "windows", round(length))


def measure_strategy(
    questions: list[Question], corpora: Path, work: Path, strategy: str, size: int
) -> float:
    """Print a row; returns the mean length of the passages found."""
    name = f"{strategy}_{size}"
    chunking = f'strategy = "{strategy}"\nmax_chars = {size}'
    source = f'type = "folder"\npath = "{corpora}"\ninclude = ["*.md"]'
    if strategy == "windows":
        table = work / f"{name}.jsonl"
        write_windows(corpora, table, size)
        source, chunking = f'type = "records"\npath = "{table}"', 'strategy = "none"'
    elif strategy == "parent":
        chunking = f'strategy = "parent"\nmax_chars = {size // 3}\nparent_max_chars = {size}'
    project = make_project(work / name, source, f"[chunking]\n{chunking}\n")
    chunks = build(project).chunks
    recall, precision, iou, length = measure(questions, load_server(project, name), strategy)
    figures = f"{length:.0f} | {recall:.3f} | {precision:.3f} | {iou:.3f}"
    print(f"| {size} | {strategy} | {chunks} | {figures} |")
    sys.stdout.flush()
    return float(length)


def read_names(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """Return the places (path and line) of qualified names, such as `Class.method`."""
    names: dict[str, list[tuple[str, int]]] = {}
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        scopes: list[ast.Module | ast.ClassDef] = [tree, *classes]
        for outer in scopes:
            for node in outer.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    prefix = f"{outer.name}." if isinstance(outer, ast.ClassDef) else ""
                    place = (path.relative_to(folder).as_posix(), node.lineno)
                    names.setdefault(prefix + node.name, []).append(place)
    return names


def compare_names(folder: Path, work: Path) -> None:
    """Print for each strategy the share of names whose definition is the first result."""
    unique = {name: places[0] for name, places in read_names(folder).items() if len(places) == 1}
    public = sorted(name for name in unique if not name.rpartition(".")[2].startswith("__"))
    asked = public[:: max(1, len(public) // NAMES)][:NAMES]
    print("\n| code read as | strategy | chunks | bare name first | qualified name first |")
    print("|---|---|---|---|---|")
    texts = work / "texts"
    for path in folder.rglob("*.py"):
        copy = texts / path.relative_to(folder).with_suffix(".py.kt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    for label, root, strategy in (
        ("text", texts, "headings"),
        ("code", folder.resolve(), "headings"),
        ("code", folder.resolve(), "code"),
        ("code", folder.resolve(), "recursive"),
    ):
        source = f'type = "folder"\npath = "{root}"\ninclude = ["**/*.py", "**/*.kt"]'
        name = f"names_{label}_{strategy}"
        project = make_project(work / name, source, f'[chunking]\nstrategy = "{strategy}"\n')
        chunks = build(project).chunks
        server = load_server(project, name)
        figures = []
        for qualified in (False, True):
            right = 0
            for full in asked:
                query = full if qualified else full.rpartition(".")[2]
                hits = server.search_hybrid(query, 1).hits
                right += bool(hits) and is_definition(hits[0], unique[full], query)
            figures.append(f"{right / len(asked):.2f}")
        print(f"| {label} | {strategy} | {chunks} | " + " | ".join(figures) + " |")
        sys.stdout.flush()


def is_definition(chunk: Any, place: tuple[str, int], query: str) -> bool:
    """Return whether a chunk has the line of a definition, or of another of the same name."""
    path, line = place
    position = chunk.position
    is_there = position["line_start"] <= line <= position["line_end"]
    name = query.rpartition(".")[2]
    is_same = "." not in query and f"def {name}(" in chunk.text
    return is_same or (is_there and chunk.path.removesuffix(".kt") == path)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    parser.add_argument("--names", type=Path, metavar="FOLDER")
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES))
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        if options.folder:
            compare(options.folder, Path(work), options.strategies)
        if options.names:
            compare_names(options.names, Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
