"""Measures answers to what people ask: `python benchmarks/asked.py DATA [NAME ...]`.

DATA contains docs_srd51 (rules of a game) and docs_cpp (documentation of Microsoft's C++). Both are
built completely with the default configuration, and answer, over HTTP, the 40 questions each in
asked_srd51.jsonl and asked_cpp.jsonl. The questions were written from the documents, before any
search. They include typos, bare names, definitions, rows of tables, and answers of two sentences.
Each has

- `query`, and `after`: the previous question of the conversation, if it is a follow-up;
- `relevant`: the documents that answer it, some of which were added after a search found them;
- `answer`: phrases that an answer must contain. `|` separates alternatives, and ` ... ` stands for
  at most 80 characters. Punctuation and case do not count.

Of each 40 questions, eleven are about the same subjects, but no document answers them.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from common import build, load_server, machine, make_project, row
from starlette.testclient import TestClient

NAMES = ("srd51", "cpp")
MATCHES = ("strong", "weak", "none")
GAP = r"\b.{0,80}?\b"
HEDGED = ("The documents may not answer", "Nothing ", "The documents do not mention")
POINTER = "The closest passages are:"
UNLIMITED = "[server]\nchat_requests_per_minute = 0\n"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the previous one, and the phrases of its answer."""

    query: str
    relevant: list[str]
    answer: list[str]
    after: str = ""

    def is_answered_by(self, texts: Iterable[str]) -> bool:
        """Return whether each phrase is in one of the texts."""
        said = [plain(text) for text in texts]
        patterns = [re.compile(pattern_of(phrase)) for phrase in self.answer]
        return all(any(pattern.search(text) for text in said) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the interfaces show for a question: a yes or no for each aspect, and the match."""

    match: str
    first_document: bool
    first_passage: bool
    among_three: bool
    snippet: bool
    said: bool
    hedged: bool


def plain(text: str) -> str:
    """Return a text's words in lower case, separated by spaces."""
    return " ".join(re.findall(r"\w+", text.lower()))


def pattern_of(phrase: str) -> str:
    """Return a pattern for texts as returned by `plain`."""
    return "|".join(
        rf"\b{GAP.join(re.escape(plain(part)) for part in choice.split(' ... '))}\b"
        for choice in phrase.split("|")
    )


def read(name: str, root: Path) -> list[Question]:
    """Read the questions of a collection; check that every relevant file contains the answer."""
    file = Path(__file__).with_name(f"asked_{name}.jsonl")
    questions = [Question(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    for question in questions:
        for path in question.relevant:
            text = (root / path).read_text(encoding="utf-8-sig")
            if not question.is_answered_by([text]):
                raise SystemExit(f"{root / path} does not have {question.answer}")
    return questions


def chat(
    client: TestClient, messages: list[dict[str, Any]]
) -> tuple[dict[str, Any], str, list[str]]:
    """Return an answer's sources, its text, and the ids of the cited passages."""
    response = client.post("/chat", json={"messages": messages})
    response.raise_for_status()
    events = [
        json.loads(line.removeprefix("data: "))
        for line in response.text.splitlines()
        if line.startswith("data: ")
    ]
    text = "".join(event.get("text", "") for event in events)
    return events[0], text, [passage["id"] for passage in events[-1]["cited"]]


def ask(client: TestClient, question: Question) -> Shown:
    """Ask in a chat, then search for the query that the chat searched for."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question.query}]
    if question.after:
        before = {"role": "user", "content": question.after}
        _, text, cited = chat(client, [before])
        messages = [before, {"role": "assistant", "content": text, "cited": cited}, *messages]
    sources, text, _ = chat(client, messages)
    response = client.post("/search", json={"query": sources["query"] or question.query})
    response.raise_for_status()
    found = response.json()
    hits = [hit for hit in found["results"][:3] if hit["path"] in question.relevant]
    first = found["results"][:1]
    return Shown(
        match=found["match"],
        first_document=bool(first) and first[0]["path"] in question.relevant,
        first_passage=first == hits[:1]
        and question.is_answered_by(hit["text"] for hit in hits[:1]),
        among_three=question.is_answered_by(hit["text"] for hit in hits),
        snippet=question.is_answered_by(hit["snippet"] for hit in hits),
        said=question.is_answered_by([text]),
        hedged=text.startswith((*HEDGED, POINTER)),
    )


def report(name: str, questions: list[Question], shown: list[Shown]) -> None:
    """Print a row of the table."""
    there = [one for question, one in zip(questions, shown, strict=True) if question.relevant]
    absent = [one for question, one in zip(questions, shown, strict=True) if not question.relevant]

    def count(which: list[Shown], *fields: str) -> str:
        return f"{sum(all(getattr(one, field) for field in fields) for one in which)}"

    def matches(which: list[Shown]) -> str:
        return "/".join(str(sum(one.match == match for one in which)) for match in MATCHES)

    row(
        name,
        len(there),
        count(there, "first_document"),
        f"{count(there, 'first_passage')}, {count(there, 'among_three')}",
        count(there, "snippet"),
        count(there, "said"),
        count(there, "hedged"),
        matches(there),
        len(absent),
        count(absent, "hedged"),
        matches(absent),
    )


def main() -> None:
    """Print the table, and the shortcomings for each question."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--projects", type=Path, help="where to keep what is built, and to find it")
    arguments = parser.parse_args()
    names = arguments.names or [*NAMES]
    if unknown := set(names) - set(NAMES):
        parser.error(f"NAME must be of {', '.join(NAMES)}, not {', '.join(sorted(unknown))}")
    asked = {name: read(name, arguments.data / f"docs_{name}") for name in names}
    misses = []
    print(machine())
    row(
        "collection",
        "answered there",
        "document first",
        "passage first, in 3",
        "in a snippet of 3",
        "said by the chat",
        "hedged or pointer",
        "strong/weak/none",
        "not answered there",
        "hedged or pointer",
        "strong/weak/none",
    )
    row(*["---"] * 11)
    with tempfile.TemporaryDirectory() as work:
        for name, questions in asked.items():
            root = (arguments.data / f"docs_{name}").resolve()
            source = f'type = "folder"\npath = {json.dumps(str(root))}'
            project = make_project((arguments.projects or Path(work)) / name, source, UNLIMITED)
            build(project)
            load_server(project, f"asked_{name}")
            app = import_module(f"asked_{name}.app").create_app()
            with TestClient(app, base_url="http://127.0.0.1:8000") as client:
                shown = [ask(client, question) for question in questions]
            report(name, questions, shown)
            misses += [(name, *pair) for pair in zip(questions, shown, strict=True)]
    print()
    for name, question, one in misses:
        names_of = ("first_document", "first_passage", "among_three", "snippet", "said")
        lacks = [field for field in names_of if question.relevant and not getattr(one, field)]
        lacks += ["hedged"] if one.hedged != (not question.relevant) else []
        if lacks:
            kind = "there" if question.relevant else "not there"
            print(f"- {name}, {kind}, {one.match}: {question.query}: {', '.join(lacks)}")


if __name__ == "__main__":
    main()
