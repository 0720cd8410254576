"""Are questions in other languages recognised? `python benchmarks/foreign.py FOLDER ...`.

The first FOLDER (BEIR's layout) is built with `[search.languages]`, in the language at the end of
its name. It is asked the questions of every FOLDER, and the English ones of developers.jsonl and
asked_*.jsonl. A row has the number of questions that got the notice about another language.
"""

import argparse
import json
import tempfile
from pathlib import Path

from common import build, language_of, load_server, machine, make_project, read_collection, row

STAGE = "[search.languages]"


def main() -> None:
    """Print a row for the questions of each collection."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("?")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    folders = parser.parse_args().folders
    asked = {folder.name: [*read_collection(folder).queries.values()] for folder in folders}
    here = Path(__file__).parent
    for file in (*sorted(here.glob("asked_*.jsonl")), here / "developers.jsonl"):
        entries = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        asked[file.name] = [entry["query"] for entry in entries]
    with tempfile.TemporaryDirectory() as work:
        corpus = json.dumps(str((folders[0] / "corpus.jsonl").resolve()))
        source = f'type = "records"\npath = {corpus}\nid = "_id"'
        language = language_of(folders[0])
        project = make_project(Path(work) / "foreign", source, STAGE, language=language)
        build(project)
        search = load_server(project, "foreign").search_hybrid
        print(machine())
        row(f"asked of {folders[0].name}", "questions", "told to be in another language")
        row(*["---"] * 3)
        for name, questions in asked.items():
            told = sum("languages" in search(text[:2_000], 1).stages for text in questions)
            row(name, len(questions), told)


if __name__ == "__main__":
    main()
