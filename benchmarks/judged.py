"""Measures `match` for questions that it was not tuned with: `python benchmarks/judged.py CORPORA`.

CORPORA contains a folder for each corpus of the file `--questions` (by default `judged.jsonl`
beside this script); they are named below. Each is built as `foundry init` sets it up. Questions are
plain (in the documents' words), lay (in other words), near (on the subject, but answered nowhere)
or foreign (about something else).

Each row is for a kind and a corpus, the worst first. It has the shares of questions with a strong
match, with no match, and with an answer without a caution by a chat without a language model. Then
follow the MRR of the right document, the same without the stage `weights_by_match`, and how often
the document is the first, and among the first five.

- anki: github.com/ankitects/anki-manual, 91630ddc, `src`
- beekeeping: github.com/rBeekeeping/wiki, 683c8817
- openaps: github.com/openaps/docs, 30b2443b, `docs/docs` and `reference-design.md`

The author of the questions knew neither this code nor its thresholds. Questions with odd numbers
were used to set thresholds: `--open` selects these, and `--sealed` the others.

`documentations.jsonl` has 60 more questions, like those that people type into the search of a
documentation, written from the documents before any search:

- restic: github.com/restic/restic, a80be147, `doc`
- handbook: github.com/18F/handbook, 1e495563, `pages`
- nushell: github.com/nushell/nushell.github.io, 72e298f7, `book` and `cookbook`
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from common import build, load_server, machine, row

from foundry import pipeline
from foundry.inspection.surveying import survey

HEDGES = (
    *("The documents may not answer", "The documents do not mention", "The closest"),
    "Nothing was found",
)
# For each kind of query: which share to sort by, and the direction (1: the highest is the worst).
WORST = {
    "plain": ("strong", -1),
    "lay": ("none", 1),
    "near": ("plainly", 1),
    "foreign": ("strong", 1),
}


class Asked(NamedTuple):
    """The results of a question: match, answered without a caution or not, and reciprocal ranks."""

    match: str
    is_plain: bool
    rank: float
    rank_of_fixed: float
    rank_of_document: float


def reciprocal_rank(response: Any, path: str | None) -> float:
    """Return the reciprocal rank of a document in a response; 0 if it is not there."""
    paths = list(dict.fromkeys(hit.path for hit in response.hits))
    return 1 / (paths.index(path) + 1) if path in paths else 0.0


def open_corpus(folder: Path, project: Path) -> tuple[Any, Any]:
    """Build a corpus as a new project; return its server, and one without `weights_by_match`."""
    project.mkdir(parents=True)
    file = pipeline.init(project, survey(project, str(folder)), folder.name, "", None)
    # The [export] table is removed, because each of the two servers is rendered under its own name.
    written = file.read_text(encoding="utf-8").partition("[export]")[0]
    file.write_text(written, encoding="utf-8")
    build(project)
    server = load_server(project, f"judged_{folder.name}")
    file.write_text(written.replace("[search.weights_by_match]", ""), encoding="utf-8")
    return server, load_server(project, f"fixed_{folder.name}")


def ask(server: Any, fixed: Any, question: str, path: str | None) -> Asked:
    """Ask a server's search, its chat without a language model, and the search of `fixed`."""
    found = server.search_hybrid(question)
    extracts = import_module(f"{server.__name__}.chat.extracts")
    conversation = import_module(f"{server.__name__}.chat.conversation")

    async def search(query: str, top_k: int, **options: Any) -> Any:
        return server.search_hybrid(query, top_k, **options)

    async def answer() -> list[Any]:
        asked = conversation.Conversation([conversation.Turn("user", question)])
        return [event async for event in extracts.Chat(search).answer(asked)]

    said = "".join(getattr(event, "text", "") for event in asyncio.run(answer()))
    return Asked(
        found.match,
        not any(hedge in said for hedge in HEDGES),
        reciprocal_rank(found, path),
        reciprocal_rank(fixed.search_hybrid(question), path),
        # With 100 passages, the document is found even if others have many passages.
        reciprocal_rank(server.search_hybrid(question, 100), path),
    )


def share(values: Sequence[bool]) -> float:
    """Return the share of true values."""
    return sum(values) / len(values)


def main() -> None:
    """Ask all questions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--questions", type=Path, default=Path(__file__).with_name("judged.jsonl"))
    parser.add_argument("--sealed", action="store_true")
    parser.add_argument("--open", action="store_true")
    options = parser.parse_args()
    found: dict[tuple[str, str], list[Asked]] = {}
    questions = [json.loads(line) for line in options.questions.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as temporary:
        for corpus in sorted({question["corpus"] for question in questions}):
            server, fixed = open_corpus(
                (options.corpora / corpus).resolve(), Path(temporary) / corpus
            )
            for question in (one for one in questions if one["corpus"] == corpus):
                is_sealed = int(question["id"].rpartition("-")[2]) % 2 == 0
                if (is_sealed or not options.sealed) and not (is_sealed and options.open):
                    asked = ask(server, fixed, question["question"], question["path"])
                    found.setdefault((question["kind"], corpus), []).append(asked)
    print(machine(), "\n")
    columns = ("MRR", "MRR without", "hit@1", "hit@5")
    row("kind", "corpus", "questions", "strong", "none", "plainly", *columns)
    row(*["---"] * 10)
    rows = []
    for (kind, corpus), answers in found.items():
        shares = {
            "strong": share([one.match == "strong" for one in answers]),
            "none": share([one.match == "none" for one in answers]),
            "plainly": share([one.is_plain for one in answers]),
        }
        ranks = [
            f"{sum(each) / len(answers):.3f}" if kind in ("plain", "lay") else ""
            for each in (
                [one.rank for one in answers],
                [one.rank_of_fixed for one in answers],
                [one.rank_of_document == 1 for one in answers],
                [one.rank_of_document >= 1 / 5 for one in answers],
            )
        ]
        name, sign = WORST[kind]
        cells = [kind, corpus, len(answers), *(f"{each:.3f}" for each in shares.values()), *ranks]
        rows.append((list(WORST).index(kind), -sign * shares[name], cells))
    for _, _, cells in sorted(rows):
        row(*cells)


if __name__ == "__main__":
    main()
